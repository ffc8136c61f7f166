"""OpenAPI document -> descriptors and diagnostics (operations.md). Pure: imports neither Django nor DRF."""
