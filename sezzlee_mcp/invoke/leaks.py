"""What must not reach an agent in a message: the inside of the backend, and anything that opens it (results.md)."""

import re

FORWARDED_CHARS = 1_000  # a longer text from the backend is a dump, not a message

# Each expression is linear in the text: no repetition stands inside another, and one that may begin at many
# places of the text is bounded. Ordinary words beside them ("an error occurred", "see /orders/5/") must pass.
_PATTERNS = {
    "stack frame": (
        r"\bTraceback\b",
        r'\bFile "[^"\n]{1,300}", line \d',
        r"\bat [\w$<>`]{1,80}[.][\w$<>`.]{1,200}\(",
        r"\bat \S{0,200}\s?\([^()\s]{1,300}:\d{1,7}:\d{1,7}\)",
        r"[.](?:py|pyc|java|kt|cs|js|ts|rb|php|go):(?:line )?\d",
        r"\b(?:site|dist)-packages\b",
    ),
    "exception type": (
        r"\b[A-Z]\w{1,100}(?:Exception|DoesNotExist)\b",
        r"[.](?:DoesNotExist|MultipleObjectsReturned)\b",
        r"\b\w{1,80}[.](?:\w{1,80}[.])?[A-Z]\w{0,80}(?:Error|Exception|DoesNotExist|Warning)\b",
        r"\b(?:Arithmetic|Assertion|Attribute|BrokenPipe|Connection|Data|Database|EOF|Field|FileNotFound|IO|Import"
        r"|Index|Integrity|Interface|Internal|JSONDecode|Key|Lookup|Memory|ModuleNotFound|Name|NotImplemented"
        r"|NotSupported|OS|Operational|Overflow|Permission|Programming|Range|Recursion|Reference|Runtime|Syntax"
        r"|System|Timeout|Type|UnboundLocal|Unicode(?:Decode|Encode)|Value|ZeroDivision)Error\b",
        r"\b(?:psycopg2?|sqlite3|MySQLdb|pymysql|asyncpg|oracledb|cx_Oracle|sqlalchemy|django[.]db)[.]\w",
    ),
    "file path": (
        r"(?<![A-Za-z0-9])[A-Za-z]:\\",
        r"(?<![A-Za-z0-9])[A-Z]:/\w",
        r"\\\\[\w.$-]{1,80}\\\w",
        r"(?<![\w/])/(?:home|var|usr|opt|srv|app|src|etc|tmp|root)/[\w.~-]",
        r"(?i)\bfile:///",
    ),
    "database": (
        r"\bSELECT\s[^\n]{1,300}\sFROM\s",
        r"(?i)\bselect\s{1,5}(?:\*|count\()",
        r"\b(?:INSERT\s{1,5}INTO|DELETE\s{1,5}FROM|(?:CREATE|ALTER|DROP|TRUNCATE)\s{1,5}TABLE)\s",
        r"\bUPDATE\s[^\n]{1,300}\sSET\s",
        r"(?i)\bviolates [\w-]{1,20}(?: key)? constraint\b",
        r"(?i)\b(?:unique|not null|foreign key|check) constraint failed\b",
        r"(?i)\b(?:relation|column|table) [\"'`][^\"'`\n]{1,200}[\"'`] (?:does not|doesn't) exist\b",
        r"(?i)\bno such (?:table|column):",
        r"(?i)\bsyntax error at or near\b",
        r"(?i)\bduplicate entry '[^'\n]{0,300}' for key\b",
        r"(?i)\bnull value in column\b",
        r"\bKey \([^()\n]{1,200}\)=\(",
        r"\b(?:ORA-\d{5}|SQLSTATE)\b",
    ),
    "connection": (
        r"://[^\s/?#@]{1,300}@",
        r"(?i)\b(?:mongodb(?:\+srv)?|postgres(?:ql)?|mysql|redis|rediss|amqps?|mssql)://",
        r"(?i)\b(?:password|passwd|pwd|secret|api_?key|access_?key|secret_?key)\s{0,3}=\s{0,3}[^\s=]",
        r"(?i)\b(?:server|data source|host)\s{0,3}=[^;\n]{1,200};",
    ),
    "credential": (
        r"\b(?:Bearer|BEARER)\s{1,5}(?!(?:access|auth|challenge|credential|error|format|header|method|missing|prefix"
        r"|realm|required|scheme|token|type|value)|(?:and|but|can|for|has|may|must|not|should|was|will|with)\b)"
        r"[\w.~+/=-]{3}",
        r"(?i)\bbearer\s{1,5}[A-Za-z_~+/=-]{0,100}\d[\w.~+/=-]{5}",
        r"\beyJ[\w-]{6,4000}[.][\w-]{4}",
        r"(?i)\btoken[\s:='\"]{1,5}[\w-]{20}",
    ),
    "page": (r"(?i)<(?:!doctype\s|html[\s>])",),
}
_COMPILED = tuple(re.compile(pattern) for patterns in _PATTERNS.values() for pattern in patterns)


def tells_internals(text: str) -> bool:
    """Whether the text holds a stack frame, a path, a credential or another of the above."""
    return any(pattern.search(text) for pattern in _COMPILED)


def may_be_forwarded(text: str) -> bool:
    """Whether a text that the backend wrote may reach an agent."""
    return len(text) <= FORWARDED_CHARS and not tells_internals(text)
