"""A file that a command writes is the old one or the new one, whatever happens in between."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sezzlee_mcp.management.whole_files import write_whole
from tests.docs.pages import ROOT

OLD, NEW = "old\n", "new\n" * 50_000
# The kernel takes the first 64 KiB of any file: it answers like a full disk, or ends the process, in the middle.
WRITE = """
import resource, signal, sys
from pathlib import Path
from sezzlee_mcp.management.whole_files import write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
signal.signal(signal.SIGXFSZ, getattr(signal, sys.argv[2]))
write_whole(Path(sys.argv[1]), "new\\n" * 50_000)
"""


def interrupted(path: Path, how: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", WRITE, str(path), how], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "curation.json"
    path.write_text(OLD, encoding="utf-8")
    return path


def test_a_file_is_replaced(path: Path) -> None:
    write_whole(path, NEW)

    assert (path.read_text(encoding="utf-8"), os.listdir(path.parent)) == (NEW, [path.name])


def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(path: Path) -> None:
    ended = interrupted(path, "SIG_IGN")

    assert "OSError" in ended.stderr
    assert (path.read_text(encoding="utf-8"), os.listdir(path.parent)) == (OLD, [path.name])


def test_a_process_that_is_killed_leaves_the_old_file(path: Path) -> None:
    ended = interrupted(path, "SIG_DFL")

    assert (ended.returncode, path.read_text(encoding="utf-8")) == (-signal.SIGXFSZ, OLD)


def test_a_new_file_can_be_read_by_whom_the_process_lets(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new.json", NEW)
    finally:
        os.umask(before)

    assert (tmp_path / "new.json").stat().st_mode & 0o777 == 0o640


def test_a_replaced_file_is_read_by_whom_the_old_one_was(path: Path) -> None:
    path.chmod(0o604)

    write_whole(path, NEW)

    assert path.stat().st_mode & 0o777 == 0o604


def test_a_link_goes_on_leading_to_the_file(path: Path) -> None:
    link = path.with_name("link.json")
    link.symlink_to(path.name)

    write_whole(link, NEW)

    assert (link.is_symlink(), path.read_text(encoding="utf-8")) == (True, NEW)


def test_what_is_no_file_is_written_to() -> None:
    write_whole(Path(os.devnull), NEW)

    assert not Path(os.devnull).is_file()
