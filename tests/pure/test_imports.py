import subprocess
import sys

PURE_MODULES = [
    "sezzlee_mcp.canonical",
    "sezzlee_mcp.diagnostics",
    "sezzlee_mcp.errors",
    "sezzlee_mcp.folding",
    "sezzlee_mcp.openapi.lower",
    "sezzlee_mcp.catalog.compile",
    "sezzlee_mcp.catalog.visibility",
    "sezzlee_mcp.search",
    "sezzlee_mcp.invoke.compose",
    "sezzlee_mcp.invoke.outcomes",
    "sezzlee_mcp.invoke.envelope",
    "sezzlee_mcp.protocol.server",
]


def test_the_pure_packages_load_neither_django_nor_drf():
    program = (
        f"import sys, {', '.join(PURE_MODULES)}\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(roots & {'django', 'rest_framework', 'drf_spectacular', 'asgiref'}))"
    )

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)  # noqa: S603

    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")
