"""Query -> what its verb says of the method: "add" makes something, "rename" changes it, "drop" deletes it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sezzlee_mcp.folding import fold

BULK = "bulk"
_NO_VERB = frozenset({"GET"})
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
KINDS = (*METHODS, BULK)  # of the words that mean something to a ranker

_CHANGING = (
    *("adjust", "change", "configure", "correct", "decrease", "disable", "edit", "enable", "extend"),
    *("increase", "modify", "rename", "replace", "resize", "set", "switch", "toggle", "update"),
)
# Without those that are nouns of many backends: an order, a report, a test.
_ACTING = (
    *("accept", "activate", "add", "allocate", "approve", "archive", "assign", "attach", "begin"),
    *("book", "cancel", "close", "comment", "complete", "confirm", "connect", "copy", "create"),
    *("deactivate", "duplicate", "enter", "execute", "finish", "generate", "import", "insert"),
    *("install", "link", "load", "lock", "make", "merge", "move", "new", "note", "open", "pay", "post"),
    *("print", "publish", "put", "receive", "refund", "register", "reject", "renew", "reopen"),
    *("reserve", "reset", "restart", "restore", "return", "rotate", "run", "scan", "send", "ship"),
    *("sign", "split", "start", "stop", "submit", "sync", "tag", "take", "transfer", "trigger"),
    *("unlock", "upload", "write"),
)
_READING = (
    *("browse", "check", "compare", "count", "display", "download", "export", "fetch", "find", "get"),
    *("how", "list", "look", "lookup", "many", "much", "preview", "read", "retrieve", "search", "see"),
    *("show", "status", "view", "what", "when", "where", "which", "who", "whom", "whose"),
)
_DELETING = (
    *("delete", "destroy", "detach", "discard", "drop", "erase", "purge", "remove", "revoke"),
    *("uninstall", "unlink", "wipe"),
)
_MANY = ("all", "batch", "bulk", "every", "mass", "many", "multiple", "several", "together")
# The words that speak of a method, and those that ask for the form that takes many at once.
ENGLISH: Mapping[str, tuple[str, ...]] = {
    "GET": _READING,
    "POST": _ACTING,
    "PUT": _CHANGING,
    "PATCH": _CHANGING,
    "DELETE": _DELETING,
    BULK: _MANY,
}

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """
    What a query wants done.

    ``methods`` are those that fit. ``deletes`` says whether any word is a verb of DELETE, ``is_bulk`` whether any
    speaks of many at once.
    """

    methods: frozenset[str]
    deletes: bool
    is_bulk: bool


class Verbs:
    """
    The verbs of one language: by method, and under ``BULK``, the words that speak of it.

    The verb of a query is its first word, words for "many" aside, or else its last: to "test order" is to test one,
    "order tests" are some. A query without a verb asks what there is.
    """

    def __init__(self, words: Mapping[str, Iterable[str]] = ENGLISH) -> None:
        self._words = {kind: frozenset(map(fold, given)) for kind, given in words.items()}

    def __contains__(self, word: str) -> bool:
        return any(word in words for words in self._words.values())

    def read(self, query: str) -> tuple[Intent, str]:
        """What a query wants, and the verb that says so, folded; "" where none does."""
        words = [fold(word) for word in _WORD.findall(query)]
        many, deleting = (self._words.get(kind, frozenset()) for kind in (BULK, "DELETE"))
        said = [word for word in words if word not in many]
        verb = next((word for word in (*said[:1], *said[-1:]) if self._methods(word)), "")
        intent = Intent(
            methods=self._methods(verb) or _NO_VERB,
            deletes=not deleting.isdisjoint(words),
            is_bulk=not many.isdisjoint(words),
        )
        return intent, verb

    def _methods(self, verb: str) -> frozenset[str]:
        return frozenset(method for method in METHODS if verb in self._words.get(method, ()))
