from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


class PlainTextParser(BaseParser):
    media_type = "text/plain"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> str:
        encoding = (parser_context or {}).get("encoding") or settings.DEFAULT_CHARSET
        try:
            return stream.read().decode(encoding)
        except (LookupError, UnicodeDecodeError) as error:
            raise ParseError(f"The text cannot be read as {encoding}.") from error
