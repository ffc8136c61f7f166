"""drf-spectacular's generator: the documents of the project, each operation tagged with the view behind it."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import commonpath
from re import escape
from threading import Lock
from typing import Any

from django.conf import settings
from django.utils import translation
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import EndpointEnumerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import camelize_operation
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.settings import patched_settings, spectacular_settings
from drf_spectacular.views import SpectacularAPIView, SpectacularRedocView, SpectacularSwaggerView
from rest_framework.renderers import BrowsableAPIRenderer, StaticHTMLRenderer, TemplateHTMLRenderer
from rest_framework.settings import api_settings
from rest_framework.versioning import AcceptHeaderVersioning, NamespaceVersioning, URLPathVersioning

from sezzlee_mcp import permissions
from sezzlee_mcp.catalog.visibility import UNREADABLE
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import ENDPOINT_KEY, AuthFacts, Endpoint
from sezzlee_mcp.routing import Route, routes_of, view_path

logger = logging.getLogger("sezzlee_mcp")

Progress = Callable[[int, int], None]

_SCHEMA_VIEWS = (SpectacularAPIView, SpectacularSwaggerView, SpectacularRedocView)
_HTML_RENDERERS = (TemplateHTMLRenderer, StaticHTMLRenderer, BrowsableAPIRenderer)
# The generator patches process-wide state of drf-spectacular while it runs.
_generating = Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """
    What was generated: one document per API version of the host, usually one.

    ``discovered`` counts endpoints, one per method and route, whether or not they got an entry.
    """

    documents: tuple[dict[str, Any], ...]
    discovered: int
    diagnostics: tuple[Diagnostic, ...]


@dataclass(slots=True, kw_only=True)
class _Run:
    """What the generations of one sync share: which endpoints are documented, and why others are not."""

    progress: Progress | None = None
    discovered: dict[tuple[str, str], Any] = field(default_factory=dict)  # (path regex, method) -> callback
    keys: dict[tuple[str, str], str] = field(default_factory=dict)  # of the operations that they would be
    documented: set[tuple[str, str]] = field(default_factory=set)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)  # view -> the schema class that it had
    misdeclared: dict[str, str] = field(default_factory=dict)  # view -> what is wrong with its sezzlee_auth
    versions: set[str] = field(default_factory=set)


def generate(*, progress: Progress | None = None) -> Documents:
    """
    The host's documents, by a subclass of its own generator class.

    A view that cannot be described costs its own operation and becomes a diagnostic. The language is
    LANGUAGE_CODE, since otherwise what is found depends on who starts the sync (P3, P4, P7).
    """
    run = _Run(progress=progress)
    try:
        with _generating, translation.override(settings.LANGUAGE_CODE), GENERATOR_STATS.silence():
            documents = [_generate_version(run, None)]
            documents += [_generate_version(run, version) for version in sorted(run.versions)]
    except Exception as error:
        logger.exception("drf-spectacular could not generate the document.")
        lost = diagnose("document_not_generated", reason=_reason(error))
        return Documents(documents=(), discovered=len(run.discovered), diagnostics=(lost,))
    return Documents(
        documents=tuple(documents),
        discovered=len(run.discovered),
        diagnostics=(*_replaced(run), *_misdeclared(run), *_undocumented(run)),
    )


def _generate_version(run: _Run, version: str | None) -> dict[str, Any]:
    host_class = spectacular_settings.DEFAULT_GENERATOR_CLASS
    generator = type("OneEndpointAtATime", (_OneEndpointAtATime, host_class), {"run": run})(api_version=version)
    document = generator.get_schema(request=None, public=True)
    # Decimals, lazy texts and the like become plain JSON here and nowhere else (P5).
    plain: dict[str, Any] = json.loads(OpenApiJsonRenderer().render(document))
    return plain


def _replaced(run: _Run) -> Iterator[Diagnostic]:
    for view, schema in run.replaced.items():
        yield diagnose("schema_class_replaced", view=view, schema=schema)


def _misdeclared(run: _Run) -> Iterator[Diagnostic]:
    for view, reason in run.misdeclared.items():
        yield diagnose("auth_declaration_invalid", view=view, reason=reason)


def _undocumented(run: _Run) -> Iterator[Diagnostic]:
    for (path_regex, method), callback in run.discovered.items():
        view, key = f"{view_path(callback)} ({method} {path_regex})", run.keys.get((path_regex, method), "")
        if reason := run.failed.get((path_regex, method)):
            yield diagnose("schema_generation_failed", operation=key, view=view, reason=reason)
        elif (path_regex, method) not in run.documented:
            reason = "its schema excludes it or knows no version"
            yield diagnose("endpoint_not_documented", operation=key, view=view, reason=reason)


class _GuardedEnumerator:
    """Mixed into the host's enumerator: a view that raises while its methods are read loses its own endpoints."""

    run: _Run

    def get_allowed_methods(self, callback: Any) -> list[str]:
        try:
            return list(super().get_allowed_methods(callback))  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001  (host code may raise anything; it is reported by name)
            self.run.discovered[view_path(callback), "*"] = callback
            self.run.failed[view_path(callback), "*"] = _reason(error)
            return []


class _OneEndpointAtATime:
    """
    Mixed into the host's generator: its own ``parse`` is asked for one endpoint at a time.

    So a failure has one owner, and what comes out can be tagged with the endpoint it came from.
    """

    run: _Run
    endpoints: Any
    registry: Any
    inspector: Any
    api_version: str | None

    def _initialise_endpoints(self) -> None:
        if self.endpoints is None:
            host_class = self.endpoint_inspector_cls  # type: ignore[attr-defined]
            enumerator: type[EndpointEnumerator] = type(
                "Enumerator", (_GuardedEnumerator, host_class), {"run": self.run}
            )
            self.inspector = enumerator(self.patterns, self.urlconf)  # type: ignore[attr-defined]
            self.endpoints = [entry for entry in self.inspector.get_api_endpoints() if _is_data(entry[3])]

    def parse(self, input_request: Any, public: bool) -> dict[str, Any]:
        self._initialise_endpoints()
        entries = list(self.endpoints)
        views = self._views(entries)
        result: dict[str, Any] = {}
        # A component for what is sent and one for what comes back: in a shared one a file field is an address.
        with patched_settings({"SCHEMA_PATH_PREFIX": _common_prefix(views), "COMPONENT_SPLIT_REQUEST": True}):
            for done, entry in enumerate(entries, start=1):
                key = (entry[1], entry[2])
                if key in views and key not in self.run.documented:
                    self._parse_one(entry, views[key], result, input_request, public)
                if self.run.progress:
                    self.run.progress(done, len(entries))
        return result

    def _views(self, entries: list[Any]) -> dict[tuple[str, str], tuple[str, Any]]:
        """(path regex, method) -> (path template, view instance), for every view that can be made."""
        views = {}
        for path, path_regex, method, callback in entries:
            key = (path_regex, method)
            self.run.discovered[key] = callback
            self.run.keys[key] = f"{method} {path}"
            try:
                view = self.create_view(callback, method)
                views[key] = (self.coerce_path(path, method, view), view)  # type: ignore[attr-defined]
                self.run.keys[key] = f"{method} {views[key][0]}"
            except Exception as error:  # noqa: BLE001  (host code may raise anything; it is reported by name)
                self.run.failed[key] = _reason(error)
            else:
                self.run.versions |= _versions_of(view)
        return views

    def create_view(self, callback: Any, method: str, request: Any = None) -> Any:
        view = super().create_view(callback, method, request)  # type: ignore[misc]
        if not isinstance(view.schema, AutoSchema):  # (P1)
            self.run.replaced[view_path(callback)] = view_path(type(view.schema))
            self._set_schema_to_view(view, AutoSchema())  # type: ignore[attr-defined]
        return view

    def _parse_one(
        self, entry: Any, described: tuple[str, Any], result: dict[str, Any], input_request: Any, public: bool
    ) -> None:
        key = (entry[1], entry[2])
        kept = dict(self.registry._components)
        self.endpoints = [entry]
        try:
            documented = super().parse(input_request, public)  # type: ignore[misc]
            endpoint = self._endpoint(entry, *described)
        except Exception as error:  # noqa: BLE001  (host code may raise anything; it is reported by name)
            # A component that was half built would leave the next view's reference pointing at nothing.
            self.registry._components = kept
            self.run.failed[key] = _reason(error)
            return
        for path, methods in documented.items():
            for method, operation in methods.items():
                result.setdefault(path, {})[method] = {**operation, ENDPOINT_KEY: endpoint.to_json()}
                self.run.documented.add(key)
                self.run.failed.pop(key, None)

    def _endpoint(self, entry: Any, path: str, view: Any) -> Endpoint:
        _, path_regex, method, callback = entry
        route = self._routes.get((path_regex, callback))
        if route and route.is_localized:
            path = f"/{path.lstrip('/').removeprefix(str(route.patterns[0]))}"
        if view.versioning_class and issubclass(view.versioning_class, URLPathVersioning):
            version = self.api_version or view.versioning_class.default_version
            path = path.replace(f"{{{view.versioning_class.version_param}}}", str(version))
        if spectacular_settings.CAMELIZE_NAMES:
            path, _ = camelize_operation(path, {"operationId": "unused"})  # type: ignore[no-untyped-call]
        action = str(getattr(view, "action", None) or "")
        return Endpoint(
            path=path,
            route=route.route if route else path_regex,
            view=view_path(callback),
            action=action,
            is_extra_action=hasattr(getattr(view, action, None), "mapping") if action else False,
            is_localized=bool(route and route.is_localized),
            auth=self._auth_facts(view, method, view_path(callback)),
        )

    def _auth_facts(self, view: Any, method: str, path: str) -> AuthFacts:
        try:
            return permissions.auth_facts(view, method)
        except permissions.AuthDeclarationError as error:
            self.run.misdeclared[path] = str(error)
            return UNREADABLE

    @cached_property
    def _routes(self) -> dict[tuple[str, Any], Route]:
        return {(route.path_regex, route.callback): route for route in routes_of()}


def _is_data(callback: Any) -> bool:
    """Whether the view answers data; the schema's own views and pages for people are no operations (P46)."""
    if issubclass(callback.cls, _SCHEMA_VIEWS):
        return False
    renderers = callback.initkwargs.get("renderer_classes") or callback.cls.renderer_classes
    return not all(issubclass(renderer, _HTML_RENDERERS) for renderer in renderers)


def _versions_of(view: Any) -> set[str]:
    """The API versions in which a view must be described once more (operations.md, "Getting the document")."""
    versioning = view.versioning_class
    if versioning and issubclass(versioning, NamespaceVersioning | AcceptHeaderVersioning):
        return {str(version) for version in versioning.allowed_versions or api_settings.ALLOWED_VERSIONS or ()}
    return set()


def _common_prefix(views: dict[tuple[str, str], tuple[str, Any]]) -> str:
    """The path prefix that drf-spectacular would find over all endpoints; it is asked about one at a time here."""
    if spectacular_settings.SCHEMA_PATH_PREFIX is not None:
        return str(spectacular_settings.SCHEMA_PATH_PREFIX)
    if len({type(view) for _, view in views.values()}) < 2:
        return "/"
    return escape(commonpath([path for path, _ in views.values()]))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
