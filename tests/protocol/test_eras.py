"""protocol.md, section 2: which era serves a request."""

import pytest

from sezzlee_mcp.protocol.eras import Era, era_of
from sezzlee_mcp.protocol.jsonrpc import Request
from tests.protocol.exchanges import JSON_HEADERS, MODERN, VERSION, ask, legacy, meta, modern, outcome, post

CLAIMS = ["2026-07-28", "2025-11-25", "2031-01-01", "", None, 3, {}]
LEGACY_HEADERS = [None, "2025-11-25", "2025-06-18", "2025-03-26"]
OTHER_HEADERS = ["2026-07-28", "2031-01-01", "2024-11-05", "garbage", "", "2025-11-25,2025-11-25"]


def request(params):
    return Request(id=1, method="tools/list", params=params)


@pytest.mark.parametrize("version", [*LEGACY_HEADERS, *OTHER_HEADERS])
@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_in_the_body_makes_a_request_modern_whatever_its_header(claim, version):
    assert era_of(request({"_meta": {VERSION: claim}}), version) is Era.MODERN


@pytest.mark.parametrize("params", [{}, {"_meta": None}, {"_meta": []}, {"_meta": VERSION}, {"_meta": {"other": 1}}])
@pytest.mark.parametrize("version", LEGACY_HEADERS)
def test_request_without_claim_is_legacy_with_a_legacy_header_or_none(version, params):
    assert era_of(request(params), version) is Era.LEGACY


@pytest.mark.parametrize("version", OTHER_HEADERS)
def test_request_without_claim_is_modern_with_any_other_header(version):
    assert era_of(request({}), version) is Era.MODERN


@pytest.mark.parametrize(
    ("inbound", "expected"),
    [
        (legacy("tools/list", version=None), (200, None, 4)),
        (legacy("tools/list", version=" 2025-11-25 "), (200, None, 4)),
        (legacy("tools/list", version=MODERN), (400, -32602, 4)),
        (legacy("tools/list", version="2031-01-01"), (400, -32602, 4)),
        (legacy("tools/list", version="2024-11-05"), (400, -32602, 4)),
        (legacy("initialize", version=None, protocolVersion="2025-06-18"), (200, None, 4)),
        (legacy("initialize", version="2025-11-25", protocolVersion="2025-06-18"), (200, None, 4)),
        (legacy("initialize", version=MODERN, protocolVersion=MODERN), (400, -32602, 4)),
        (modern("initialize", protocolVersion=MODERN), (404, -32601, "m-1")),
        (post({"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": {"_meta": meta()}}), (400, -32020, 8)),
        (
            modern("tools/list", _meta=meta(**{VERSION: "2025-11-25"}), headers={"mcp-protocol-version": "2025-11-25"}),
            (400, -32022, "m-1"),
        ),
        (
            post(
                {"jsonrpc": "2.0", "id": 8, "method": "ping", "params": {"_meta": {"progressToken": 1}}},
                headers=JSON_HEADERS,
            ),
            (200, None, 8),
        ),
    ],
)
def test_era_decides_status_and_code(inbound, expected):
    assert outcome(ask(inbound)) == expected
