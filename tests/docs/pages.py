"""What the pages of the repository hold, read with regular expressions that fit how they are written."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """The text below a heading, down to the next one of its level or a higher one."""
    level = heading.index(" ")
    _, _, rest = text.partition(f"{heading}\n")
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(text: str, language: str) -> list[str]:
    return [body for found, body in _FENCE.findall(text) if found == language]


def without_blocks(text: str) -> str:
    return _FENCE.sub("", text)


def rows(text: str) -> list[list[str]]:
    """The cells of every row of every table, without the rows that draw the lines."""
    lines = (line for line in text.splitlines() if line.startswith("|") and not re.fullmatch(r"[|\- ]+", line))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def codes(text: str) -> list[str]:
    """Everything that stands between single backticks outside of code blocks."""
    return re.findall(r"`([^`\n]+)`", without_blocks(text))


def links(text: str) -> list[str]:
    """The targets of the links that do not leave the repository."""
    return [target for target in _LINK.findall(without_blocks(text)) if "://" not in target]


def anchors(text: str) -> set[str]:
    """The fragments that the page's headings can be reached by."""
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in _HEADING.findall(without_blocks(text))
    }
