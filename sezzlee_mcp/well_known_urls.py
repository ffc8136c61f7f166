"""The metadata for signing in, at its well-known address; for the root of a project that serves the endpoint below."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from sezzlee_mcp.signin import WELL_KNOWN, ResourceMetadataView, is_resource_path


class ResourcePathConverter(StringConverter):
    """The endpoint's path, or nothing. Any other is not ours: the project may serve metadata of its own there."""

    regex = r"(?:/.*)?"

    def to_python(self, value: str) -> str:
        if not is_resource_path(value):
            raise ValueError
        return value


register_converter(ResourcePathConverter, "sezzlee_mcp_resource")

urlpatterns = [
    path(
        f"{WELL_KNOWN.removeprefix('/')}<sezzlee_mcp_resource:path>",
        ResourceMetadataView.as_view(),
        name="resource_metadata",
    ),
]
