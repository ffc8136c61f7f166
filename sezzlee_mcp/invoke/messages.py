"""Every sentence that an agent reads about a call that failed, with the next step in a form a program can follow."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from sezzlee_mcp.errors import CallError, Continuation, FieldProblem

NAMES_LISTED = 20
NAME_CHARS = 100  # names that arrive are quoted; a longer one says nothing more
RESPONSE_TOO_LARGE = "response_too_large"
RETRYABLE = frozenset({"rate_limited", "backend_unavailable", "invoke_timeout", "search_ranker_unavailable"})

WITHHELD_FIELD = "The value was refused. The details were withheld because they describe the inside of the backend."
UNDESCRIBED_ARGUMENT = "Narrows the answer; the backend does not describe it."

# The code of a backend's answer -> its sentence, when the backend gave none that may be forwarded.
STANDARD = {
    "validation_failed": "The backend refused some arguments. Correct what fields lists and call again.",
    "bad_request": (
        "The backend refused the request ({status}) and gave no reason that can be shown. "
        "Compare the arguments with the tool's input schema."
    ),
    "unauthenticated": (
        "The backend did not accept who the caller is ({status}). The credentials of this connection "
        "were passed on as they are, so the same call will fail again."
    ),
    "forbidden": "The backend knows the caller and does not allow this operation for them ({status}).",
    "not_found": (
        "The backend found nothing for these arguments ({status}). The operation itself exists; check the identifiers."
    ),
    "conflict": (
        "The request does not fit the present state of the resource ({status}). "
        "Read the resource again before the next attempt."
    ),
    "rate_limited": "The backend is limiting this caller's calls ({status}). Wait before calling again.",
    "backend_error": "The backend failed on this call ({status}). The details were withheld.",
    "backend_unavailable": "The backend cannot answer at the moment ({status}). Call again later.",
}
_WITHHELD = "The call failed ({code}). The details were withheld because they describe the inside of the backend."

REVISE = Continuation(
    kind="revise_arguments", instruction="Correct the arguments as the message says and call invoke_tool again."
)
NARROW = Continuation(
    kind="revise_arguments", instruction="Call again with arguments that ask for less; fields lists those that do."
)
SIGN_IN = Continuation(
    kind="ask_user", instruction="Ask the user to connect again with credentials that the backend accepts."
)
GET_PERMISSION = Continuation(
    kind="ask_user", instruction="Tell the user that their account lacks the permission for this operation."
)
LOOK_FIRST = Continuation(
    kind="retry", instruction="Find out whether the operation took effect; repeat the call only if it did not."
)
GIVE_UP = Continuation(
    kind="give_up", instruction="Do not call this tool again; tell the user that it cannot be called."
)


def standard(
    code: str, *, status: int | None, reference: str | None = None, retry_after_seconds: int | None = None
) -> str:
    """The fixed sentence of ``code``; a code of our own, which has no status, gets one that says only the code."""
    sentence = STANDARD.get(code, _WITHHELD) if status is not None else _WITHHELD
    parts = [sentence.format(code=code, status=status)]
    if retry_after_seconds is not None:
        parts.append(f"It accepts the next call in {retry_after_seconds} seconds.")
    if reference is not None:
        parts.append(f"Reference: {reference}.")
    return " ".join(parts)


def next_step(code: str, *, retry_after_seconds: int | None = None) -> Continuation | None:
    """What to do after a failure with ``code``; None where nothing general can be said."""
    if code in RETRYABLE:
        instruction = "Repeat the same call later."
        return Continuation(kind="retry", instruction=instruction, after_seconds=retry_after_seconds)
    return {"validation_failed": REVISE, "unauthenticated": SIGN_IN, "forbidden": GET_PERMISSION}.get(code)


def next_page(tool: str, arguments: dict[str, Any], version: str | None) -> Continuation:
    """The call of a tool that asks for the page after the one that it answered; a pinned call stays pinned."""
    pinned = {} if version is None else {"version": version}
    return Continuation(
        kind="call_tool",
        tool="invoke_tool",
        arguments={"name": tool, "arguments": arguments, **pinned},
        instruction="This is one page of several. Make this call for the next one, if it is needed.",
    )


def unknown_argument(name: str, permitted: Sequence[str]) -> CallError:
    near = get_close_matches(clip(name), permitted, n=1)
    suggestion = f" Did you mean '{near[0]}'?" if near else ""
    message = f"This call takes no argument '{clip(name)}'.{suggestion} {_permitted(permitted)}"
    return CallError(code="unknown_argument", message=message, continuation=REVISE)


def _permitted(names: Sequence[str]) -> str:
    if not names:
        return "It takes no arguments at all."
    listed = ", ".join(names[:NAMES_LISTED])
    if len(names) > NAMES_LISTED:
        return f"The first {NAMES_LISTED} of its {len(names)} arguments: {listed}."
    return f"Its {len(names)} arguments: {listed}." if len(names) > 1 else f"Its one argument: {listed}."


def missing_path_parameter(name: str) -> CallError:
    message = f"Argument '{name}' is missing. It fills a place in the path, so the call cannot be made without it."
    return CallError(code="missing_path_parameter", message=message, continuation=REVISE)


def invalid_path_type(name: str, expected: str, arrived: str) -> CallError:
    message = f"Argument '{name}' fills a place in the path and must be {expected}, not {arrived}."
    return CallError(code="invalid_path_type", message=message, continuation=REVISE)


def unusable_path_value(name: str) -> CallError:
    message = f"Argument '{name}' fills a place in the path and must not be empty, '.' or '..'."
    return CallError(code="invalid_path_type", message=message, continuation=REVISE)


def misrouted_path_value(name: str) -> CallError:
    """
    The refusal of a value with which the path would lead to another route, or would be read as another value.

    A hidden argument has no name that an agent may read.
    """
    if not name:
        return deferred_value_invalid()
    message = (
        f"With this value of argument '{name}' the path no longer leads to the operation. Send the identifier alone."
    )
    return CallError(code="invalid_path_type", message=message, continuation=REVISE)


def invalid_type(name: str, expected: str, arrived: str) -> CallError:
    message = f"Argument '{name}' must be {expected}, not {arrived}."
    return CallError(code="invalid_type", message=message, continuation=REVISE)


def null_not_allowed(name: str) -> CallError:
    message = f"Argument '{name}' is null, which cannot be written there. Leave it out to send nothing."
    return CallError(code="null_not_allowed", message=message, continuation=REVISE)


def header_injection(name: str) -> CallError:
    message = f"Argument '{name}' is sent as a header and must not hold a line break or a NUL character."
    return CallError(code="header_injection", message=message, continuation=REVISE)


def argument_sent_twice(names: Sequence[str], name: str) -> CallError:
    message = f"{_quoted(names)} are names of one argument, of which a call takes one. Send '{name}' alone."
    return CallError(code="invalid_type", message=message, continuation=REVISE)


def missing_argument(name: str) -> CallError:
    message = f"Argument '{name}' is missing. The operation cannot be called without it."
    return CallError(code="invalid_type", message=message, continuation=REVISE)


def deferred_value_missing() -> CallError:
    message = (
        "This server has no value for something that the call needs and that no argument sets. "
        "No change of the arguments helps, nor does another attempt."
    )
    return CallError(code="deferred_value_missing", message=message, continuation=GIVE_UP)


def deferred_value_invalid() -> CallError:
    message = (
        "This server's own value for something that no argument sets cannot be sent. "
        "No change of the arguments helps, nor does another attempt."
    )
    return CallError(code="deferred_value_invalid", message=message, continuation=GIVE_UP)


def invalid_cookie_value(name: str) -> CallError:
    message = (
        f"Argument '{name}' is sent as a cookie just as it is. It must be plain ASCII without blanks, quotes, "
        "commas, semicolons and backslashes."
    )
    return CallError(code="invalid_cookie_value", message=message, continuation=REVISE)


def cookie_carrier_collision(name: str) -> CallError:
    message = f"Argument '{name}' is sent as a cookie that this connection already sends. Leave it out."
    return CallError(code="cookie_carrier_collision", message=message, continuation=REVISE)


def header_carrier_collision(name: str) -> CallError:
    message = f"Argument '{name}' is sent as a header that this connection already sends. Leave it out."
    return CallError(code="header_carrier_collision", message=message, continuation=REVISE)


def invalid_form_type(name: str, expected: str, arrived: str) -> CallError:
    """The refusal of a value that JSON could carry, in a call that has to be a form because it supplies a file."""
    if arrived == "null":
        return null_not_allowed(name)
    message = (
        f"Argument '{name}' must be {expected}, not {arrived}, in a call that supplies a file: such a call is sent as "
        "a form, which cannot hold all that JSON can. Change it, or make one call without the file."
    )
    return CallError(code="invalid_type", message=message, continuation=REVISE)


def boolean_needed(name: str) -> CallError:
    message = (
        f"Argument '{name}' is missing. A call that supplies a file is sent as a form, in which the backend would read "
        "it as false. Send true or false."
    )
    return CallError(code="invalid_type", message=message, continuation=REVISE)


def invalid_file_argument(name: str, problem: str, sources: Sequence[str]) -> CallError:
    """``problem`` is the end of a sentence that begins with the argument; only the ``sources`` offered are named."""
    message = (
        f"Argument '{name}' must be a file, but {problem}. Send an object with exactly one of {_listed(sources)}, and "
        "optionally name and mediaType."
    )
    return CallError(code="invalid_file_argument", message=message, continuation=REVISE)


def inline_files_too_large(size_bytes: int, limit_bytes: int, sources: Sequence[str]) -> CallError:
    advice = "Send a ref instead." if "ref" in sources else "Send smaller files."
    message = f"The files in base64 have {size_bytes} bytes together, over the limit of {limit_bytes} a call. {advice}"
    return CallError(code="file_too_large", message=message, continuation=REVISE)


def file_too_large(name: str, limit_bytes: int) -> CallError:
    message = f"The file of argument '{name}' is over the limit of {limit_bytes} bytes and was not sent."
    return CallError(code="file_too_large", message=message, continuation=REVISE)


def file_unresolved(name: str) -> CallError:
    message = f"The ref of argument '{name}' leads to no file. The same ref will not lead to one later."
    return CallError(code="file_unresolved", message=message, continuation=REVISE)


def file_unavailable(name: str) -> CallError:
    message = f"The ref of argument '{name}' cannot be followed at the moment. Repeat the same call later."
    return CallError(
        code="file_unresolved",
        message=message,
        retryable=True,
        continuation=Continuation(kind="retry", instruction="Repeat the same call later."),
    )


def _quoted(names: Sequence[str]) -> str:
    return _listed([f"'{name}'" for name in names])


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def unknown_tool(name: str) -> CallError:
    words = " ".join(re.findall(r"[^\W_]+", clip(name)))
    return CallError(
        code="unknown_tool",
        message=f"There is no tool '{clip(name)}'. Use search_tools to find the exact name.",
        continuation=Continuation(
            kind="call_tool",
            tool="search_tools",
            arguments={"query": words},
            instruction="Search for the tool and use a name from the results.",
        ),
    )


def tool_changed(name: str) -> CallError:
    return CallError(
        code="tool_changed",
        message=(
            f"The tool '{name}' is not the one whose version was given, so nothing was sent to the backend. "
            "Load it again and use the version that comes with it."
        ),
        continuation=Continuation(
            kind="call_tool",
            tool="load_tool",
            arguments={"name": name},
            instruction="Load the tool again, check the arguments against it, and call it with its new version.",
        ),
    )


def other_release(name: str) -> CallError:
    """The tool is what was loaded, but not the code behind it; loading it again would show the same version."""
    return CallError(
        code="tool_changed",
        message=(
            f"The version of '{name}' is current, but this server runs another release of the API than the one it was "
            "made from, so nothing was sent to the backend. That is so while a release is rolled out."
        ),
        continuation=Continuation(
            kind="revise_arguments",
            tool="invoke_tool",
            instruction=(
                "Repeat the call in a minute. If it cannot wait, leave version out: the operation is then called as "
                "this server knows it."
            ),
        ),
    )


def not_invocable(name: str) -> CallError:
    message = f"The tool '{name}' cannot be called: this server has no route for its operation."
    return CallError(code="not_invocable", message=message, continuation=GIVE_UP)


def response_too_large(
    size_bytes: int,
    limit_bytes: int,
    shape: dict[str, Any],
    narrowing: tuple[FieldProblem, ...],
    *,
    is_cut: bool = False,
) -> CallError:
    """The refusal of an answer over its budget; with ``is_cut`` the size is what was read before reading stopped."""
    size = f"at least {size_bytes}" if is_cut else f"{size_bytes}"
    names = ", ".join(field.name for field in narrowing if field.name)
    advice = f"Narrow it and call again: {names}." if names else "No argument of this call makes it smaller."
    return CallError(
        code=RESPONSE_TOO_LARGE,
        message=(
            f"The answer has {size} bytes, over the limit of {limit_bytes}. It was refused whole, so nothing of it "
            f"is shown. {_SHAPES[shape['kind']].format(**_counted(shape))} {advice}"
        ),
        fields=narrowing,
        payload={"bytes": size_bytes, "limit": limit_bytes, "shape": shape},
        continuation=NARROW if names else None,
    )


_SHAPES = {
    "array": "Its body is an array{items}.",
    "object": "Its body is an object{members}.",
    "text": "Its body is text{characters}.",
}


def _counted(shape: dict[str, Any]) -> dict[str, str]:
    count = shape.get("count")
    units = ("items", "members", "characters")
    return {unit: "" if count is None else f" of {count} {unit}" for unit in units}


def invoke_timeout(seconds: float) -> CallError:
    """The answer once nobody waits any longer for a call that may still run."""
    message = (
        f"The backend did not answer within {_milliseconds(seconds)} and the call was given up. The operation may have "
        "been applied all the same: read what it would have changed before you repeat the call."
    )
    return CallError(code="invoke_timeout", message=message, retryable=True, continuation=LOOK_FIRST)


def invoke_not_started(seconds: float) -> CallError:
    """The answer to a call that was never sent, since this process was too busy."""
    message = (
        f"The call was not started within {_milliseconds(seconds)}, since this server is busy with others. Nothing was "
        "sent to the backend. Repeat the same call later."
    )
    return CallError(code="invoke_timeout", message=message, retryable=True, continuation=next_step("invoke_timeout"))


def _milliseconds(seconds: float) -> str:
    return f"{round(seconds * 1000)} ms"


def search_ranker_unavailable() -> CallError:
    message = "The search could not rank the tools at the moment. Repeat the same call later."
    return CallError(
        code="search_ranker_unavailable",
        message=message,
        retryable=True,
        continuation=next_step("search_ranker_unavailable"),
    )


def unwritable_answer() -> CallError:
    message = "The backend's answer is nested too deeply to be passed on. Nothing about the arguments has to change."
    return CallError(code="internal_error", message=message)


def internal_error() -> CallError:
    message = "The call failed inside this server, not in the backend. The details were written to the server's log."
    return CallError(code="internal_error", message=message)


def clip(name: str) -> str:
    """A name that arrived, short enough to be quoted in a message."""
    return name if len(name) <= NAME_CHARS else f"{name[:NAME_CHARS]}…"
