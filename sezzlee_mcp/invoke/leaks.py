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
        r"(?i)\bat 0x[0-9a-f]{6}",
    ),
    "exception type": (
        r"\b[A-Z]\w{1,100}(?:Exception|DoesNotExist)\b",
        r"[.](?:DoesNotExist|MultipleObjectsReturned)\b",
        r"\b\w{1,80}[.](?:\w{1,80}[.])?[A-Z]\w{0,80}(?:Error|Exception|DoesNotExist|Warning)\b",
        r"\b(?:Arithmetic|Assertion|Attribute|BrokenPipe|Connection|Data|Database|EOF|Field|FileNotFound|IO|Import"
        r"|Index|Integrity|Interface|Internal|JSONDecode|Key|Lookup|Memory|ModuleNotFound|Name|NotImplemented"
        r"|NotSupported|OS|Operational|Overflow|Permission|Programming|Range|Recursion|Reference|Runtime|Syntax"
        r"|System|Timeout|Type|UnboundLocal|Unicode(?:Decode|Encode)|Value|ZeroDivision)Error\b",
        r"\b[A-Z]\w{1,80}(?:Error|Exception)\((?:['\"({\[]|\))",
        r"\b(?:psycopg2?|sqlite3|MySQLdb|pymysql|asyncpg|oracledb|cx_Oracle|sqlalchemy|django[.]db)[.]\w",
        r"\b(?:django|rest_framework)[.][a-z_]{1,80}[.]\w",
        r"\b\d{1,4} sub-exceptions?\)",
    ),
    # what str() gives of an exception of Python, Django or DRF that no code was meant to show
    "exception text": (
        r"\[Errno -?\d",
        r"\bError \d{1,3} connecting to \S",
        r"<urlopen error\b",
        r"\bConnectionPool\(host=",
        r"\bobject has no attribute '",
        r"\bmissing \d{1,3} required (?:positional|keyword-only) argument",
        r"\btakes \d{1,3} positional argument",
        r"\bunsupported operand type\(s\)",
        r"\bname '\w{1,80}' is not defined\b",
        r"\bNo module named '",
        r"\bcodec can't (?:de|en)code\b",
        r"\bunhashable type: '",
        r"\bis not JSON serializable\b",
        r"\bmaximum recursion depth exceeded\b",
        r"\breturned non-zero exit status\b",
        r"\bErrorDetail\(string=",
        r"`[.]\w{1,80}\(\)`",
        r"\bis not valid for model `",
        r"\bCould not resolve URL for hyperlinked\b",
        r"\bCannot resolve keyword '",
        r"\bUnsupported lookup '",
        r"\bhas no field named '",
        r"\bmust be an? \"\w{1,80}\" instance\b",
        r"\bsave\(\) prohibited\b",
        r"\bassignment to the \w{1,10} side of a\b",
        r"\bis not a registered namespace\b",
        r"\bReverse for '[^'\n]{1,200}' not found\b",
        r"\b(?:ALLOWED_HOSTS|SECRET_KEY|DJANGO_SETTINGS_MODULE)\b",
        r"\bthe end of the 'atomic' block\b",
    ),
    "file path": (
        r"(?<![A-Za-z0-9])[A-Za-z]:\\",
        r"(?<![A-Za-z0-9])[A-Z]:/\w",
        r"\\\\[\w.$-]{1,80}\\\w",
        r"(?<![\w/])/(?:home|var|usr|opt|srv|app|src|etc|tmp|root|proc)/[\w.~-]",
        r"(?<![\w/])/Users/[\w.-]{1,100}/",
        r"/[\w-]{1,100}[.]py\b",
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
        r"(?i)\b(?:relation|table) [\"'`]?\w{1,60}_\w{1,60}[\"'`]? already exists\b",
        r"(?i)\btable \w{1,80} has no column named\b",
        r"\bfunction [\w.]{1,80}\([^()\n]{0,200}\) does not exist\b",
        r"(?i)\bno such (?:table|column|function):",
        r"(?i)\bsyntax error at or near\b",
        r"\bnear \"[^\"\n]{0,200}\": syntax error\b",
        r"\berror in your SQL syntax\b",
        r"(?m)^LINE \d{1,6}: ",
        r"(?m)^(?:DETAIL|HINT|CONTEXT|QUERY):  ",
        r"\b(?:FATAL|PANIC):  ",
        r"\bconnection to server (?:at|on) ",
        r"\bserver closed the connection unexpectedly\b",
        r"\bfailed to resolve host '",
        r"\binvalid connection option\b",
        r"\b(?:terminating connection|canceling statement) due to\b",
        r"\bcurrent transaction is aborted\b",
        r"\bcould not serialize access\b",
        r"(?i)\bdeadlock (?:detected|found)\b",
        r"\bpermission denied for (?:table|schema|sequence|relation|database|view|function) \w",
        r"\bvalue too long for type\b",
        r"\binvalid input syntax for\b",
        r"\bnumeric field overflow\b",
        r"\b(?:unable to open database file|database is locked|readonly database)\b",
        r"\(\d{4}, [\"']",  # how MySQL's errors are written, number first
        r"\ba foreign key constraint fails\b",
        r"\bCONSTRAINT `[^`\n]{1,200}` failed\b",
        r"\bUnknown column '[^'\n]{1,200}' in '",
        r"\b(?:Data too long|Out of range value) for column '",
        r"\bIncorrect \w{1,20} value: '",
        r"\bAccess denied for user '[^'\n]{0,200}'@",
        r"\bMySQL server\b",
        r"\bLock wait timeout exceeded\b",
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
        # A run of 20 is a token where no word is written so: with a digit in it, in mixed case, after "Token" itself.
        r"(?i:\btoken)[\s:='\"]{1,5}(?=[A-Za-z_-]{0,100}(?:\d|[a-z][A-Z]))[A-Za-z0-9_-]{20}",
        r"\bToken\s[a-z0-9_-]{20}",
        r"\bBasic\s{1,5}(?=[A-Za-z+/]{0,200}[\d=])[A-Za-z0-9+/=]{8}",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----",
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
        r"\b(?:gh[opsur]_|xox[abprs]-|sk[_-](?:live|test|proj|ant)[_-])[A-Za-z0-9-]{8}",
        r"(?i)\b(?:sessionid|csrftoken)=\w{8}",
        r"\b(?:pbkdf2_sha\d{1,3}|bcrypt(?:_sha256)?|scrypt|argon2)\$\S",
        r"\bdjango-insecure-\S",
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
