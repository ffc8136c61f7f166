"""A tenant's URLconf: the same addresses, some with other views behind them."""

from django.contrib import admin
from django.urls import include, path

from tests.testapp import views

urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("admin/", admin.site.urls),
    path("api/items/<str:pk>/", views.SecretView.as_view()),
    path("api/numbers/<int:pk>/", views.NumberView.as_view()),
]
