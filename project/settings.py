"""The demo host's settings: a shop behind DRF, opened to agents by sezzlee_mcp. Values come from the environment."""

from pathlib import Path

import environ

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

DEBUG = env.bool("DEBUG", default=False)
# Known to everyone, as the demo's passwords and tokens are: set your own for anything but a look around.
SECRET_KEY = env.str("SECRET_KEY", default="demo-only-secret-key-that-everyone-may-read")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

ROOT_URLCONF = "project.urls"
WSGI_APPLICATION = "project.wsgi.application"
ASGI_APPLICATION = "project.asgi.application"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "rest_framework.authtoken",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "project.shop",
    "sezzlee_mcp",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASE_URL = env.str("DATABASE_URL", default="") or f"sqlite:///{BASE_DIR / 'demo.sqlite3'}"
DATABASES = {"default": env.db_url_config(DATABASE_URL)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A deferred transaction that turns to writing fails at once when another writes; an immediate one waits its turn.
    DATABASES["default"]["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "timeout": 20}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
FIXTURE_DIRS = [BASE_DIR / "fixtures"]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
# No collectstatic: whitenoise serves what the finders find, under every server.
WHITENOISE_USE_FINDERS = True

LOGIN_URL = "admin:login"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "project.shop.authentication.BearerAuthentication",
        "rest_framework.authentication.BasicAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_FILTER_BACKENDS": [
        "django_filters.rest_framework.DjangoFilterBackend",
        "project.shop.filters.WordFilter",
        "rest_framework.filters.OrderingFilter",
    ],
    "DEFAULT_PAGINATION_CLASS": "project.shop.pagination.ShopPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Demo shop",
    "DESCRIPTION": "Customers, products, orders and notes of a small shop.",
    "VERSION": "1.0.0",
    "SCHEMA_PATH_PREFIX": "/api",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

SEZZLEE_MCP = {
    "RULES": [
        {"route": "/api/**", "decision": "include"},
        # An agent has its token already; it need not see how to trade a password for one.
        {"route": "/api/token/", "method": "POST", "decision": "exclude"},
    ],
    "INSTRUCTIONS": "This is a small shop: customers, products, orders, notes. Prices are in euros.",
    "RELEASE": env.str("RELEASE", default=""),
}
if env.bool("MCP_ANONYMOUS", default=False):
    # The MCP conformance suite sends no credentials. Each operation still asks for what it always asks for.
    SEZZLEE_MCP["PERMISSION_CLASSES"] = ["rest_framework.permissions.AllowAny"]

OAUTH = env.bool("OAUTH", default=False)
if OAUTH:
    # Agents sign in here: django-oauth-toolkit is the authorization server, and reads its tokens at the endpoint.
    INSTALLED_APPS += ["oauth2_provider"]
    LOGIN_URL = "login"
    OAUTH2_PROVIDER = {
        "SCOPES": {"shop": "Work in the shop in your name", "profile": "See who you are"},
        "DEFAULT_SCOPES": ["shop"],
        "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
        # Any client may register, as agents expect it; somebody still has to log in and agree.
        "DCR_ENABLED": True,
        "DCR_REGISTRATION_PERMISSION_CLASSES": ["oauth2_provider.dcr.AllowAllDCRPermission"],
        "ALLOW_LOCALHOST_LOOPBACK": True,
        "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
        "OAUTH2_GRANT_TYPES_SUPPORTED": ["authorization_code", "refresh_token"],
        "OAUTH2_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED": ["none", "client_secret_basic", "client_secret_post"],
        "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
        "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
        "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
        "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
        "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
        "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    }
    SEZZLEE_MCP |= {
        "AUTHENTICATION_CLASSES": [
            "oauth2_provider.contrib.rest_framework.OAuth2Authentication",
            *REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"],
        ],
        "AUTHORIZATION_SERVERS": [env.str("OAUTH_ISSUER", default="http://127.0.0.1:8000")],
        "REQUIRED_SCOPES": ["shop"],
        # The token was issued for the endpoint. The API does not know it, and need not.
        "IDENTITY": "user",
    }

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
    # A refused request is an ordinary answer of an API, not something to warn the operator of.
    "loggers": {"django.request": {"level": "ERROR"}},
}
