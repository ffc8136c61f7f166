"""Query -> ranked names, and cards (search.md). Pure: imports neither Django nor DRF."""
