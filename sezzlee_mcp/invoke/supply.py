"""What a call supplies to each place of the request: the agent's value under its name, or a hidden argument's fill."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sezzlee_mcp.catalog.curation import Fill, FillKind
from sezzlee_mcp.catalog.tools import Exposed, Template
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """One value on its way into the request; ``name`` is what a message calls it, and a hidden one is not named."""

    name: str
    value: Any
    is_hidden: bool = False

    @contextmanager
    def gate(self) -> Iterator[None]:
        """Turns the refusal of a hidden value into one that tells the agent neither the value nor the place."""
        try:
            yield
        except CallError as error:
            if self.is_hidden:
                raise messages.deferred_value_invalid() from error
            raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The arguments of one call, and what the host's providers gave for it, by source."""

    arguments: Mapping[str, Any]
    deferred: Mapping[str, Any] = field(default_factory=dict)

    def supplied(
        self,
        name: str,
        exposed: Exposed | None,
        *,
        required: bool = False,
        keeps_null: bool = False,
        missing: Callable[[str], CallError] = messages.missing_argument,
    ) -> Supply | None:
        """
        What goes to the place with this wire name; None sends nothing.

        A null that a provider gives is no value, except where ``keeps_null`` says that null can be written. Of an
        argument with older names, ``missing`` makes the error of a call that sends none of them.
        """
        if exposed is None:
            return self._sent(name) if name in self.arguments else None
        if exposed.name is None:
            return self._filled(name, exposed.fill, required=required or exposed.required, keeps_null=keeps_null)
        sent = [known for known in exposed.names if known in self.arguments]
        if len(sent) > 1:
            raise messages.argument_sent_twice(sent, exposed.name)
        if not sent and exposed.required:
            raise missing(exposed.name)
        return self._sent(sent[0]) if sent else None

    def _sent(self, name: str) -> Supply:
        return Supply(name=name, value=self.arguments[name])

    def _filled(self, name: str, fill: Fill | None, *, required: bool, keeps_null: bool) -> Supply | None:
        if fill is None or fill.kind is FillKind.OMIT:
            return None
        if fill.kind is FillKind.CONSTANT:
            return Supply(name=name, value=fill.value, is_hidden=True)
        value = self.deferred.get(fill.source or "")
        if value is not None or (keeps_null and fill.source in self.deferred):
            return Supply(name=name, value=value, is_hidden=True)
        if required:
            raise messages.deferred_value_missing() from LookupError(f"{fill.source} gave no value for {name}")
        return None


def agent_name(name: str, exposed: Exposed | None) -> str | None:
    """The name under which the agent sends the argument with this wire name; None when it is hidden."""
    return name if exposed is None else exposed.name


def refuse_unknown(template: Template, arguments: Mapping[str, Any]) -> None:
    """
    Raises ``unknown_argument`` for the first name that the tool does not take.

    An open body takes any name but those that curation closed: a hidden argument's, and the wire name of a renamed
    one. Their refusal is that of a name which never existed.
    """
    accepted = frozenset(template.argument_names)
    closed = frozenset(_closed(template)) if _takes_any_field(template) else None
    for name in arguments:
        if name not in accepted and (closed is None or name in closed):
            raise messages.unknown_argument(name, template.argument_names)


def _closed(template: Template) -> Iterator[str]:
    for name, exposed in places_of(template):
        yield name
        yield from exposed.aliases if exposed is not None else ()


def undeclared(template: Template, arguments: Mapping[str, Any]) -> list[str]:
    """The arguments that only an open body takes; from any other call they were refused before."""
    accepted = frozenset(template.argument_names)
    return [name for name in arguments if name not in accepted]


def used_aliases(template: Template, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """``(alias, name)`` for each older name that the call used."""
    return tuple(
        (alias, exposed.name)
        for _, exposed in places_of(template)
        if exposed is not None and exposed.name is not None
        for alias in exposed.aliases
        if alias in arguments
    )


def places_of(template: Template) -> Iterator[tuple[str, Exposed | None]]:
    """The wire name of each parameter and field of the body, with how the agent sends it."""
    for slot in template.slots:
        yield slot.name, slot.exposed
    if template.body is not None:
        for name in template.body.properties if template.body.argument is None else (template.body.argument,):
            yield name, template.body.exposed.get(name)


def _takes_any_field(template: Template) -> bool:
    return template.body is not None and template.body.argument is None and template.body.is_open
