"""Which request headers no parameter sets (operations.md, "Parameters")."""

# In the spelling of ``folded``: what the call itself writes, what belongs to one connection (RFC 9110, 7.6.1), what
# says where a request came from and by which method it is meant.
_RESERVED = frozenset(
    {
        "accept",
        "accept-charset",
        "accept-encoding",
        "authorization",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "forwarded",
        "host",
        "http2-settings",
        "keep-alive",
        "max-forwards",
        "origin",
        "proxy",
        "proxy-authenticate",
        "proxy-connection",
        "referer",
        "te",
        "trailer",
        "transfer-encoding",
        "true-client-ip",
        "upgrade",
        "via",
        "x-client-ip",
        "x-http-method",
        "x-http-method-override",
        "x-method-override",
        "x-real-ip",
        "x-rewrite-url",
    }
)
# Families, some of which proxies set to say who the caller is: Remote-User, X-Forwarded-Email, X-Auth-Request-User.
_RESERVED_PREFIXES = ("mcp-", "remote-", "sec-", "x-auth-request-", "x-forwarded-", "x-original-", "x-remote-")


def folded(name: str) -> str:
    """The one spelling of all names that are one header to a WSGI application: it reads ``-`` and ``_`` alike."""
    return name.lower().replace("_", "-")


def is_reserved(name: str) -> bool:
    return folded(name) in _RESERVED or folded(name).startswith(_RESERVED_PREFIXES)
