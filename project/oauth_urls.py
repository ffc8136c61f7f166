"""Where agents sign in: what a client asks django-oauth-toolkit for, and the pages for its user."""

from django.contrib.auth.views import LoginView
from django.urls import include, path
from oauth2_provider import views

oauth = [
    path(
        ".well-known/oauth-authorization-server", views.OAuthServerMetadataView.as_view(), name="oauth-server-metadata"
    ),
    path("oauth/authorize/", views.AuthorizationView.as_view(), name="authorize"),
    path("oauth/token/", views.TokenView.as_view(), name="token"),
    path("oauth/revoke/", views.RevokeTokenView.as_view(), name="revoke-token"),
    path("oauth/register/", views.DynamicClientRegistrationView.as_view(), name="dcr-register"),
    path(
        "oauth/register/<str:client_id>/",
        views.DynamicClientRegistrationManagementView.as_view(),
        name="dcr-register-management",
    ),
]

urlpatterns = [
    path("login/", LoginView.as_view(template_name="login.html"), name="login"),
    path("", include((oauth, "oauth2_provider"))),
]
