from __future__ import annotations

import pytest
from cells import final
from inline_snapshot import snapshot

from agent_magic import CodeAgent, ScriptedModel

NAMES = """
rows = [3, 1, 2]

def double(x: int) -> int:
    "Twice a number.\\n\\nArgs:\\n    x: the number"
    return 2 * x
"""


def code(*lines: str, thought: str = "So be it.") -> str:
    """A reply that is a block of code."""
    body = "\n".join(lines)
    return f"{thought}\n<code>\n{body}\n</code>"


@pytest.fixture
def asked(cells):
    """Cells with a list, a function, and nothing asked yet."""
    cells.define(NAMES)
    return cells


def run(cells, *replies, line: str = "", task: str = "Do it."):
    """A cell that asks a code agent whose model says this."""
    cells.model(*replies)
    return cells.run(f"%%agent bot --mode code --model @m {line}\n{task}")


def observations(cells) -> list[str]:
    """What the model was told of each step of the last run."""
    return [step.observations for step in cells.agent().result.actions]


# -- the notebook's names --------------------------------------------------------------------------


def test_code_makes_variables_and_functions_of_the_notebook(asked):
    done = run(
        asked,
        code("ordered = sorted(rows)", "def top(n):", "    return ordered[-n:]"),
        code("final_answer(top(2))"),
    )
    assert done.value == [2, 3]
    assert asked.run("top(1) + ordered").value == [3, 1, 2, 3]


def test_code_calls_the_functions_that_were_handed_over(asked):
    assert run(asked, code("final_answer([double(n) for n in rows])"), task="Use @double.").value == [6, 2, 4]
    assert [call.call.name for call in asked.agent().result.actions[0].tool_results[0].calls] == [
        "double"
    ] * 3


def test_cell_that_starts_afresh_may_bind_what_it_made_before(asked):
    for n in (1, 2):
        asked.model(code(f"made = {n}"), code("final_answer(made)"))
        assert asked.run("%%agent bot --mode code --model @m --new\nDo it.").value == n
    assert asked.run("made").value == 2


def test_variable_of_the_person_is_not_bound_anew(asked):
    before = asked["rows"]
    done = run(asked, code("rows = sorted(rows)"), code("ordered = sorted(rows)", "final_answer(ordered)"))
    assert done.value == [1, 2, 3]
    assert asked["rows"] is before
    assert before == [3, 1, 2]
    assert observations(asked)[0] == snapshot("""\
Line 1 is refused, and nothing ran: `rows = sorted(rows)`
`rows` is the person's own, and code may not rebind it. Bind a new name, such as `rows_2`.\
""")


def test_variable_of_the_person_is_not_changed_in_place(asked):
    run(asked, code("rows.sort()"), code("final_answer(1)"))
    assert asked["rows"] == [3, 1, 2]
    assert observations(asked)[0] == snapshot("""\
(rows was put back: code may not change the person's variables in place. Work on a copy: list(rows).)
The code ran. It printed nothing, and its last line has no value.\
""")


def test_names_of_the_kernel_stay_as_they_are(asked):
    asked.run("1 + 1")
    run(asked, code("final_answer(len(rows))"))
    assert asked.run("2 + 2").value == 4
    assert asked.run("_").value == 4
    assert callable(asked.shell.user_ns["get_ipython"])


# -- options ---------------------------------------------------------------------------------------


def settings(cells):
    bot = cells.agent()
    return bot.writes, bot.protect, bot.additional_authorized_imports, bot.step_timeout_s


def test_settings_of_code_stay_until_given_again(asked):
    run(
        asked,
        code("final_answer(1)"),
        line="--writes all --protect @rows --imports sklearn, scipy --step-timeout 5",
    )
    given = ("all", ("rows",), ("sklearn", "scipy"), 5.0)
    assert settings(asked) == given
    asked.model(code("final_answer(2)"))
    assert asked.run("%%agent bot --model @m\nDo it.").value == 2
    assert settings(asked) == given
    asked.run(
        "%%agent bot --define --writes none --protect none --imports none --step-timeout none\nBe brief."
    )
    assert settings(asked) == ("none", (), (), None)


def test_settings_of_the_magics_are_those_of_new_code_agents(asked):
    asked.define(
        "%config AgentMagics.mode = 'code'\n%config AgentMagics.writes = 'all'\n"
        "%config AgentMagics.protect = ['rows']\n%config AgentMagics.imports = ['sklearn']\n"
        "%config AgentMagics.step_timeout_s = None"
    )
    asked.run("%%agent bot --define\nBe brief.")
    assert isinstance(asked.agent(), CodeAgent)
    assert settings(asked) == ("all", ("rows",), ("sklearn",), None)
    asked.run("%%agent other --mode tools --define\nBe brief.")
    assert asked.agent("other").mode == "tools"


def test_code_that_may_write_all_binds_and_changes_what_is_not_protected(asked):
    asked.define("kept = [3, 1, 2]")
    run(
        asked,
        code("rows.sort()", "kept.sort()"),
        code("kept = 1"),
        code("rows = (1, 2)", "final_answer(1)"),
        line="--writes all --protect kept",
    )
    assert (asked["rows"], asked["kept"]) == ((1, 2), [3, 1, 2])
    assert observations(asked)[:2] == snapshot(
        [
            """\
(kept was put back: code may not change the person's variables in place. Work on a copy: list(kept).)
The code ran. It printed nothing, and its last line has no value.\
""",
            """\
Line 1 is refused, and nothing ran: `kept = 1`
`kept` is the person's own, and code may not rebind it. Bind a new name, such as `kept_2`.\
""",
        ]
    )


def test_code_that_may_change_all_still_binds_new_names_only(asked):
    run(asked, code("rows.sort()"), code("rows = 1"), code("final_answer(1)"), line="--protect none")
    assert asked["rows"] == [1, 2, 3]


def test_code_that_may_write_nothing_keeps_its_names_to_itself(asked):
    done = run(asked, code("best = max(rows)"), code("final_answer(best)"), line="--writes none")
    assert done.value == 3
    assert "best" not in asked


def test_code_is_stopped_after_its_time(asked):
    run(asked, code("while True: pass"), code("final_answer(1)"), line="--step-timeout 0.2")
    assert observations(asked)[0] == snapshot("""\
The code was stopped by its time limit of 0.2 s at line 1: `while True: pass`.
Do less in one step: a part of the data, a faster way, or an end to the loop.\
""")


def test_module_is_imported_once_it_is_allowed(asked):
    importing = code("import calendar, socket", "final_answer(socket.AF_INET is not None)")
    run(asked, importing, code("final_answer(0)"))
    assert asked.agent().result.value == 0
    assert observations(asked)[0] == snapshot("""\
Line 1 is refused, and nothing ran: `import calendar, socket`
The module 'socket' is not authorized for code. Code may not use the network: call a tool that fetches, or say in the final answer what is missing. The person can allow it with `--imports socket`.\
""")
    assert run(asked, importing, line="--imports socket --new").value is True


def test_option_of_code_for_an_agent_of_tools_is_told(asked):
    asked.model(final(1))
    asked.run("%%agent bot --model @m\nDo it.")
    lines = [
        "bot --writes all",
        "bot --protect rows",
        "bot --imports sklearn",
        "bot --step-timeout 5",
        "bot --approve code",
        "bot --new --writes all",
        "other --writes all",
        "bot --mode code",
        "bot --mode code --define",
    ]
    told = {line: str(asked.run(f"%%agent {line}\nDo it.").error) for line in lines}
    assert told == snapshot(
        {
            "bot --writes all": "%%agent --writes: it is about code, and bot is a tools agent. Write --mode code --new, which starts afresh, or leave --writes out.",
            "bot --protect rows": "%%agent --protect: it is about code, and bot is a tools agent. Write --mode code --new, which starts afresh, or leave --protect out.",
            "bot --imports sklearn": "%%agent --imports: it is about code, and bot is a tools agent. Write --mode code --new, which starts afresh, or leave --imports out.",
            "bot --step-timeout 5": "%%agent --step-timeout: it is about code, and bot is a tools agent. Write --mode code --new, which starts afresh, or leave --step-timeout out.",
            "bot --approve code": "%%agent --approve code: bot is a tools agent, so nothing would wait for your word. Write --approve tools.",
            "bot --new --writes all": "%%agent --writes: it is about code, and bot would be a tools agent. Write --mode code, or leave --writes out.",
            "other --writes all": "%%agent --writes: it is about code, and other would be a tools agent. Write --mode code, or leave --writes out.",
            "bot --mode code": "%%agent bot: bot is a tools agent, and its mode stays. Nothing was changed. Write --mode code --new to start afresh, or choose another name.",
            "bot --mode code --define": "%%agent bot: bot is a tools agent, and its mode stays. Nothing was changed. Write --mode code --new to start afresh, or choose another name.",
        }
    )
    assert (asked.agent().mode, len(asked.agent().runs), "other" in asked) == ("tools", 1, False)


def test_option_of_code_that_cannot_be_leaves_the_agent_as_it_was(asked):
    run(asked, code("final_answer(1)"), line="--writes all")
    lines = [
        "bot --writes new --protect rosw",
        "bot --writes new --protect zz",
        "bot --mode tools --writes new",
    ]
    assert {line: str(asked.run(f"%%agent {line}\nDo it.").error) for line in lines} == snapshot(
        {
            "bot --writes new --protect rosw": "%%agent --protect: there is no variable 'rosw'. Nearest: rows.",
            "bot --writes new --protect zz": "%%agent --protect: there is no variable 'zz'. Run the cell that defines it first.",
            "bot --mode tools --writes new": "%%agent bot: bot is a code agent, and its mode stays. Nothing was changed. Write --mode tools --new to start afresh, or choose another name.",
        }
    )
    assert settings(asked) == ("all", None, (), 30.0)


def test_another_mode_with_new_is_another_agent(asked):
    run(asked, code("final_answer(1)"))
    before = asked.agent()
    asked.model(final(2))
    assert asked.run("%%agent bot --mode tools --new --model @m\nDo it.").value == 2
    assert (asked.agent() is before, asked.agent().mode) == (False, "tools")


def test_mode_that_the_agent_has_may_be_said_again(asked):
    run(asked, code("final_answer(1)"))
    assert run(asked, code("final_answer(2)")).value == 2
    assert len(asked.agent().runs) == 2


# -- agents made in Python -------------------------------------------------------------------------


def test_code_agent_made_in_python_works_on_the_notebook(asked):
    asked.shell.user_ns["bot"] = CodeAgent(
        model=ScriptedModel([code("best = max(rows)", "final_answer(best)")])
    )
    assert asked.run("%%agent bot\nFind the best.").value == 3
    assert asked["best"] == 3


def test_code_agent_made_in_python_keeps_a_state_of_its_own(asked):
    model = ScriptedModel([code("best = max(rows)", "final_answer(best)")])
    asked.shell.user_ns["bot"] = CodeAgent(model=model, state={"rows": [7]})
    assert asked.run("%%agent bot\nFind the best.").value == 7
    assert "best" not in asked


# -- models ----------------------------------------------------------------------------------------


def test_model_that_cannot_write_code_is_told(asked):
    done = asked.run("%%agent bot --mode code --model local\nDo it.")
    assert type(done.error).__name__ == "UsageError"
    assert "bot" not in asked
    assert str(done.error) == snapshot(
        "The model local/smollm2-135m cannot write code, only pick tools. Give a model that can (--model provider/name), or an agent of mode tools."
    )


# -- undo and blame --------------------------------------------------------------------------------


@pytest.fixture
def made(asked):
    """Cells in which code made, rebound and deleted names in three steps."""
    asked.define("%config AgentMagics.writes = 'all'\n")
    run(
        asked,
        code("best = max(rows)", "worst = min(rows)"),
        code("best = -best", "del worst", "rows.append(4)"),
        code("other = 1", "final_answer(other)"),
    )
    return asked


def undone(cells, line: str) -> str:
    done = cells.run(f"%agent undo {line}")
    return done.text if done.error is None else f"{type(done.error).__name__}: {done.error}"


def test_undo_of_a_step_takes_back_what_it_bound(made):
    assert undone(made, "bot --step 2") == snapshot("""\
best is what it was before step 2 (int)
worst is back (int): step 2 had deleted it
rows stays as it is: step 2 changed it in place (3 → 4 items), and no copy is kept
""")
    assert (made["best"], made["worst"], made["rows"]) == (3, 1, [3, 1, 2, 4])


def test_undo_of_a_run_takes_back_all_that_it_bound(made):
    assert undone(made, "") == snapshot("""\
other is gone: step 3 had made it (int)
best is what it was before step 2 (int)
worst is back (int): step 2 had deleted it
best is gone: step 1 had made it (int)
worst is gone: step 1 had made it (int)
rows stays as it is: step 2 changed it in place (3 → 4 items), and no copy is kept
""")
    assert not {"best", "worst", "other"} & made.shell.user_ns.keys()


def test_undo_leaves_what_was_changed_since(made):
    made.define("best = 7")
    assert undone(made, "bot --step 2") == snapshot("""\
worst is back (int): step 2 had deleted it
rows stays as it is: step 2 changed it in place (3 → 4 items), and no copy is kept
best stays as it is: it was changed after step 2
""")
    assert made["best"] == 7


def test_undo_that_cannot_be_is_told(made):
    told = {line: undone(made, line) for line in ("bot --step 9", "nobody", "bot 2")}
    undone(made, "bot")
    told["again"] = undone(made, "bot")
    told["unknown"] = undone(made, "bot --step 77")
    made.run("%%agent other --define\nBe brief.")
    told["other"] = undone(made, "other")
    assert told == snapshot(
        {
            "bot --step 9": "UsageError: %agent undo: There is no step 9 in that run. Its steps: 1 to 3. Give one of these, or none for the whole run.",
            "nobody": "UsageError: %agent: there is no agent 'nobody'. Agents: bot.",
            "bot 2": "UsageError: %agent undo: '2' is one word too many. Write %agent undo [NAME] [--step N].",
            "again": "rows stays as it is: step 2 changed it in place (3 → 4 items), and no copy is kept\n",
            "unknown": "UsageError: %agent undo: There is no step 77 in that run. Its steps: 1 to 3. Give one of these, or none for the whole run.",
            "other": "UsageError: %agent undo: There is no run whose changes could be taken back.",
        }
    )


def test_model_is_told_what_was_taken_back(made):
    undone(made, "bot --step 3")
    model = made.model(code("final_answer(1)"))
    made.run("%%agent bot --model @m\nGo on.")
    assert "other is gone" in str(model.requests[0].messages[-1]["content"])


def test_blame_shows_the_lines_of_the_code(made):
    lines = [line for line in made.run("%agent blame best").text.splitlines() if "(run " not in line]
    assert lines == snapshot(
        [
            "    rebound best: another int",
            "    by line 1: best = -best",
            "    added best: int",
            "    by line 1: best = max(rows)",
        ]
    )
    lines = [line for line in made.run("%agent blame rows").text.splitlines() if "(run " not in line]
    assert lines == snapshot(
        ["    changed in place rows: list, 3 → 4 items", "    by line 3: rows.append(4)"]
    )


def test_blame_shows_no_secret_of_the_code(asked):
    run(asked, code("key = 'sk-proj-0123456789abcdef0123'", "final_answer(1)"))
    assert "0123456789abcdef" not in asked.run("%agent blame key").text


# -- looking at an agent ---------------------------------------------------------------------------


def test_agent_that_writes_code_is_listed_as_one(asked):
    run(asked, code("final_answer(1)"), line="--tools double")
    assert asked.run("%agent list").text == snapshot(
        "bot: code; scripted; tools: double; 1 run, 1 step, last answered; tokens unknown, cost unknown\n"
    )


def test_card_of_an_agent_shows_how_its_code_is_run(asked):
    done = asked.run(
        "%%agent bot --mode code --define --writes all --protect rows --imports sklearn --step-timeout 5 "
        "--approve code\nBe brief."
    )
    assert done.text == snapshot("""\
bot · not run yet · chosen at the first run
0 runs, 0 steps in memory · mode "code" · max_steps 20 · max_tool_threads 128 · state "named" · approve "code" · writes "all" · protect "rows" · imports "sklearn" · step_timeout_s 5.0 · instructions "Be brief."
No tools
""")


def test_tools_of_an_agent_that_writes_code_are_shown_as_python(asked):
    asked.run("%%agent bot --mode code --define --tools double\nBe brief.")
    assert asked.run("%agent tools bot").text == snapshot('''\
def double(x: int) -> int:
    """Twice a number.

    Args:
        x: the number
    """
''')
