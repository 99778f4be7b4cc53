from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.notebook.options.commands import Command, parse_command


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
%agent: unknown command 'lst'. Nearest: list. Commands: list, tools, preview, steps, undo, blame, resume, retry, reset, models, doctor, help.
To give an agent a task, write %%agent NAME (two %) with the task on the lines below.\
""")


def test_task_on_a_command_line_is_told_where_to_go():
    assert error_of("analyst how much?") == snapshot("""\
%agent: unknown command 'analyst'. Commands: list, tools, preview, steps, undo, blame, resume, retry, reset, models, doctor, help.
To give an agent a task, write %%agent NAME (two %) with the task on the lines below.\
""")


def test_command_with_too_many_words_is_told():
    assert error_of("list all") == snapshot("%agent list: 'all' is one word too many. Write %agent list.")
    assert error_of("steps a b") == snapshot(
        "%agent steps: 'b' is one word too many. Write %agent steps [NAME]."
    )


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("models", Command(name="models")),
        ("models  gpt 4.1 ", Command(name="models", text="gpt 4.1")),
        ("doctor", Command(name="doctor")),
        ("doctor --json", Command(name="doctor", is_json=True)),
        ("preview", Command(name="preview")),
        ("preview bot", Command(name="preview", agent="bot")),
        ("preview @bot 3", Command(name="preview", agent="bot", step=3)),
        ("preview 3 bot plan", Command(name="preview", agent="bot", step=3, kind="plan")),
        ("preview final", Command(name="preview", kind="final")),
        (
            "preview bot --summary-mode all 2 act",
            Command(name="preview", agent="bot", step=2, kind="act", summary_mode="all"),
        ),
        ("preview --summary-mode=off", Command(name="preview", summary_mode="off")),
        ("undo", Command(name="undo")),
        ("undo @bot", Command(name="undo", agent="bot")),
        ("undo bot --step 2", Command(name="undo", agent="bot", step=2)),
        ("undo --step=3", Command(name="undo", step=3)),
        ("blame df", Command(name="blame", variable="df")),
        ("blame @df bot", Command(name="blame", variable="df", agent="bot")),
        ("retry bot", Command(name="retry", agent="bot")),
        ("resume", Command(name="resume")),
        (
            'resume bot Don\'t guess:  use "@df"  \r',
            Command(name="resume", text='bot Don\'t guess:  use "@df"'),
        ),
    ],
)
def test_command_with_words_of_its_own(line, command):
    assert parse_command(line) == command


def test_words_that_a_command_does_not_take_are_told():
    lines = [
        "preview bot 0",
        "preview bot -1",
        "preview bot 1 2",
        "preview bot plans",
        "preview bot act plan",
        "preview --summary-mode",
        "preview --summary-mode most",
        "preview --summarymode all",
        "preview --views all",
        "blame",
        "blame df bot more",
        "blame 2nd",
        "retry bot now",
        "steps --all",
        "list 3",
        "doctor 3",
        "doctor --json=yes",
        "doctor --jsn",
    ]
    assert {line: error_of(line) for line in lines} == snapshot(
        {
            "preview bot 0": "%agent preview: '0' is no step. Steps are counted from 1; write %agent preview [NAME] [STEP] [act|plan|final] [--summary-mode plan|all|off].",
            "preview bot -1": "%agent preview: '-1' is no step. Steps are counted from 1; write %agent preview [NAME] [STEP] [act|plan|final] [--summary-mode plan|all|off].",
            "preview bot 1 2": "%agent preview: '2' is one word too many. Write %agent preview [NAME] [STEP] [act|plan|final] [--summary-mode plan|all|off].",
            "preview bot plans": "%agent preview: 'plans' is one word too many. Nearest: plan. Write %agent preview [NAME] [STEP] [act|plan|final] [--summary-mode plan|all|off].",
            "preview bot act plan": "%agent preview: 'plan' is one word too many. Write %agent preview [NAME] [STEP] [act|plan|final] [--summary-mode plan|all|off].",
            "preview --summary-mode": "%agent preview --summary-mode: its value is missing. Write --summary-mode plan|all|off.",
            "preview --summary-mode most": "%agent preview --summary-mode: 'most' is not allowed: plan, all or off.",
            "preview --summarymode all": "%agent preview: unknown option '--summarymode'. Nearest: --summary-mode. Write %agent preview [NAME] [STEP] [act|plan|final] [--summary-mode plan|all|off].",
            "preview --views all": "%agent preview: unknown option '--views'. Write %agent preview [NAME] [STEP] [act|plan|final] [--summary-mode plan|all|off].",
            "blame": "%agent blame: the name of the variable is missing. Write %agent blame VAR [NAME].",
            "blame df bot more": "%agent blame: 'more' is one word too many. Write %agent blame VAR [NAME].",
            "blame 2nd": "%agent blame: '2nd' is not a name: letters, digits and _, not beginning with a digit. Choose another, such as analyst.",
            "retry bot now": "%agent retry: 'now' is one word too many. Write %agent retry [NAME].",
            "steps --all": "%agent steps: unknown option '--all'. Write %agent steps [NAME].",
            "list 3": "%agent list: '3' is one word too many. Write %agent list.",
            "doctor 3": "%agent doctor: '3' is one word too many. Write %agent doctor [--json].",
            "doctor --json=yes": "%agent doctor --json: it has no value. Write --json.",
            "doctor --jsn": "%agent doctor: unknown option '--jsn'. Nearest: --json. Write %agent doctor [--json].",
        }
    )


def test_step_that_cannot_be_undone_is_told():
    lines = ["undo 2", "undo bot 2", "undo --step", "undo --step 0", "undo --step two", "undo --all"]
    assert {line: error_of(line) for line in lines} == snapshot(
        {
            "undo 2": "%agent undo: '2' is no agent. If it is a step, write --step 2.",
            "undo bot 2": "%agent undo: '2' is one word too many. Write %agent undo [NAME] [--step N].",
            "undo --step": "%agent undo --step: its value is missing. Write --step N.",
            "undo --step 0": "%agent undo: '0' is no step. Steps are counted from 1; write %agent undo [NAME] [--step N].",
            "undo --step two": "%agent undo: 'two' is no step. Steps are counted from 1; write %agent undo [NAME] [--step N].",
            "undo --all": "%agent undo: unknown option '--all'. Write %agent undo [NAME] [--step N].",
        }
    )
