"""A meta-tool's arguments -> a typed call. Permissive: every mistake is a CallError that says how to repair it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

from sezzlee_mcp.errors import CallError, Continuation
from sezzlee_mcp.invoke.arguments import kind_of
from sezzlee_mcp.protocol.jsonrpc import clip, parse_json
from sezzlee_mcp.protocol.limits import Limits
from sezzlee_mcp.protocol.metatools import ARGUMENTS, LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, MetaTool

_NAMED_AT_MOST = 5
_LIMITS = Limits()
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCall:
    """``tags`` is a conjunction; empty means no filter."""

    query: str = ""
    limit: int = LIMIT_DEFAULT
    wants_schema: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCall:
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeCall:
    """``was_unwrapped``: the arguments came as JSON text, a client's defect that the host logs."""

    name: str
    arguments: Mapping[str, Any]
    version: str | None = None
    was_unwrapped: bool = False


Call: TypeAlias = SearchCall | LoadCall | InvokeCall


def bind(tool: MetaTool, arguments: Mapping[str, Any], limits: Limits = _LIMITS) -> Call:
    """
    The call that ``arguments`` make of ``tool`` (search.md, "The three meta-tools").

    CallError ``unknown_argument``: a name that the tool does not take, one that is missing, or a ``name`` or
    ``version`` that is no string. CallError ``invalid_type``: ``query``, ``tags`` or ``arguments`` of a kind
    that cannot be read without guessing, or a search beyond ``limits``. ``limit`` and ``detail`` are never refused.
    """
    _refuse_unknown(tool, arguments)
    match tool:
        case MetaTool.SEARCH:
            return _bind_search(arguments, limits)
        case MetaTool.LOAD:
            return LoadCall(name=_name(tool, arguments))
        case MetaTool.INVOKE:
            return _bind_invoke(arguments, limits)


def _refuse_unknown(tool: MetaTool, arguments: Mapping[str, Any]) -> None:
    taken = ARGUMENTS[tool]
    unknown = [name for name in arguments if name not in taken]
    if not unknown:
        return
    names = ", ".join(f"'{clip(name)}'" for name in unknown[:_NAMED_AT_MOST])
    near = get_close_matches(clip(unknown[0]), taken, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    if tool is MetaTool.INVOKE and not near:
        hint = " The operation's own arguments belong inside 'arguments'."
    message = f"{tool} takes no argument {names}. It takes {_listed(taken)}.{hint}"
    raise _refusal("unknown_argument", tool, message)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _bind_search(arguments: Mapping[str, Any], limits: Limits) -> SearchCall:
    return SearchCall(
        query=_query(arguments.get("query"), limits),
        limit=_limit(arguments.get("limit")),
        wants_schema=arguments.get("detail") == "schema",
        tags=_tags(arguments.get("tags"), limits),
    )


def _query(value: Any, limits: Limits) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        message = f"The argument 'query' of search_tools must be a string of keywords; {kind_of(value)} arrived."
        raise _refusal("invalid_type", MetaTool.SEARCH, message)
    _refuse_long("query", len(value), limits)
    return value


def _refuse_long(name: str, chars: int, limits: Limits) -> None:
    if chars > limits.search_chars:
        message = (
            f"The argument '{name}' of search_tools takes at most {limits.search_chars} characters; {chars} arrived."
        )
        raise _refusal("invalid_type", MetaTool.SEARCH, message)


def _limit(value: Any) -> int:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return LIMIT_DEFAULT
    return int(min(max(value, LIMIT_MIN), LIMIT_MAX))


def _tags(value: Any, limits: Limits) -> tuple[str, ...]:
    """The tags to require. A malformed list is refused, since leaving a tag out would widen the answer."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _tags_refusal(f"{kind_of(value)} arrived")
    strangers = [kind_of(tag) for tag in value if not isinstance(tag, str)]
    if strangers:
        raise _tags_refusal(f"{strangers[0]} is among them")
    _refuse_long("tags", sum(map(len, value)), limits)
    return tuple(value)


def _tags_refusal(finding: str) -> CallError:
    message = f"The argument 'tags' of search_tools must be an array of strings; {finding}."
    return _refusal("invalid_type", MetaTool.SEARCH, message)


def _bind_invoke(arguments: Mapping[str, Any], limits: Limits) -> InvokeCall:
    sent = arguments.get("arguments")
    return InvokeCall(
        name=_name(MetaTool.INVOKE, arguments),
        arguments=_unwrapped(sent, limits),
        version=_version(arguments.get("version")),
        was_unwrapped=isinstance(sent, str),
    )


def _name(tool: MetaTool, arguments: Mapping[str, Any]) -> str:
    value = arguments.get("name")
    if isinstance(value, str):
        return value
    finding = f"{kind_of(value)} arrived" if "name" in arguments else "it is missing"
    message = f"{tool} takes the argument 'name', a string: an operation's name from search_tools; {finding}."
    raise _refusal("unknown_argument", tool, message)


def _version(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    message = (
        "The argument 'version' of invoke_tool must be the string that load_tool returned, or be left out; "
        f"{kind_of(value)} arrived."
    )
    raise _refusal("unknown_argument", MetaTool.INVOKE, message)


def _unwrapped(value: Any, limits: Limits) -> Mapping[str, Any]:
    if value is None:
        return {}
    composed = _parsed(value, limits) if isinstance(value, str) else value
    if isinstance(composed, dict):
        return composed
    kind = "a string that is not the JSON of an object" if isinstance(value, str) else kind_of(value)
    message = (
        f"The argument 'arguments' of invoke_tool must be an object with the operation's arguments; {kind} arrived."
    )
    raise _refusal("invalid_type", MetaTool.INVOKE, message)


def _parsed(text: str, limits: Limits) -> Any:
    try:
        return parse_json(text, limits.levels)
    except ValueError:
        return None


def _refusal(code: str, tool: MetaTool, message: str) -> CallError:
    instruction = f"Repair the arguments as the message says and call {tool} again."
    continuation = Continuation(kind="revise_arguments", tool=tool, instruction=instruction)
    return CallError(code=code, message=message, continuation=continuation)
