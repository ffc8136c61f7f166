"""One folding for all that is compared without regard to case and accents: tokens, tags, search terms."""

import unicodedata


def fold(text: str) -> str:
    """
    ``text`` without case and accents (search.md, "Tokens", step 3).

    No language's own tables: the dotless i stays itself and the sharp s is not spelled out.
    """
    if text.isascii():
        return text.lower()
    bare = "".join(char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")
    return unicodedata.normalize("NFC", bare.lower().replace("ς", "σ"))
