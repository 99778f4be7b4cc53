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
    "def mean_price(city: str) -> float: return float(len(city))",
    "c = ScriptedModel.calls(('mean_price', {'city': 'Oslo'}), ('mean_price', {'city': 'Bergen'}))",
    "m = ScriptedModel([c, ScriptedModel.final('done'), ScriptedModel.final('again')])",
]
CALL = r"Call mean_price\(city='{}'\)\? \[y\]es, \[n\]o, \[e\]dit(, \[a\]ll of this step)?: "


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
        """Type lines and wait for the next prompt; what was printed, on one line."""
        for line in text.split("\n"):
            self.child.sendline(line)
        return self.read()

    def read(self):
        self.child.expect(PROMPT)
        return " ".join(ANSI.sub("", self.child.before).split())


@pytest.fixture
def terminal(tmp_path):
    opened = Terminal(tmp_path)
    for line in SETUP:
        assert "Error" not in opened.type(line)
    opened.child.sendline("%%agent bot --model @m --tools mean_price --approve tools")
    opened.child.sendline("Compare.")
    opened.child.sendline("\n")
    opened.child.expect(CALL.format("Oslo"))
    yield opened
    opened.child.close(force=True)


def test_calls_are_answered_at_a_prompt_in_a_terminal(terminal):
    terminal.child.sendline("e")
    terminal.child.expect("Arguments as JSON")
    terminal.child.sendline('{"city": "Tromsø"}')
    terminal.child.expect(CALL.format("Bergen"))
    terminal.child.sendline("n")
    terminal.child.expect("Why")
    terminal.child.sendline("I know that one.")
    said = terminal.read()
    assert "bot · answered" in said
    told = terminal.type("[r.to_text() for r in bot.result.actions[0].tool_results]")
    assert '(the person changed the arguments to {"city": "Tromsø"})' in told
    assert "The person refused this call: I know that one." in told


def test_ctrl_c_at_the_prompt_in_a_terminal_stops_the_run_and_the_agent_goes_on(terminal):
    terminal.child.sendintr()
    assert "KeyboardInterrupt" in terminal.read()
    told = terminal.type("bot.result.status, [r.to_text() for r in bot.result.actions[0].tool_results]")
    assert "interrupted" in told
    assert told.count("The call was not run: the run was interrupted before it.") == 2
    assert "done" in terminal.type("%%agent bot\nGo on.\n\n")


def test_end_of_input_at_the_prompt_in_a_terminal_refuses_what_is_left(terminal):
    terminal.child.sendline("y")
    terminal.child.expect(CALL.format("Bergen"))
    terminal.child.sendeof()
    assert "bot · answered" in terminal.read()
    told = terminal.type("[r.to_text() for r in bot.result.actions[0].tool_results]")
    assert "'4.0'" in told
    assert "The person refused this call: Nobody answered." in told
