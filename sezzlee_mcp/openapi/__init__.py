"""OpenAPI document -> descriptors and diagnostics (operations.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.openapi.bodies import BodyRequired
from sezzlee_mcp.openapi.descriptors import (
    ENDPOINT_KEY,
    EXTENSION_KEY,
    AuthFacts,
    Body,
    Descriptor,
    Endpoint,
    Outline,
    Parameter,
    Response,
)
from sezzlee_mcp.openapi.lower import Lowered, lower

__all__ = [
    "ENDPOINT_KEY",
    "EXTENSION_KEY",
    "AuthFacts",
    "Body",
    "BodyRequired",
    "Descriptor",
    "Endpoint",
    "Lowered",
    "Outline",
    "Parameter",
    "Response",
    "lower",
]
