from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.notebook.commands import LINE_COMMANDS, Command, parse_command


def error_of(line: str) -> str:
    with pytest.raises(OptionError) as caught:
        parse_command(line)
    return caught.value.message


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("", Command(name="help")),
        ("  \r", Command(name="help")),
        ("list", Command(name="list")),
        ("steps analyst\r", Command(name="steps", agent="analyst")),
        ("reset @analyst", Command(name="reset", agent="analyst")),
    ],
)
def test_command_and_its_arguments(line, command):
    assert parse_command(line) == command


def test_unknown_command_is_told_with_the_nearest():
    assert error_of("lst") == snapshot("""\
%agent: unknown command 'lst'. Nearest: list. Commands: list, tools, preview, steps, blame, resume, retry, reset, models, help.
To give an agent a task, write %%agent NAME (two %) with the task on the lines below.\
""")


def test_task_on_a_command_line_is_told_where_to_go():
    assert error_of("analyst how much?") == snapshot("""\
%agent: unknown command 'analyst'. Commands: list, tools, preview, steps, blame, resume, retry, reset, models, help.
To give an agent a task, write %%agent NAME (two %) with the task on the lines below.\
""")


def test_command_with_too_many_words_is_told():
    assert error_of("models all") == snapshot(
        "%agent models: 'all' is one word too many. Write %agent models."
    )
    assert error_of("steps a b") == snapshot(
        "%agent steps: 'b' is one word too many. Write %agent steps [NAME]."
    )
