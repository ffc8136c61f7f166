"""What a ranker knows of the language that agents search in."""

from dataclasses import dataclass, field

from sezzlee_mcp.search.synonyms import Synonyms
from sezzlee_mcp.search.verbs import Verbs


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language; what is not given is English."""

    verbs: Verbs = field(default_factory=Verbs)
    synonyms: Synonyms = field(default_factory=Synonyms)
