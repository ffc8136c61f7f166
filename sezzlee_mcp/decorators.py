"""
Markers for a host's views: what their code says about tools, carried in the document as the ``x-sezzlee`` extension.

They stand on top of a schema as ``extend_schema`` does, so they can stand above or below it, but like it only above
``@action`` and ``@api_view``: a system check names those that do not. Their values are checked by a sync, which
reports what it cannot use.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from rest_framework.settings import api_settings

from sezzlee_mcp.catalog import ArgumentRecord, Variant
from sezzlee_mcp.openapi import EXTENSION_KEY

_marked_methods: list[tuple[Any, type]] = []  # each with the schema class that has to be beneath its own

V = TypeVar("V", bound=Callable[..., Any])  # a view or viewset class, a method or action of one, a function view


@overload
def mcp_tool(view: V, /) -> V: ...
@overload
def mcp_tool(
    *,
    expose: bool | None = True,
    name: str | None = None,
    prefix: str | None = None,
    description: str | None = None,
    tags: Sequence[str] | None = None,
    search_terms: Sequence[str] | None = None,
    annotations: Mapping[str, bool] | None = None,
    arguments: Sequence[ArgumentRecord | Mapping[str, Any]] | None = None,
    variants: Sequence[Variant | Mapping[str, Any]] | None = None,
    family_parameter: str | None = None,
    seal: bool | None = None,
    methods: Sequence[str] | None = None,
) -> Callable[[V], V]: ...
def mcp_tool(
    view: V | None = None,
    /,
    *,
    expose: bool | None = True,
    name: str | None = None,
    prefix: str | None = None,
    description: str | None = None,
    tags: Sequence[str] | None = None,
    search_terms: Sequence[str] | None = None,
    annotations: Mapping[str, bool] | None = None,
    arguments: Sequence[ArgumentRecord | Mapping[str, Any]] | None = None,
    variants: Sequence[Variant | Mapping[str, Any]] | None = None,
    family_parameter: str | None = None,
    seal: bool | None = None,
    methods: Sequence[str] | None = None,
) -> V | Callable[[V], V]:
    """
    The view, its operations marked as tools and described to agents.

    On a class it holds for all of its operations, and each member that a marker on a method names beats the class's.
    None says nothing: with ``expose=None`` settings decide. With ``seal`` staff cannot override what the markers say.
    ``methods`` limit a function view's marker to some of its HTTP methods. Arguments and variants are values of
    ``sezzlee_mcp.catalog``, or objects as in the extension.
    """
    members = {
        "expose": expose,
        "name": name,
        "prefix": prefix,
        "description": description,
        "tags": tags,
        "searchTerms": search_terms,
        "annotations": annotations,
        "arguments": arguments,
        "variants": variants,
        "familyParameter": family_parameter,
        "seal": seal,
    }
    said = {key: _to_json(value) for key, value in members.items() if value is not None}
    among = None if methods is None else frozenset(method.upper() for method in methods)

    def mark(view: V) -> V:
        return _mark(view, said, among)

    return mark if view is None else mark(view)


def mcp_ignore(view: V) -> V:
    """The view, its operations marked as no tools; the document for people keeps them."""
    return _mark(view, {"expose": False}, None)


def lost() -> list[str]:
    """The marked methods whose marker is gone: it stands below ``@action``, which replaces what it wrote."""
    return [
        f"{method.__module__}.{method.__qualname__}"
        for method, top in _marked_methods
        if not issubclass(_schema_of(method) or object, top)
    ]


def _mark(view: V, said: dict[str, Any], methods: frozenset[str] | None) -> V:
    """The view with a schema of its own on top, which adds the members to what others say of ``x-sezzlee``."""
    if _is_bare_function(view):
        raise TypeError(f"{view.__module__}.{view.__qualname__} is no view yet: put its marker above @api_view.")
    _give_schema(view)
    extend_schema()(view)  # makes a class for this view alone, and knows where DRF looks for it
    top: Any = _schema_of(view)

    def get_extensions(schema: Any) -> dict[str, Any]:
        beneath: dict[str, Any] = super(top, schema).get_extensions()
        if methods is not None and schema.method not in methods:
            return beneath
        return {**beneath, EXTENSION_KEY: {**_extension(beneath), **said}}

    def get_operation(schema: Any, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super(top, schema).get_operation(*args, **kwargs)
        merged = _merged(schema)
        return {**operation, EXTENSION_KEY: merged} if operation and merged else operation

    top.get_extensions = get_extensions
    top.get_operation = get_operation
    if _holder(view) is view and not isinstance(view, type):
        _marked_methods.append((view, top))
    return view


def _is_bare_function(view: Any) -> bool:
    """Whether it is a function outside of any class that is no view: only ``@api_view`` can make one of it."""
    owner = view.__qualname__.rpartition(".")[0]
    return not isinstance(view, type) and _holder(view) is view and owner.rpartition(".")[2] in ("", "<locals>")


def _merged(schema: Any) -> dict[str, Any]:
    """What all schemas of the view say; an ``extend_schema`` with extensions does not ask what is beneath it."""
    merged: dict[str, Any] = {}
    for layer in type(schema).__mro__:
        if "get_extensions" in vars(layer):
            merged = {**_extension(vars(layer)["get_extensions"](schema)), **merged}
    return merged


def _extension(extensions: Mapping[str, Any]) -> dict[str, Any]:
    said = extensions.get(EXTENSION_KEY)
    return said if isinstance(said, dict) else {}


def _give_schema(view: Any) -> None:
    """drf-spectacular's schema in place of any other class, which a sync would replace, marker and all."""
    found: Any = _schema_of(view) or api_settings.DEFAULT_SCHEMA_CLASS
    if not issubclass(found, AutoSchema):
        layers = (layer for layer in found.__mro__ if layer.__module__ == extend_schema.__module__)
        schema = type("MarkedSchema", (*layers, *AutoSchema.__mro__), {})
        if isinstance(view, type):
            _forget_leaked_schema(view)
            view.schema = schema()  # type: ignore[attr-defined]
        else:
            _holder(view).kwargs = {**getattr(_holder(view), "kwargs", {}), "schema": schema}


def _forget_leaked_schema(view: Any) -> None:
    """OPTIONS is no operation, but ``extend_schema`` on any function view leaves a schema of its base on everyone's."""
    vars(view.options).pop("kwargs", None)


def _schema_of(view: Any) -> Any:
    """The schema class that the view was given; None for a method or function without one of its own."""
    if isinstance(view, type):
        return type(view.schema)  # type: ignore[attr-defined]
    return getattr(_holder(view), "kwargs", {}).get("schema")


def _holder(view: Any) -> Any:
    """What keeps the schema of a view that is no class: the class behind a function view, or the method itself."""
    return getattr(view, "cls", view)


def _to_json(value: Any) -> Any:
    if isinstance(value, ArgumentRecord | Variant):
        return value.to_json()
    return [_to_json(item) for item in value] if isinstance(value, list | tuple) else value
