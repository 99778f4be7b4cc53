from __future__ import annotations

import pytest
from cells import call, final
from inline_snapshot import snapshot

NAMES = """
total = 0
rows = []

def add(x: int) -> int:
    "Add a row.\\n\\nArgs:\\n    x: n"
    rows.append(x)
    return len(rows)

def make() -> object:
    "Make a thing."
    return {1, 2}
"""


@pytest.fixture
def asked(cells):
    """Cells in which two agents changed variables."""
    cells.define(NAMES)
    cells.model(call("add", x=1), call("make"), final(1), name="one")
    cells.model(call("add", x=2), final(2), name="two")
    cells.run("%%agent bot --model @one --tools add, make\nAdd a row.")
    cells.run("%%agent other --model @two --tools add\nAdd another row.")
    return cells


def blamed(cells, line):
    text = cells.run(f"%agent blame {line}").text
    for name in ("bot", "other"):
        for run in cells.agent(name).runs:
            text = text.replace(run.run_id, f"<{name}>")
    return text


def test_blame_tells_the_newest_change_first(asked):
    assert blamed(asked, "rows") == snapshot("""\
other, step 1 of 'Add another row.' (run <other>)
    changed in place rows: list, 1 → 2 items
    by add(x=2)
bot, step 1 of 'Add a row.' (run <bot>)
    changed in place rows: list, 0 → 1 item
    by add(x=1)
""")


def test_blame_of_one_agent(asked):
    assert blamed(asked, "rows bot") == snapshot("""\
bot, step 1 of 'Add a row.' (run <bot>)
    changed in place rows: list, 0 → 1 item
    by add(x=1)
""")


def test_blame_of_what_an_agent_made_and_somebody_deleted(asked):
    asked.define("del make_1")
    assert blamed(asked, "@make_1") == snapshot("""\
bot, step 2 of 'Add a row.' (run <bot>)
    added make_1: set, 2 items
    by make()
""")


def test_blame_of_what_no_step_changed(asked):
    assert blamed(asked, "total") == snapshot(
        "No step of any agent has changed total, as far as is remembered.\n"
    )
    assert blamed(asked, "total bot") == snapshot(
        "No step of bot has changed total, as far as is remembered.\n"
    )


def test_blame_tells_at_most_five(asked):
    asked.model(*(call("add", x=n) for n in range(6)), final(1))
    asked.run("%%agent bot --model @m\nAdd six rows.")
    lines = blamed(asked, "rows").splitlines()
    assert [line for line in lines if line.startswith("    by")] == [
        f"    by add(x={n})" for n in (5, 4, 3, 2, 1)
    ]
    assert lines[-1] == snapshot("… and 3 earlier changes")


def test_blame_of_what_does_not_exist_is_told(asked):
    lines = ["rws", "Out", "rows nobody", "rows bto"]
    assert {line: str(asked.run(f"%agent blame {line}").error) for line in lines} == snapshot(
        {
            "rws": "%agent blame: there is no variable 'rws', and no remembered step had one. Nearest: rows.",
            "Out": "%agent blame: there is no variable 'Out', and no remembered step had one. Give the name of one that exists.",
            "rows nobody": "%agent: there is no agent 'nobody'. Agents: bot, other.",
            "rows bto": "%agent: there is no agent 'bto'. Agents: bot.",
        }
    )


def test_blame_shows_no_secret(asked):
    asked.define("def keep(key: str) -> int:\n    'Keep.'\n    rows.append(key)\n    return 1")
    asked.model(call("keep", key="sk-proj-0123456789abcdef0123"), final(1))
    asked.run("%%agent bot --model @m --tools keep\nKeep sk-proj-0123456789abcdef0123.")
    assert "0123456789abcdef" not in blamed(asked, "rows bot")
