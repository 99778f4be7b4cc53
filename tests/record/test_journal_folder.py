"""Where journals stand, what they are named, and which are deleted."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from record.journals import FINAL, make_agent, run_journaled

from agent_magic.record.journal_folder import (
    FIRST_LINE,
    create_file,
    is_in_use,
    list_journals,
    open_folder,
    own_folder,
    prune,
)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folder_beside_a_notebook_is_the_persons_alone_and_ignores_itself(tmp_path: Path) -> None:
    folder = open_folder(tmp_path)
    assert folder == tmp_path / ".agent_magic"
    assert _mode(folder) == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"
    assert open_folder(tmp_path) == folder
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, timeout=120)
    (folder / "a.jsonl").write_text("")
    told = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain", "-uall"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert ".agent_magic" not in told.stdout


def test_folder_of_nobodys_notebook_is_the_persons_own(tmp_path: Path) -> None:
    folder = open_folder(None)
    assert folder == own_folder() == tmp_path / "state" / "agent_magic" / "runs"
    assert _mode(folder) == 0o700


def test_link_out_of_the_notebooks_folder_is_not_followed(tmp_path: Path) -> None:
    outside, beside = tmp_path / "outside", tmp_path / "beside"
    outside.mkdir()
    beside.mkdir()
    (beside / ".agent_magic").symlink_to(outside)
    assert open_folder(beside) == own_folder()
    assert list(outside.iterdir()) == []


def test_gitignore_of_the_persons_stays(tmp_path: Path) -> None:
    (tmp_path / ".agent_magic").mkdir()
    (tmp_path / ".agent_magic" / ".gitignore").write_text("mine")
    open_folder(tmp_path)
    assert (tmp_path / ".agent_magic" / ".gitignore").read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["analyst", "../../etc/passwd", "a b/ç", "", ".", "-rf", "x" * 300, "a\x00b\n", "☀" * 50]
)
def test_file_is_named_by_safe_letters(tmp_path: Path, name: str) -> None:
    fd, path = create_file(tmp_path, name, f"{name}/..")
    os.close(fd)
    assert path.parent == tmp_path
    assert re.fullmatch(r"[A-Za-z0-9_.-]{1,80}", path.name)
    assert re.search(r"-\d{8}-\d{6}-.*\.jsonl$", path.name)
    assert _mode(path) == 0o600


def test_file_that_is_there_is_never_written(tmp_path: Path) -> None:
    made = [create_file(tmp_path, "a", "run_1") for _ in range(3)]
    assert len({path for _, path in made}) == 3
    for fd, _ in made:
        os.close(fd)


def test_oldest_journals_are_deleted_and_nothing_else(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / f"j{number}.jsonl"
        path.write_bytes(FIRST_LINE + b"x" * 1_000)
        os.utime(path, (number, number))
    foreign = tmp_path / "data.jsonl"
    foreign.write_text("x" * 5_000)
    os.utime(foreign, (0, 0))
    (tmp_path / "notes.txt").write_text("x" * 5_000)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "notes.txt")
    (tmp_path / "ö.jsonl").write_bytes(FIRST_LINE + b"x" * 5_000)
    prune(tmp_path, max_bytes=5_000 + 2 * (1_000 + len(FIRST_LINE)))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("data.jsonl", "j3.jsonl", "j4.jsonl", "link.jsonl", "notes.txt", "ö.jsonl")
    ]


def test_journal_of_a_living_process_is_not_deleted(tmp_path: Path) -> None:
    journal, _ = run_journaled(make_agent(FINAL(1)), "Count.", tmp_path)
    assert journal.path is not None
    assert is_in_use(journal.path)
    prune(journal.path.parent, max_bytes=0)
    assert journal.path.exists()
    path = journal.path
    del journal
    assert not is_in_use(path)
    prune(path.parent, max_bytes=0)
    assert not path.exists()


def test_journal_of_a_process_that_was_killed_is_not_in_use(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from agent_magic.record.journal import Journal; "
        "j = Journal.open(agent_name='a', run_id='r', beside=Path(sys.argv[1])); print(j.path, flush=True); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False, timeout=120
    )
    path = Path(done.stdout.strip())
    assert path.exists()
    assert not is_in_use(path)


def test_journals_are_listed_newest_first(tmp_path: Path) -> None:
    for name, age in (("a.jsonl", 3), ("b.jsonl", 9), ("c.jsonl", 5), ("d.txt", 10)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (age, age))
    assert [path.name for path in list_journals(tmp_path)] == ["b.jsonl", "c.jsonl", "a.jsonl"]
    assert list_journals(tmp_path / "nowhere") == []


def test_journal_works_where_no_thread_can_start(tmp_path: Path) -> None:
    code = (
        "import sys, threading; from pathlib import Path\n"
        "from agent_magic.record.journal import Journal\n"
        "j = Journal.open(agent_name='a', run_id='r', beside=Path(sys.argv[1]))\n"
        "print(j.warning, threading.active_count())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "None 1\n"
