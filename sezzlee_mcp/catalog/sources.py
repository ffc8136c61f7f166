"""Where a value of a tool comes from (curation.md, "Where a value comes from")."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Source(StrEnum):
    STAFF = "staff"  # a choice made in the admin
    CODE = "code"  # a marker on the view
    CONTAINER = "container"  # a choice for the operation's whole container
    RULE = "rule"  # a selection rule, the hints of a method, a name built from the route
    PUBLISHED = "published"  # the name that the current revision gives the operation
    DOCUMENT = "document"
    DEFAULT = "default"  # nobody said anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Value(Generic[T]):
    """A value, where it comes from, and the value ``beneath``: what it would be without staff's choice."""

    value: T
    source: Source
    beneath: T


def overlaid(chosen: T | None, beneath: T, source: Source) -> Value[T]:
    """Staff's ``chosen`` value over the one beneath, which comes from ``source``; None chooses nothing."""
    if chosen is None:
        return Value(value=beneath, source=source, beneath=beneath)
    return Value(value=chosen, source=Source.STAFF, beneath=beneath)
