"""A host under load and faults: what must hold whatever goes wrong. ``python -m tests.soak.run --help``."""
