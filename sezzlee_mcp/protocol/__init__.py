"""Bytes and headers -> JSON-RPC -> reply (protocol.md). Pure: imports neither Django nor DRF."""
