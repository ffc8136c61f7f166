"""What a meta-tool answers with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    text: str
    is_error: bool = False
