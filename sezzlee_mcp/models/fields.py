import json
import zlib
from typing import Any

from django.db import models


def unpacked_bytes(packed: bytes) -> bytes:
    """The JSON text in what a ``PackedJSONField`` stores."""
    return zlib.decompress(packed)


class PackedJSONField(models.BinaryField):  # type: ignore[type-arg]
    """
    JSON, compressed, with its key order kept.

    Schemas of a large catalog are tens of megabytes of text, and agents read the order of arguments, which
    PostgreSQL's own JSON column forgets.
    """

    def get_prep_value(self, value: Any) -> bytes:
        return zlib.compress(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return None if value is None else json.loads(unpacked_bytes(value))  # None: an outer join found no row

    def value_to_string(self, obj: models.Model) -> Any:
        return self.value_from_object(obj)  # a fixture holds the JSON itself

    def to_python(self, value: Any) -> Any:
        return value
