"""Descriptors + curation -> tools (tools.md). Pure: imports neither Django nor DRF."""
