"""The audit hook: what code may not do while it runs, whichever way it got there; and what it may."""

# ruff: noqa: PTH101, PTH104, PTH123, PTH211, SIM115 - each way of doing it is what is tried
from __future__ import annotations

import os
import sqlite3
import subprocess
import threading
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import CodeRefused

# Functions of libraries that do the deed; what a rule about names would see is out of the way.
DEEDS = {
    "open w": lambda path: open(path, "w"),
    "open a": lambda path: open(path, "a"),
    "open x": lambda path: open(path, "x"),
    "open r+": lambda path: open(path, "r+"),
    "os.open": lambda path: os.open(path, os.O_CREAT | os.O_WRONLY),
    "write_text": lambda path: Path(path).write_text("x"),
    "mkdir": os.mkdir,
    "remove": os.remove,
    "rename": lambda path: os.rename(path, path + "x"),
    "symlink": lambda path: os.symlink("/", path),
    "truncate": lambda path: os.truncate(path, 0),
    "chmod": lambda path: os.chmod(path, 0o777),
    "tofile": lambda path: np.arange(3).tofile(path),
    "np.save": lambda path: np.save(path, np.arange(3)),
    "to_csv": lambda path: pd.DataFrame({"a": [1]}).to_csv(path),
    "sqlite3": sqlite3.connect,
    "Popen": lambda path: subprocess.run(["touch", path], check=False),
    "system": lambda path: os.system(f"touch {path}"),
    "fork": lambda path: os.fork(),
    "kill": lambda path: os.kill(os.getpid(), 0),
    "urlopen": lambda path: urllib.request.urlopen("http://127.0.0.1:9/", timeout=1),
    "connect": lambda path: __import__("socket").create_connection(("127.0.0.1", 9), timeout=1),
    "chdir": lambda path: os.chdir("/"),
    "putenv": lambda path: os.environ.__setitem__("AGENT_MAGIC_TEST", "1"),
    "settrace": lambda path: __import__("sys").settrace(None),
    "get_objects": lambda path: __import__("gc").get_objects(),
    "dlopen": lambda path: __import__("ctypes").CDLL(None),
    "input": lambda path: input(),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_audit_refuses(room, deed, tmp_path):
    path = tmp_path / "marker"
    room.functions["deed"] = lambda: DEEDS[deed](str(path))
    outcome = room.run("deed()")
    assert isinstance(outcome.error, CodeRefused)
    assert outcome.error.message.startswith("Code may not ")
    assert list(tmp_path.iterdir()) == []
    assert outcome.notes == ()


def test_audit_says_what_was_refused_and_what_to_do(room):
    room.functions["deed"] = lambda: open("report.csv", "w")
    lines = room.run("deed()").error.message.splitlines()
    assert lines[:2] == snapshot(
        [
            "Code may not write files: open('report.csv', 'w') was refused. Keep the result in a variable or give it with final_answer; to save it, call a tool that does.",
            "  line 1: `deed()`",
        ]
    )


def test_audit_tells_of_refusals_that_code_swallows(room):
    room.functions["deed"] = lambda: open("report.csv", "w")
    outcome = room.run("try:\n    deed()\nexcept Exception:\n    pass\n'went on'")
    assert outcome.value == "went on"
    assert outcome.notes == snapshot(
        (
            "Code may not write files: open('report.csv', 'w') was refused. Keep the result in a variable or give it with final_answer; to save it, call a tool that does.",
        )
    )


def test_audit_lets_code_read(room, tmp_path):
    path = tmp_path / "there.txt"
    path.write_text("kept")
    room.ns["PATH"] = str(path)
    assert room.run("with open(PATH) as f:\n    text = f.read()\ntext").value == "kept"


def test_audit_lets_code_use_a_database_in_memory(room):
    code = (
        "import sqlite3\nc = sqlite3.connect(':memory:')\nr = c.execute('select 1').fetchone()\nc.close()\nr"
    )
    assert room.run(code).value == (1,)


def test_audit_leaves_imports_alone(room, tmp_path, monkeypatch):
    (tmp_path / "writes_at_import.py").write_text(f"open({str(tmp_path / 'log')!r}, 'w').close()\nn = 5")
    monkeypatch.syspath_prepend(str(tmp_path))
    outcome = room.run("import writes_at_import\nwrites_at_import.n", imports=("writes_at_import",))
    assert outcome.value == 5


def test_audit_leaves_other_threads_alone(room, tmp_path):
    path = tmp_path / "other.txt"
    thread = threading.Timer(0.1, lambda: path.write_text("x"))
    thread.start()
    room.run("import time\ntime.sleep(0.3)")
    thread.join()
    assert path.exists()


def test_audit_is_off_when_the_code_is_over(room, tmp_path):
    room.run("def save(path):\n    open(path, 'w').close()")
    room.ns["save"](tmp_path / "kept")
    assert (tmp_path / "kept").exists()


def test_audit_holds_in_threads_of_the_code(room, tmp_path):
    room.functions["deed"] = lambda: open(tmp_path / "marker", "w")
    code = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as ex:\n    ex.submit(deed).result()"
    assert isinstance(room.run(code).error, CodeRefused)
