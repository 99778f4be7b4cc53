from __future__ import annotations

import subprocess
import sys

import pytest

from agent_magic.__main__ import main
from agent_magic.core.version import __version__


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agent_magic", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_main_says_its_version():
    done = _run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


def test_main_names_its_commands_when_one_is_unknown():
    done = _run("qickstart")
    assert done.returncode == 2
    assert "quickstart" in done.stderr.splitlines()[-1]
    assert "download" in done.stderr.splitlines()[-1]


def test_main_ends_with_1_and_one_clear_text_when_a_command_fails(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("AGENT_MAGIC_CACHE", str(tmp_path))
    assert main(["download", "--from", str(tmp_path / "missing.whl")]) == 1
    said = capsys.readouterr()
    assert "missing.whl" in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize("arguments", [(), ("quickstart",)])
def test_main_puts_the_quickstart_first(arguments):
    from agent_magic.__main__ import _parser, _quickstart

    assert _parser().parse_args(arguments).command is _quickstart
