"""How generated cases are run everywhere: a busy machine is slow to make them, and that says nothing of the code."""

from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
