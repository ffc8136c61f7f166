from drf_spectacular.authentication import TokenScheme
from rest_framework.authentication import TokenAuthentication


class BearerAuthentication(TokenAuthentication):
    """DRF's tokens for clients that send them as ``Authorization: Bearer ...``."""

    keyword = "Bearer"


class BearerScheme(TokenScheme):
    """Another name in the document than that of TokenAuthentication, which stands beside it."""

    target_class = BearerAuthentication
    name = "bearerAuth"
    priority = 0
