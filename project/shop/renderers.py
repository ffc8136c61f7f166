import csv
import io
import json
from typing import Any

from rest_framework.renderers import BaseRenderer


class DocumentRenderer(BaseRenderer):
    """Renders a document that is not JSON, and errors as JSON: nobody looks for an error inside a PDF."""

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        response = renderer_context["response"]
        if response.status_code >= 400:
            response["Content-Type"] = "application/json"
            return json.dumps(data).encode()
        return self.render_document(data)

    def render_document(self, data: Any) -> bytes:
        raise NotImplementedError


class CsvRenderer(DocumentRenderer):
    media_type = "text/csv"
    format = "csv"

    def render_document(self, data: list[list[Any]]) -> bytes:
        text = io.StringIO()
        csv.writer(text).writerows(data)
        return text.getvalue().encode()


class PdfRenderer(DocumentRenderer):
    media_type = "application/pdf"
    format = "pdf"
    charset = None
    render_style = "binary"

    def render_document(self, data: bytes) -> bytes:
        return data
