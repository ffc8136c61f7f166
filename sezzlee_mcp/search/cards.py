"""Loaded shape -> what an agent reads of it: the card and the full projection (search.md, "Card", "Loaded shape")."""

import re
from typing import Any

CARD_DESCRIPTION_CHARS = 160
ELLIPSIS = "\u2026"
BYTES_PER_TOKEN = 4  # of JSON with English texts, roughly, by the tokenizers of current models

_LOADED_MEMBERS = ("name", "description", "inputSchema", "outputSchema", "annotations")
_INTEGER_LIKE = re.compile(r"0|[1-9][0-9]*")


def card(loaded: dict[str, Any], *, auth_uncertain: bool = False) -> dict[str, Any]:
    """The compact card of a tool; whatever JSON its input schema is, there is one."""
    return {
        "name": loaded["name"],
        "description": clip(loaded["description"]),
        "parameters": parameters_line(loaded["inputSchema"]),
        **_flags(loaded, auth_uncertain=auth_uncertain),
    }


def detail(loaded: dict[str, Any], *, auth_uncertain: bool = False) -> dict[str, Any]:
    """The loaded shape for one caller, the same from load_tool and from a search with ``detail: "schema"``."""
    version = {"version": loaded["version"]} if "version" in loaded else {}
    members = {name: loaded[name] for name in _LOADED_MEMBERS if name in loaded}
    return {**members, **_flags(loaded, auth_uncertain=auth_uncertain), **version}


def estimated_tokens(size_bytes: int) -> int:
    """About how many tokens of a model's context JSON of this size takes: no tokenizer is asked."""
    return -(-size_bytes // BYTES_PER_TOKEN)


def _flags(loaded: dict[str, Any], *, auth_uncertain: bool) -> dict[str, bool]:
    flags = {"deprecated": loaded.get("deprecated") is True, "authUncertain": auth_uncertain}
    return {name: True for name, applies in flags.items() if applies}


def clip(text: str, budget: int = CARD_DESCRIPTION_CHARS) -> str:
    """
    A tool's description, shortened for its card.

    Text of at most ``budget`` characters comes back unchanged. Longer text ends in an ellipsis after the words
    that fit in the budget; where those would fill less than half of it, the cut is hard, at the budget.
    """
    if len(text) <= budget:
        return text
    space = text.rfind(" ", 0, budget + 1)
    return text[: space if space >= budget / 2 else budget] + ELLIPSIS


def parameters_line(input_schema: Any) -> str:
    """The root properties in one line, ``id: integer (required), page: integer``; empty when there are none."""
    properties = _member(input_schema, "properties", dict)
    required = {name for name in _member(input_schema, "required", list) if isinstance(name, str)}
    return ", ".join(
        f"{name}: {_type_of(properties[name])}{' (required)' if name in required else ''}"
        for name in sorted(properties, key=_place)
    )


def _member(schema: Any, name: str, kind: type) -> Any:
    """The member when it has the kind that it should have, else an empty one of that kind."""
    value = schema.get(name) if isinstance(schema, dict) else None
    return value if isinstance(value, kind) else kind()


def _place(name: str) -> tuple[bool, int, str]:
    """A sort key: integer-like names by their number, before all others, which keep their order."""
    if _INTEGER_LIKE.fullmatch(name):
        return False, len(name), name  # of numerals without leading zeros the longer is the larger
    return True, 0, ""


def _type_of(schema: Any) -> str:
    declared = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(declared, list):
        return next((name for name in declared if isinstance(name, str) and name != "null"), "any")
    return declared if isinstance(declared, str) else "any"
