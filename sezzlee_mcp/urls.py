"""The endpoint, with and without a slash: a redirect would lose the POST; and where to sign in for it."""

from django.urls import path

from sezzlee_mcp import conf, well_known_urls
from sezzlee_mcp.views import McpView

app_name = "sezzlee_mcp"

urlpatterns = [
    path(conf.path(), McpView.as_view(), name="endpoint"),
    path(f"{conf.path()}/", McpView.as_view()),
    *well_known_urls.urlpatterns,
]
