"""The same routes below a language prefix."""

from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.urls import include, path

from tests.testapp.urls import api

urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("admin/", admin.site.urls),
    *i18n_patterns(path("api/", include(api))),
]
