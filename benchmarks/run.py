"""Runs all benchmarks, each in a process of its own: ``python -m benchmarks.run``."""

import subprocess
import sys

BENCHMARKS = ("bench_quality", "bench_search", "bench_catalog", "bench_http")


def main() -> int:
    commands = ([sys.executable, "-m", f"benchmarks.{name}"] for name in BENCHMARKS)
    return max(subprocess.run(command, check=False).returncode for command in commands)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
