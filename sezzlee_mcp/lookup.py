"""What staff call a tool -> its operation: a name, of now or of before, an operation id, or METHOD /route."""

from collections.abc import Iterable
from difflib import get_close_matches

from django.db.models import Q

from sezzlee_mcp.catalog.names import snake_case
from sezzlee_mcp.models import Diagnostic, Operation, ToolAlias, ToolContent

NEAR = 3


def as_key(asked: str) -> str | None:
    """``get  /books/`` as the key of an operation; None for a text that is no method and route."""
    method, _, route = asked.strip().partition(" ")
    route = route.strip()
    return f"{method.upper()} {route}" if route.startswith("/") else None


def find(asked: str) -> tuple[str, ...]:
    """
    The keys of the operations that a text names: none when nothing knows it, several when it does not tell them apart.

    A published name comes first, since that is what an agent reports; a method and route is the key, known or not.
    """
    key = as_key(asked)
    if key is not None:
        return (key,)
    return (
        _published(asked) or _documented(asked) or _renamed(asked) or _formerly_published(asked) or _asking_for(asked)
    )


def near(asked: str) -> tuple[str, ...]:
    """What is known and reads much like ``asked``, the likest first."""
    keys = (*_texts(Operation, "key"), *_texts(Diagnostic, "key"))
    names = (*_texts(ToolContent, "name"), *_texts(Operation, "operation_id"))
    key = as_key(asked)
    known = names if key is None else keys
    return tuple(get_close_matches(key or asked.strip(), dict.fromkeys(known), n=NEAR))


def _published(name: str) -> tuple[str, ...]:
    return tuple(ToolContent.objects.filter(left_generation=None, name=name).values_list("operation_key", flat=True))


def _documented(operation_id: str) -> tuple[str, ...]:
    """Of the operations that are one tool on several routes, the one that is called."""
    rows = list(Operation.objects.filter(operation_id=operation_id).defer("outline", "slots"))
    rows = [row for row in rows if not row.is_absent] or rows
    keys = [row.key for row in rows]
    called = set(
        ToolContent.objects.filter(left_generation=None, operation_key__in=keys).values_list("operation_key", flat=True)
    )
    rows.sort(key=lambda row: (row.key not in called, len(row.route), row.route))
    firsts: dict[tuple[str, str], str] = {}
    for row in rows:
        firsts.setdefault((row.container, row.method), row.key)
    return tuple(firsts.values())


def _renamed(name: str) -> tuple[str, ...]:
    return tuple(ToolAlias.objects.filter(name=name).values_list("operation__key", flat=True))


def _formerly_published(name: str) -> tuple[str, ...]:
    left = ToolContent.objects.filter(name=name).exclude(left_generation=None).order_by("-left_generation")
    return tuple(left.values_list("operation_key", flat=True)[:1])


def _asking_for(name: str) -> tuple[str, ...]:
    """Those that have the name without being published under it, or would have it."""
    chosen = Operation.objects.filter(Q(name=name) | Q(published_name=name)).values_list("key", flat=True)
    rows = Operation.objects.exclude(operation_id="").values_list("key", "operation_id")
    return tuple(chosen) or tuple(key for key, operation_id in rows if snake_case(operation_id) == name)


def _texts(model: type[Operation] | type[Diagnostic] | type[ToolContent], column: str) -> Iterable[str]:
    return model._default_manager.exclude(**{column: ""}).order_by(column).values_list(column, flat=True)
