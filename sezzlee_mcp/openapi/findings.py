"""Where the stages leave what they find: one collector per operation, and one for the document itself."""

from collections.abc import Iterable
from dataclasses import replace

from sezzlee_mcp.diagnostics import Diagnostic, Severity, diagnose


class Findings:
    """The diagnostics of one operation (``operation`` is its key; empty for the document), each once, as found."""

    def __init__(self, operation: str = "") -> None:
        self.operation = operation
        self._found: dict[Diagnostic, None] = {}

    def add(self, code: str, at: str, **facts: object) -> None:
        self._found[diagnose(code, at, operation=self.operation, **facts)] = None

    def relay(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Take what was found in a part that several operations share."""
        self._found.update(dict.fromkeys(replace(item, operation=self.operation) for item in diagnostics))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(self._found)

    @property
    def drops(self) -> tuple[Diagnostic, ...]:
        """Those that cost the operation its tool."""
        return tuple(item for item in self._found if item.severity is not Severity.WARNING)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return tuple(item for item in self._found if item.severity is Severity.WARNING)


class FirstOnly:
    """Reports a code once per document for the same facts, where it was met first."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._reported: set[tuple[object, ...]] = set()

    def add(self, code: str, at: str, **facts: object) -> None:
        said = (code, *facts.values())
        if said not in self._reported:
            self._reported.add(said)
            self._findings.add(code, at, **facts)


def kind(value: object) -> str:
    """What JSON calls the value, with its article: ``"a number"``."""
    names = {type(None): "null", bool: "a boolean", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
