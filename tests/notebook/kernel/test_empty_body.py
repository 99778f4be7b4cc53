from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.notebook.kernel.empty_body import give_body


@pytest.mark.parametrize(
    "cell", ["%%agent bot --define", "%%agent bot --define\n", "\n%%agent bot --define  \n\n  \n"]
)
def test_agent_line_alone_gets_a_body(cell: str):
    assert "".join(give_body(cell.splitlines(keepends=True))).split("\n")[1:] == ["", ""]


@pytest.mark.parametrize(
    "cell", ["%%agent bot\ntask\n", "%%agents\n", "%%time\n", "%agent list\n", "x = 1\n", "", "\n\n"]
)
def test_other_cells_stay_as_they_are(cell: str):
    lines = cell.splitlines(keepends=True)
    assert give_body(lines) is lines


def test_cell_of_one_line_defines_an_agent(cells):
    cells.run("def double(n: int) -> int:\n    return 2 * n")
    ended = cells.run("%%agent bot --define --tools double")
    assert ended.error is None
    assert list(cells.agent("bot").tools) == ["double"]


def test_cell_of_one_line_without_define_says_what_is_missing(cells):
    assert str(cells.run("%%agent bot").error) == snapshot(
        "%%agent bot: the task is empty. Write what bot is to do below the first line, add --define to make the agent without a task, or --resume to go on with its last run."
    )


def test_loading_again_and_unloading_leave_one_and_none(shell):
    def count() -> int:
        return sum(getattr(each, "__name__", "") == "give_body" for each in shell.input_transformers_cleanup)

    shell.run_line_magic("load_ext", "agent_magic")
    shell.run_line_magic("reload_ext", "agent_magic")
    assert count() == 1
    shell.run_line_magic("unload_ext", "agent_magic")
    assert count() == 0


def test_first_line_alone_is_not_taken_for_a_whole_cell(cells):
    assert cells.shell.check_complete("%%agent bot --define") == ("incomplete", "")
