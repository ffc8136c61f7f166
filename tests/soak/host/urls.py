from django.urls import include, path

from tests.soak.host import views

urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/me/", views.me),
    path("api/entries/", views.Entries.as_view()),
    path("api/entries/<str:key>/", views.entry),
    path("api/hanging-entries/", views.hang),
    path("api/failing-entries/", views.fail),
    path("api/streams/", views.stream),
]
