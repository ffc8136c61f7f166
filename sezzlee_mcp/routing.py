"""The routes of a URLconf, read once for the sync and again at every dispatch, so that both speak of the same thing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import LocalePrefixPattern
from django.utils import translation


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """
    One URL pattern with those that lead to it.

    ``route`` is its text without a language prefix, ``path_regex`` the text that drf-spectacular's
    enumerator gives it. ``patterns`` lead from the root to the view.
    """

    route: str
    path_regex: str
    callback: Callable[..., Any]
    patterns: tuple[Any, ...]

    @property
    def is_localized(self) -> bool:
        return any(isinstance(pattern, LocalePrefixPattern) for pattern in self.patterns)

    @property
    def language_prefix(self) -> str:
        """How the route's address begins in the language that is active; empty outside ``i18n_patterns``."""
        prefixes = (each.language_prefix for each in self.patterns if isinstance(each, LocalePrefixPattern))
        return next(prefixes, "")

    def captures(self, path_info: str) -> tuple[str, ...] | None:
        """
        The texts that the path's variables caught, in the order of their places; None when the path does not match.

        Each value is put back through its converter: ``01`` caught by ``<int:pk>`` comes back as ``1``.
        """
        rest = path_info.removeprefix("/")
        caught: list[str] = []
        for pattern in self.patterns:
            match = pattern.match(rest)
            if match is None:
                return None
            rest, args, kwargs = match
            converters = pattern.converters
            caught += [str(value) for value in args]
            caught += [
                converters[name].to_url(value) if name in converters else str(value) for name, value in kwargs.items()
            ]
        return tuple(caught)


def routes_of(urlconf: Any = None) -> tuple[Route, ...]:
    """Every route of a URLconf (None: the project's own), in the order in which Django tries them."""
    return _routes_of(settings.ROOT_URLCONF if urlconf is None else urlconf)


@lru_cache(maxsize=64)  # hosts with a URLconf per tenant have some, and a module each
def _routes_of(urlconf: Any) -> tuple[Route, ...]:
    with translation.override(settings.LANGUAGE_CODE):  # a translated route has one text here, whoever comes first
        return tuple(_walk(get_resolver(urlconf).url_patterns, patterns=(), path_regex=""))


def find_route(urlconf: Any, callback: Callable[..., Any], path_info: str) -> tuple[Route, tuple[str, ...]] | None:
    """The route that leads ``path_info`` to ``callback``, with what its variables caught."""
    for route in routes_of(urlconf):
        if route.callback is callback and (caught := route.captures(path_info)) is not None:
            return route, caught
    return None


def view_path(callback: Callable[..., Any]) -> str:
    """The dotted path of the class or function behind a URL pattern's callback."""
    view: Any = getattr(callback, "cls", None) or getattr(callback, "view_class", None) or callback
    return f"{view.__module__}.{getattr(view, '__name__', type(view).__name__)}"  # DRF names function views so


def _walk(entries: Any, *, patterns: tuple[Any, ...], path_regex: str) -> Iterator[Route]:
    for entry in entries:
        trail = (*patterns, entry.pattern)
        text = path_regex + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield Route(route=_join(trail), path_regex=text, callback=entry.callback, patterns=trail)
        elif isinstance(entry, URLResolver):
            yield from _walk(entry.url_patterns, patterns=trail, path_regex=text)


def _join(patterns: tuple[Any, ...]) -> str:
    """The patterns' texts without the anchors of regex routes and without a language prefix."""
    return "".join(
        str(pattern).removeprefix("^") for pattern in patterns if not isinstance(pattern, LocalePrefixPattern)
    )
