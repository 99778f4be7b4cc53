from __future__ import annotations

import re
import sys

import pexpect
import pytest

PROMPT = r"In \[\d+\]: "
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SETUP = [
    "%load_ext agent_magic",
    "from agent_magic import ScriptedModel",
    "import time",
    "def shout(word: str) -> str: print('shouting'); return word.upper()",
    "def wait_long(n: int) -> str: time.sleep(n); return 'done'",
    "m = ScriptedModel([ScriptedModel.calls(('shout', {'word': 'ahoy'})), ScriptedModel.final('AHOY it is')])",
    "w = ScriptedModel([ScriptedModel.calls(('wait_long', {'n': 60})), ScriptedModel.final('again')])",
]


class Terminal:
    """IPython in a terminal of its own."""

    def __init__(self, folder):
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit", "--colors=nocolor"],
            cwd=str(folder),
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 120),
        )
        self.child.expect(PROMPT)

    def type(self, text):
        """Type lines and wait for the next prompt; what was printed, as it looks."""
        for line in text.split("\n"):
            self.child.sendline(line)
        return self.read()

    def read(self):
        self.child.expect(PROMPT)
        return ANSI.sub("", self.child.before).replace("\r\n", "\n")


@pytest.fixture
def terminal(tmp_path):
    opened = Terminal(tmp_path)
    for line in SETUP:
        assert "Error" not in opened.type(line)
    yield opened
    opened.child.close(force=True)


def test_run_is_told_as_text_in_a_terminal(terminal):
    said = terminal.type("%%agent crier --model @m --tools shout --as answer\nShout ahoy.\n\n")
    assert 'shout(word="ahoy") → AHOY' in said
    assert "Answer\n    AHOY it is" in said
    assert "'AHOY it is'" in terminal.type("answer")
    assert said.count("crier · answered") == 1
    assert "<details" not in said


def test_ctrl_c_in_a_terminal_stops_the_run_and_the_agent_goes_on(terminal):
    terminal.child.sendline("%%agent waiter --model @w --tools wait_long")
    terminal.child.sendline("Wait.")
    terminal.child.sendline("\n")
    terminal.child.expect("wait_long")
    terminal.child.expect(r"calling|running|wait_long\(")
    terminal.child.sendintr()
    stopped = terminal.read()
    assert "KeyboardInterrupt" in stopped
    assert "interrupted" in terminal.type("waiter.result.status")
    assert "again" in terminal.type("%%agent waiter\nGo on.\n\n")
