"""A small host on PostgreSQL whose views hang, fail, stream and write."""

import environ

env = environ.Env()

SECRET_KEY = "known-to-everyone"  # noqa: S105  (the host lives for one run)
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "tests.soak.host.urls"
WSGI_APPLICATION = "tests.soak.wsgi.application"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "sezzlee_mcp",
    "tests.soak.host",
]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
DATABASES = {
    "default": {
        **env.db_url_config(env.str("DATABASE_URL")),
        "ATOMIC_REQUESTS": True,
        "CONN_MAX_AGE": env.int("CONN_MAX_AGE", default=0),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"connect_timeout": 5},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}

DEADLINE_SECONDS = 1
SEZZLEE_MCP = {
    "EXPOSE_BY_DEFAULT": True,
    "DEADLINE_SECONDS": DEADLINE_SECONDS,
    "CALL_THREADS": 8,
    "BUDGET_BYTES": 65_536,
}
