"""Arguments -> request, answer -> envelope (invoke.md, results.md). Pure: imports neither Django nor DRF."""
