"""subscriptions/listen -> what is heard, and the frames of the stream that tells it (protocol.md, section 6.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.errors import ProtocolError
from sezzlee_mcp.protocol.exchange import Reply, encode, error_reply
from sezzlee_mcp.protocol.headers import require_event_stream
from sezzlee_mcp.protocol.jsonrpc import Code, Request, RequestId, invalid_params

STREAM_HEADERS: Mapping[str, str] = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",  # nginx would collect the frames
}
KEEP_ALIVE = b": keep-alive\n\n"  # a comment, which every reader of event streams passes over

_TOOLS = "toolsListChanged"
_SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """
    The event stream that answers a request, held open by the shell.

    Its frames are one ``acknowledged``, then ``changed`` as often as the tools change, then ``ended`` when it is the
    server that ends the stream. KEEP_ALIVE may stand between any two of them.
    """

    id: RequestId
    notifications: Mapping[str, bool]
    meta: Mapping[str, Any]

    def acknowledged(self) -> bytes:
        params = {"notifications": self.notifications, "_meta": self._own_meta}
        return _frame({"method": "notifications/subscriptions/acknowledged", "params": params})

    def changed(self) -> bytes:
        return _frame({"method": "notifications/tools/list_changed", "params": {"_meta": self._own_meta}})

    def ended(self) -> bytes:
        result = {"resultType": "complete", "_meta": {**self._own_meta, **self.meta}}
        return _frame({"id": self.id, "result": result})

    def refused(self) -> Reply:
        """The reply in place of the stream when too many are open; decided before its first byte."""
        message = "Subscription limit reached: this server holds no more event streams open. Ask again later."
        return error_reply(ProtocolError(code=Code.INTERNAL_ERROR, message=message, http_status=500), self.id)

    @property
    def _own_meta(self) -> dict[str, Any]:
        return {_SUBSCRIPTION_ID: self.id}


def subscribe(request: Request, headers: Mapping[str, str], meta: Mapping[str, Any]) -> Subscription | Reply:
    """
    The stream that ``request`` asks for; a whole reply when nothing that it asks for ever happens here.

    ``meta`` is that of the result. ProtocolError 406 without event streams in ``Accept``, -32602 for
    ``notifications`` that cannot be read; kinds that this server does not know are left out of the acknowledgement.
    """
    require_event_stream(headers)
    asked = request.params.get("notifications")
    if not isinstance(asked, dict):
        raise invalid_params(f'notifications must be an object, such as {{"{_TOOLS}": true}}')
    wants_tools = asked.get(_TOOLS, False)
    if not isinstance(wants_tools, bool):
        raise invalid_params(f"notifications.{_TOOLS} must be true or false")
    subscription = Subscription(id=request.id, notifications={_TOOLS: True} if wants_tools else {}, meta=meta)
    if subscription.notifications:
        return subscription
    return Reply(status=200, headers=STREAM_HEADERS, body=subscription.acknowledged() + subscription.ended())


def _frame(message: Mapping[str, Any]) -> bytes:
    return b"event: message\ndata: " + encode({"jsonrpc": "2.0", **message}) + b"\n\n"
