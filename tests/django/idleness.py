from sezzlee_mcp.workers import Workers


def wait_until_idle(workers: Workers) -> None:
    """Return once no thread is at work, so that what a test left running does not meet the next."""
    with workers._changed:
        assert workers._changed.wait_for(lambda: workers._busy == 0, timeout=30)
