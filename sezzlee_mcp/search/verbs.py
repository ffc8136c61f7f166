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
    *("adjust", "amend", "change", "configure", "correct", "customise", "customize", "decrease", "downgrade", "edit"),
    *("extend", "fix", "hide", "increase", "modify", "patch", "postpone", "prioritize", "raise", "reassign"),
    *("reconfigure", "relocate", "rename", "reorder", "replace", "reschedule", "resize", "revise", "set", "switch"),
    *("toggle", "unhide", "unpin", "update", "upgrade"),
)
# Without those that are nouns of many backends: an order, a report, a test.
_ACTING = (
    *("abort", "accept", "acknowledge", "add", "allocate", "analyse", "analyze", "announce", "approve", "ask"),
    *("attach", "authenticate", "authorize", "begin", "book", "buy", "calculate", "cancel", "comment", "compile"),
    *("compose", "compress", "compute", "confirm", "connect", "convert", "copy", "create", "decline", "decrypt"),
    *("deny", "deploy", "dismiss", "dispatch", "duplicate", "encrypt", "enqueue", "enrol", "enroll", "enter"),
    *("escalate", "establish", "execute", "extract", "follow", "fulfil", "fulfill", "generate", "hire"),
    *("impersonate", "import", "ingest", "initiate", "insert", "install", "invite", "invoke", "join", "kill"),
    *("launch", "link", "load", "logout", "make", "merge", "new", "note", "notify", "onboard", "open", "parse"),
    *("pause", "pay", "perform", "post", "predict", "print", "produce", "provision", "publish", "put", "react"),
    *("reboot", "receive", "redeem", "refund", "register", "reindex", "reject", "remind", "render", "renew", "rerun"),
    *("resend", "reserve", "restart", "resume", "retry", "return", "revert", "rollback", "rotate", "run", "save"),
    *("scan", "send", "setup", "ship", "sign", "signup", "simulate", "spawn", "split", "start", "stop", "submit"),
    *("subscribe", "sync", "synchronize", "tag", "take", "transfer", "transform", "translate", "trigger", "upload"),
    *("upvote", "validate", "verify", "withdraw", "write"),
)
# Some backends have an action for these, some a field that is changed.
_SWITCHING = (
    *("activate", "archive", "assign", "close", "complete", "deactivate", "demote", "disable", "enable", "finish"),
    *("lock", "mark", "move", "mute", "promote", "reopen", "reset", "resolve", "restore", "unarchive", "unlock"),
    *("unmute"),
)
_READING = (
    *("are", "browse", "can", "check", "compare", "count", "describe", "determine", "discover", "display", "does"),
    *("download", "enumerate", "examine", "explain", "export", "fetch", "find", "get", "how", "identify", "inspect"),
    *("is", "know", "list", "look", "lookup", "many", "much", "observe", "preview", "pull", "read", "retrieve"),
    *("search", "see", "show", "status", "tell", "view", "what", "when", "where", "which", "who", "whom", "whose"),
)
_DELETING = (
    *("clear", "delete", "deregister", "destroy", "detach", "discard", "disconnect", "drop", "erase", "purge"),
    *("remove", "revoke", "trash", "unassign", "unfollow", "uninstall", "unlink", "unregister", "unshare"),
    *("unsubscribe", "wipe"),
)
_MANY = ("all", "batch", "bulk", "every", "mass", "many", "multiple", "several", "together")
# The words that speak of a method, and those that ask for the form that takes many at once.
ENGLISH: Mapping[str, tuple[str, ...]] = {
    "GET": _READING,
    "POST": (*_ACTING, *_SWITCHING),
    "PUT": (*_CHANGING, *_SWITCHING),
    "PATCH": (*_CHANGING, *_SWITCHING),
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
