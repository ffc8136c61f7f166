"""All that staff say, as rows and as entries of a file that is reviewed and carried elsewhere (curation.md)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Self

from django.db import models

from sezzlee_mcp.canonical import pointer
from sezzlee_mcp.catalog.curation_files import write_curation
from sezzlee_mcp.folding import fold
from sezzlee_mcp.models import (
    ArgumentCuration,
    ArgumentRule,
    Operation,
    SelectionRule,
    Tag,
    Variant,
    VisibilityPolicy,
)
from sezzlee_mcp.models.fields import fill_of
from sezzlee_mcp.models.hints import HINTS, Hinted

# Member of an entry -> field of its row. What is empty there is no member.
_OPERATION = {
    "name": "name",
    "title": "title",
    "description": "description",
    "deadlineSeconds": "deadline_seconds",
    "budgetBytes": "budget_bytes",
    "familyParameter": "family_parameter",
}
_ARGUMENT = {
    "name": "name",
    "as": "agent_name",
    "description": "description",
    "deprecatedAliases": "deprecated_aliases",
    "aliasesUntil": "aliases_until",
}
_VARIANT = {"name": "name", "description": "description"}
_SELECTION_RULE = {"route": "route", "method": "method", "decision": "decision", "note": "note"}
_ARGUMENT_RULE = {
    "route": "route",
    "argument": "argument",
    "location": "location",
    "description": "description",
    "prefix": "prefix",
    "note": "note",
}
_POLICY = {"rule": "rule", "subject": "subject", "tags": "tags", "routes": "routes"}
# Field that a refusal names -> member, where they are called otherwise.
MEMBERS = {field: member for member, field in (_OPERATION | _ARGUMENT).items()} | {
    "search_terms": "searchTerms",
    "constant": "hidden",
    "provider": "hidden",
}
_EXPOSURES: Mapping[bool | None, Operation.Exposure] = {
    None: Operation.Exposure.INHERIT,
    True: Operation.Exposure.INCLUDE,
    False: Operation.Exposure.EXCLUDE,
}
CHOICES = (
    "exposure",
    *_OPERATION.values(),
    "overrides_tags",
    "overrides_search_terms",
    "search_terms",
    *HINTS,
)


def _said(row: models.Model, members: Mapping[str, str]) -> dict[str, Any]:
    values = {member: getattr(row, field) for member, field in members.items()}
    return {
        member: value.isoformat() if isinstance(value, date) else value
        for member, value in values.items()
        if value is not None and value not in ("", [])
    }


def _fields(entry: Mapping[str, Any], members: Mapping[str, str]) -> dict[str, Any]:
    return {field: entry[member] for member, field in members.items() if member in entry}


def _hidden(row: ArgumentCuration | ArgumentRule) -> dict[str, Any]:
    fill = fill_of(row.hidden, row.constant, getattr(row, "provider", ""))
    if fill is None:
        return {}
    needed = {"constant": ["value"], "deferred": ["source"], "omit": []}[fill.kind.value]
    return {"hidden": {member: fill.to_json()[member] for member in ["kind", *needed]}}


def _filled(entry: Mapping[str, Any]) -> dict[str, Any]:
    fill = entry.get("hidden", {})
    return _fields(fill, {"kind": "hidden", "value": "constant", "source": "provider"})


def _hints(row: Hinted) -> dict[str, Any]:
    return {"annotations": row.hints} if row.hints else {}


def _hinted(entry: Mapping[str, Any]) -> dict[str, bool]:
    said = entry.get("annotations", {})
    return {field: said[hint] for field, hint in HINTS.items() if hint in said}


def _argument_entries(rows: Iterable[ArgumentCuration]) -> dict[str, Any]:
    entries = [{**_said(row, _ARGUMENT), **_hidden(row)} for row in sorted(rows, key=lambda row: row.name)]
    return {"arguments": entries} if entries else {}


def _arguments(entry: Mapping[str, Any]) -> list[ArgumentCuration]:
    return [ArgumentCuration(**_fields(each, _ARGUMENT), **_filled(each)) for each in entry.get("arguments", ())]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidVariant:
    row: Variant
    arguments: list[ArgumentCuration]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        row = Variant(
            **_fields(entry, {**_VARIANT, "key": "key", "body": "body", "bodyRequired": "body_required"}),
            **_hinted(entry),
        )
        return cls(row=row, arguments=_arguments(entry))

    @property
    def entry(self) -> dict[str, Any]:
        own = {"key": self.row.key, "body": self.row.body, "bodyRequired": None if self.row.body_required else False}
        return {
            **_said(self.row, _VARIANT),
            **{member: value for member, value in own.items() if value is not None},
            **_hints(self.row),
            **_argument_entries(self.arguments),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOperation:
    """An operation's row, or one that takes its place, with the rows that are part of what is said of it."""

    row: Operation
    tags: list[str]
    arguments: list[ArgumentCuration]
    variants: list[SaidVariant]

    @classmethod
    def stored(cls, row: Operation) -> Self:
        return cls(
            row=row,
            tags=[tag.name for tag in row.tags.all()],
            arguments=list(row.arguments.all()),
            variants=[SaidVariant(row=each, arguments=list(each.arguments.all())) for each in row.variants.all()],
        )

    @classmethod
    def of(cls, row: Operation, entry: Mapping[str, Any]) -> Self:
        """What an entry says of the operation that has this row now."""
        said = Operation(
            pk=row.pk,
            key=row.key,
            exposure=_EXPOSURES[entry.get("expose")],
            overrides_tags="tags" in entry,
            overrides_search_terms="searchTerms" in entry,
            search_terms=entry.get("searchTerms", []),
            **_fields(entry, _OPERATION),
            **_hinted(entry),
        )
        variants = [SaidVariant.of(each) for each in entry.get("variants", ())]
        return cls(row=said, tags=entry.get("tags", []), arguments=_arguments(entry), variants=variants)

    @property
    def entry(self) -> dict[str, Any]:
        row = self.row
        exposed = row.curation_with().exposed
        variants = [said.entry for said in sorted(self.variants, key=lambda said: said.row.name)]
        return {
            **({} if exposed is None else {"expose": exposed}),
            **_said(row, _OPERATION),
            **({"tags": sorted(self.tags)} if row.overrides_tags else {}),
            **({"searchTerms": row.search_terms} if row.overrides_search_terms else {}),
            **_hints(row),
            **_argument_entries(self.arguments),
            **({"variants": variants} if variants else {}),
        }


def stored_operations() -> dict[str, SaidOperation]:
    rows = Operation.objects.with_curation().defer("outline", "slots")
    return {row.key: SaidOperation.stored(row) for row in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidRow:
    """A row of another section; ``operations`` are the keys of those that a policy names."""

    row: Any
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Rows that a file holds apart from operations; ``names`` are the fields that tell them apart."""

    name: str
    model: Any
    names: tuple[str, ...]
    read: Callable[[str, Any], Any]
    write: Callable[[Any], Any]

    @property
    def is_map(self) -> bool:
        return self.names == ("name",)

    def identity(self, said: SaidRow) -> tuple[str, ...]:
        return tuple(getattr(said.row, name) for name in self.names)

    def stored(self) -> list[SaidRow]:
        rows = self.model.objects.all()
        if self.model is VisibilityPolicy:
            named = [(row, [each.key for each in row.operations.all()]) for row in rows.with_operations()]
            return [SaidRow(row=row, operations=tuple(sorted(keys))) for row, keys in named]
        return [SaidRow(row=row) for row in rows]

    def entry(self, said: SaidRow) -> Any:
        operations = {"operations": list(said.operations)} if said.operations else {}
        written = self.write(said.row)
        return {**written, **operations} if operations else written

    def gathered(self, stored: list[SaidRow]) -> Any:
        """The section as a file holds it."""
        entries = {self.identity(said): self.entry(said) for said in sorted(stored, key=self.identity)}
        return {names[0]: entry for names, entry in entries.items()} if self.is_map else list(entries.values())

    def placed(self, given: Any) -> Iterator[tuple[str, str, Any]]:
        """Where each entry of a file stands, its key there, and the entry."""
        for key, entry in given.items() if self.is_map else enumerate(given):
            yield pointer(self.name, key), str(key), entry


SECTIONS = (
    Section(
        name="tags",
        model=Tag,
        names=("name",),
        read=lambda name, entry: Tag(name=name, folded=fold(name), description=entry),
        write=lambda tag: tag.description,
    ),
    Section(
        name="selectionRules",
        model=SelectionRule,
        names=("route", "method", "decision"),
        read=lambda _place, entry: SelectionRule(**_fields(entry, _SELECTION_RULE)),
        write=lambda rule: _said(rule, _SELECTION_RULE),
    ),
    Section(
        name="argumentRules",
        model=ArgumentRule,
        names=("route", "argument", "location"),
        read=lambda _place, entry: ArgumentRule(**_fields(entry, _ARGUMENT_RULE), **_filled(entry)),
        write=lambda rule: {**_said(rule, _ARGUMENT_RULE), **_hidden(rule)},
    ),
    Section(
        name="visibilityPolicies",
        model=VisibilityPolicy,
        names=("name",),
        read=lambda name, entry: VisibilityPolicy(name=name, **_fields(entry, _POLICY)),
        write=lambda policy: _said(policy, _POLICY),
    ),
)


def export() -> str:
    """The file of what the rows say."""
    operations = {key: said.entry for key, said in sorted(stored_operations().items())}
    return write_curation(
        {
            "operations": {key: entry for key, entry in operations.items() if entry},
            **{section.name: section.gathered(section.stored()) for section in SECTIONS},
        }
    )
