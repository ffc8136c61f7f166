from django.contrib import admin
from django.urls import include, path, re_path

from tests.testapp import views

api = [
    path("items/<str:pk>/", views.ItemView.as_view()),
    path("items/<str:pk>/children/", views.ItemChildrenView.as_view()),
    path("items/<path:rest>/secret/", views.SecretView.as_view()),
    path("numbers/<int:pk>/", views.NumberView.as_view()),
    re_path(r"^regex/(?P<pk>[^/]+)/$", views.RegexItemView.as_view()),
    re_path(r"^regex/(?P<pk>[^/]+)/secret/$", views.SecretView.as_view()),
    path("files/<path:name>", views.FileView.as_view()),
    path("echo/", views.EchoView.as_view()),
    path("uploads/", views.UploadView.as_view()),
    path("tenants/", views.tenant_echo),
    path("boxes/", views.BoxView.as_view()),
    path("fail/<str:kind>/", views.fail),
    path("page/", views.page_of_error),
    path("stream/<int:thousands>/", views.stream),
    path("download/", views.download),
]

urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/", include(api)),
    path("admin/", admin.site.urls),
]
