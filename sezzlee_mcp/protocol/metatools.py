"""The three meta-tools as tools/list publishes them (search.md, "The three meta-tools"). Their texts are contract."""

from enum import StrEnum
from typing import Any

LIMIT_MIN, LIMIT_MAX, LIMIT_DEFAULT = 1, 50, 20


class MetaTool(StrEnum):
    """In the order in which they are published."""

    LOAD = "load_tool"
    SEARCH = "search_tools"
    INVOKE = "invoke_tool"


INSTRUCTIONS = (
    "These tools reach the operations of one API, as the user you are signed in as. "
    "1. search_tools finds operations by keyword: use the words the API itself would use. "
    "2. load_tool shows the arguments of the one you chose. "
    "3. invoke_tool calls it, with its arguments in the object `arguments`. "
    "Every answer is one JSON text. A failed call has isError: its `message` says what was wrong, its `continuation`, "
    "where it has one, what to do next; repair the call and try again rather than give up. "
    "There are no other operations than those that search_tools returns."
)

_NAME = {"description": "The operation's exact name, as search_tools returned it.", "type": "string"}
_READ_ONLY = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}

_DEFINITIONS: tuple[dict[str, Any], ...] = (
    {
        "name": MetaTool.LOAD,
        "title": "Load an operation",
        "description": (
            "Read one operation in full: what it does, the schema of its arguments, the shape of its answer and its "
            "version. Use it on a name that search_tools returned, before you call the operation with invoke_tool."
        ),
        "inputSchema": {"type": "object", "properties": {"name": _NAME}, "required": ["name"]},
        "annotations": _READ_ONLY,
    },
    {
        "name": MetaTool.SEARCH,
        "title": "Search the operations",
        "description": (
            "Find operations of this API; start here. Type the API's own words as keywords (a resource, an action, an "
            "argument: `order cancel`), in the API's language, rather than a sentence. The best matches come first, "
            "each with a line about its arguments. Next, read the one you want with load_tool and call it with "
            "invoke_tool. When nothing fits, try fewer or other words, or list everything with an empty query."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {
                    "description": (
                        "Keywords matched by prefix against operation names, descriptions, declared search terms, "
                        "routes, argument names and tag text; keywords rank results, they do not filter them. Empty "
                        "lists everything. To require a whole tag, use tags."
                    ),
                    "type": "string",
                    "default": "",
                },
                "limit": {
                    "description": f"Maximum number of results, {LIMIT_MIN}-{LIMIT_MAX}.",
                    "type": "integer",
                    "default": LIMIT_DEFAULT,
                },
                "detail": {
                    "description": (
                        'Shape of each result: "card" for the compact card, "schema" for the full definition load_tool '
                        "would return. Any other value is card. A schema page is much larger; pair it with a small "
                        "limit."
                    ),
                    "type": "string",
                    "enum": ["card", "schema"],
                    "default": "card",
                },
                "tags": {
                    "description": (
                        "Tags every result must carry, matched against the whole tag and insensitive to case and "
                        "accents. Empty applies no filter; the answer's tags field lists what is available."
                    ),
                    "type": "array",
                    "items": {"type": "string"},
                    "default": None,
                },
            },
        },
        "annotations": _READ_ONLY,
    },
    {
        "name": MetaTool.INVOKE,
        "title": "Call an operation",
        "description": (
            "Call one operation as the user you are signed in as. Find it with search_tools and read its arguments "
            "with load_tool first. A success is {status, body}: the API's own answer. A failure says what was wrong "
            "and what to do next; do not repeat a call that changes data unless the failure is retryable."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": _NAME,
                # no type: what is no object has to arrive here, to be answered with an envelope
                "arguments": {
                    "description": (
                        "The operation's arguments, an object whose keys are the properties of the inputSchema that "
                        "load_tool returned. Leave it out when the operation takes none."
                    )
                },
                "version": {
                    "description": (
                        "The version that load_tool returned. With it, the call is refused when the operation has "
                        "changed since; without it, nothing is checked."
                    ),
                    "type": "string",
                },
            },
            "required": ["name"],
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
    },
)

ARGUMENTS: dict[MetaTool, tuple[str, ...]] = {
    definition["name"]: tuple(definition["inputSchema"]["properties"]) for definition in _DEFINITIONS
}


def input_schema(tool: MetaTool) -> dict[str, Any]:
    """The published input schema of a meta-tool."""
    schema: dict[str, Any] = next(each["inputSchema"] for each in _DEFINITIONS if each["name"] == tool)
    return schema


def definitions(generation: int) -> list[dict[str, Any]]:
    """The three definitions, each stamped with the generation of the catalog they were listed for."""
    stamp = {"sezzlee/catalogGeneration": generation}
    return [{**definition, "_meta": stamp} for definition in _DEFINITIONS]
