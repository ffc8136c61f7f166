from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from project.pages import landing

urlpatterns = [
    path("", landing, name="landing"),
    path("", include("sezzlee_mcp.urls")),
    path("api/", include("project.shop.urls")),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
    path("admin/", admin.site.urls),
]
if settings.OAUTH:
    urlpatterns.append(path("", include("project.oauth_urls")))
