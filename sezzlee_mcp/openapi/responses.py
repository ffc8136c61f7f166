"""The documented answers (operations.md, "Responses, methods, the rest")."""

import re

from sezzlee_mcp.openapi.descriptors import Response
from sezzlee_mcp.openapi.findings import Findings, FirstOnly, kind
from sezzlee_mcp.openapi.media_types import essence, first_json
from sezzlee_mcp.openapi.normalize import Direction
from sezzlee_mcp.openapi.references import Located
from sezzlee_mcp.openapi.slots import Slots

_STATUS = re.compile(r"[1-5](\d\d|XX)|DEFAULT", re.ASCII)
_STREAMS = frozenset(
    {"text/event-stream", "application/jsonl", "application/x-jsonlines", "application/x-ndjson"}
    | {"application/ndjson", "application/json-seq"}
)


def lower_responses(operation: Located, slots: Slots, findings: Findings, once: FirstOnly) -> tuple[Response, ...]:
    """The answers in the document's order; ``once`` takes what is said once per document."""
    declared = operation.member("responses")
    if declared.value is not None and not isinstance(declared.value, dict):
        findings.add("operation_invalid", declared.at, reason=f"responses is {kind(declared.value)}, not an object")
    answers = {status: _answer(declared.member(status), status, slots, findings) for status in declared.mapping}
    known = {status: answer for status, answer in answers.items() if answer is not None}
    _refuse_streams(known, findings)
    for answer in known.values():
        if answer.member("links").mapping:
            once.add("links_ignored", answer.member("links").at)
    return tuple(_response(status, answer, slots, findings) for status, answer in known.items())


def _answer(declared: Located, status: str, slots: Slots, findings: Findings) -> Located | None:
    if status.startswith("x-"):
        return None
    if not _STATUS.fullmatch(status.upper()):
        findings.add("response_invalid", declared.at, reason=f"{status} is no status")
        return None
    answer = slots.references.follow(declared, findings)
    if answer is not None and not isinstance(answer.value, dict):
        findings.add("response_invalid", declared.at, reason=f"it is {kind(answer.value)}, not an object")
        return None
    return answer


def _refuse_streams(answers: dict[str, Located], findings: Findings) -> None:
    successes = [answer.member("content") for status, answer in answers.items() if status.startswith("2")]
    documented = [content for content in successes if content.mapping]
    if documented and all(essence(media_type) in _STREAMS for content in documented for media_type in content.mapping):
        findings.add("streaming_response_unsupported", documented[0].at, media_types=", ".join(documented[0].mapping))


def _response(status: str, answer: Located, slots: Slots, findings: Findings) -> Response:
    content = answer.member("content")
    described = first_json(content.mapping) or next(filter(_is_text, content.mapping), None)
    schema = content.member(described).member("schema") if described else None
    description = answer.value.get("description")
    return Response(
        status=status if status == "default" else status.upper(),
        schema=None
        if schema is None or schema.value is None
        else slots.read(schema, Direction.RESPONSE, findings).schema,
        description=description if isinstance(description, str) and description else None,
        media_types=tuple(content.mapping),
    )


def _is_text(media_type: str) -> bool:
    """Whether the answer's body is one that the schema describes: a text, or what the wildcard may turn out to be."""
    return media_type.startswith("text/") or media_type == "*/*"
