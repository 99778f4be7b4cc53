from __future__ import annotations

import threading

import pytest
from cells import call, final
from inline_snapshot import snapshot
from threads import join

from agent_magic.core.errors import RunNotAnswered

NAMES = """
calls = []

def add(a: int, b: int) -> int:
    "Add.\\n\\nArgs:\\n    a: one\\n    b: other"
    calls.append((a, b))
    return a + b

rows = {1, 2}
"""


@pytest.fixture
def asked(cells):
    """Cells in which `bot` made one call and then failed, its model being `m`."""
    cells.define(NAMES)
    return cells


@pytest.fixture
def failed(asked):
    """The same after a run that made one call and failed."""
    asked.failing = asked.model(call("add", a=1, b=2), ValueError("odd request"), final(3), final(4))
    done = asked.run("%%agent bot --model @m --tools add\nAdd 1 and 2.")
    assert isinstance(done.error, RunNotAnswered)
    return asked


def user_messages(model, number):
    return [message["content"] for message in model.requests[number].messages if message["role"] == "user"]


# -- resuming by a cell -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell", ["%%agent bot --resume", "%%agent bot --resume\n", "%%agent bot --resume\n \n\t\n"]
)
def test_resume_without_a_body_goes_on(failed, cell):
    done = failed.run(f"{cell}")
    assert (done.error, done.value) == (None, 3)
    assert failed["calls"] == [(1, 2)]
    assert user_messages(failed.failing, 2) == snapshot(
        [
            "Add 1 and 2.",
            "The run had stopped after a failure. It goes on now, with 20 more steps. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer.",
        ]
    )


def test_resume_binds_as_and_shows_the_run_it_goes_on_with(failed):
    done = failed.run("%%agent bot --resume --as total\nUse what you know.")
    assert (done.value, failed["total"]) == (3, 3)
    first = failed.agent().runs[0].run_id
    assert done.text.replace(first, "<run>") == snapshot("""\
bot · answered · scripted, as given
step 3 of 22 · tokens unknown · cost unknown · 0 s

Task  (goes on with <run>)
    Use what you know.

 3  final_answer(answer=3)  [0 s]
    final_answer
        answer = 3

Answer (int)
    3
Out[4]: 3
""")
    assert failed.agent().result.resumed_from == first


def test_resume_tells_the_correction_byte_for_byte(failed):
    failed.run("%%agent bot --resume\n  Don't {guess}: 100% \\@rows\r\n")
    assert user_messages(failed.failing, 2)[-1] == "  Don't {guess}: 100% @rows"


def test_resume_hands_over_what_the_correction_mentions(failed):
    failed.define("def twice(n: int) -> int:\n    'Double.\\n\\nArgs:\\n    n: n'\n    return 2 * n")
    failed.run("%%agent bot --resume\nUse @twice on @rows.")
    assert user_messages(failed.failing, 2)[-1] == snapshot("""\
Use @twice on @rows.

State variables:
- @rows: set, 2 items: {1, 2}\
""")
    assert list(failed.agent().tools) == ["add", "twice"]


def test_resume_may_set_options(failed):
    failed.run("%%agent bot --resume --max-steps 7 --plan off\nGo on.")
    assert failed.agent().max_steps == 7


def test_resume_of_what_cannot_be_resumed_says_what_to_do(asked):
    asked.model(final(1))
    asked.run("%%agent done --model @m\nDo it.")
    asked.run("%%agent fresh --define\nBe brief.")
    lines = [
        "done --resume",
        "fresh --resume",
        "nobody --resume",
        "rows --resume",
        "done --resume --new",
        "done --resume --define",
    ]
    assert {line: str(asked.run(f"%%agent {line}\nGo on.").error) for line in lines} == snapshot(
        {
            "done --resume": "%%agent done --resume: the last run of done was answered, so there is nothing to go on with. Give it a task: write %%agent done with the task on the lines below. It remembers the run; %agent retry done does it again.",
            "fresh --resume": "%%agent fresh --resume: fresh has no run to go on with. Give it a task: write %%agent fresh with the task on the lines below.",
            "nobody --resume": "%%agent nobody --resume: nobody has no run to go on with. Give it a task: write %%agent nobody with the task on the lines below.",
            "rows --resume": "`rows` is your set; choose another name. Nothing was changed.",
            "done --resume --new": "%%agent: --resume goes on with the agent's last run, and --new forgets it. Leave out one of them.",
            "done --resume --define": "%%agent: --resume goes on with the agent's last run, and --define runs nothing. Leave out one of them.",
        }
    )
    assert "nobody" not in asked
    assert len(asked.agent("done").runs) == 1


def test_resume_after_a_tool_was_removed_goes_on_without_it(failed):
    failed.define("del add")
    done = failed.run("%%agent bot --resume")
    assert done.value == 3
    assert "! The tool add is gone or no longer callable, so the run goes without it." in done.text


@pytest.mark.parametrize("line", ["%agent resume bot", "%agent resume bot Go on.", "%agent retry bot"])
def test_line_after_a_tool_is_no_function_any_more_goes_on_without_it(failed, line):
    failed.define("add = 5")
    done = failed.run(line)
    assert done.value == 3
    assert done.text.splitlines()[2] == snapshot(
        "! The tool add is gone or no longer callable, so the run goes without it."
    )


def test_resume_unpauses(failed):
    failed.agent().pause()
    assert failed.run("%%agent bot --resume").value == 3
    assert not failed.agent().settings.is_paused


# -- resuming and retrying by a line ------------------------------------------------------------


def test_resume_line_gives_the_answer_as_its_value(failed):
    done = failed.run("x = %agent resume")
    assert (done.error, failed["x"]) == (None, 3)


def test_resume_line_is_out(failed):
    assert failed.run("%agent resume bot").value == 3
    assert failed["_"] == 3


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('bot Don\'t guess: use  "3".', 'Don\'t guess: use  "3".'),
        ("Don't guess.", "Don't guess."),
        ('"bot should not guess"', "bot should not guess"),
        ('bot "Say 3."', "Say 3."),
        ("@bot Use @rows", "Use @rows\n\nState variables:\n- @rows: set, 2 items: {1, 2}"),
    ],
)
def test_resume_line_tells_the_correction(failed, line, told):
    assert failed.run(f"%agent resume {line}").value == 3
    assert user_messages(failed.failing, 2)[-1] == told


def test_resume_line_that_cannot_be_is_told(failed):
    lines = ["resume bto", "resume bto Go on.", "resume nobody", "resume @nobody"]
    assert {line: str(failed.run(f"%agent {line}").error) for line in lines} == snapshot(
        {
            "resume bto": "%agent resume: there is no agent 'bto'. Agents: bot. If it begins a correction, put the whole correction in quotes.",
            "resume bto Go on.": "%agent resume: there is no agent 'bto'. Agents: bot. If it begins a correction, put the whole correction in quotes.",
            "resume nobody": "%agent resume: there is no agent 'nobody'. Agents: bot. If it begins a correction, put the whole correction in quotes.",
            "resume @nobody": "%agent resume: there is no agent 'nobody'. Agents: bot. If it begins a correction, put the whole correction in quotes.",
        }
    )
    failed.run("%agent resume")
    assert str(failed.run("%agent resume").error) == snapshot(
        "%agent resume bot: the last run of bot was answered, so there is nothing to go on with. Give it a task: write %%agent bot with the task on the lines below. It remembers the run; %agent retry bot does it again."
    )
    failed.run("%%agent fresh --define\nBe brief.")
    assert str(failed.run("%agent resume fresh").error) == snapshot(
        "%agent resume fresh: fresh has no run to go on with. Give it a task: write %%agent fresh with the task on the lines below."
    )


def test_resume_line_ends_as_a_cell_does(failed):
    failed.model(ValueError("odd again"), name="m2")
    failed.agent().model = failed["m2"]
    done = failed.run("x = %agent resume bot")
    assert isinstance(done.error, RunNotAnswered)
    assert done.text.splitlines()[-1] == snapshot(
        "RunNotAnswered: bot gave no answer, its run failed: scripted could not be asked (ValueError). It says: odd again (bot.result has every step; %agent resume bot goes on)"
    )
    assert "x" not in failed


def test_retry_does_the_task_again_as_if_it_had_not_been(failed):
    done = failed.run("x = %agent retry")
    assert (done.error, failed["x"]) == (None, 3)
    assert user_messages(failed.failing, 2) == ["Add 1 and 2."]
    assert done.text == snapshot("""\
bot · answered · scripted, as given
1 step of 20 · tokens unknown · cost unknown · 0 s

Task
    Add 1 and 2.

 1  final_answer(answer=3)  [0 s]
    final_answer
        answer = 3

Answer (int)
    3
""")


def test_retry_of_an_answered_run_asks_again(asked):
    asked.model(final(1), final(2))
    asked.run("%%agent bot --model @m\nDo it.")
    assert asked.run("%agent retry bot").value == 2


def test_retry_without_a_run_says_what_to_do(asked):
    asked.run("%%agent fresh --define\nBe brief.")
    assert str(asked.run("%agent retry fresh").error) == snapshot(
        "%agent retry: fresh has no run to do again. Give it a task with %%agent fresh."
    )


def test_task_for_a_paused_agent_says_that_it_waits(asked):
    asked.model(final(1))
    asked.run("%%agent bot --define --model @m\nBe brief.")
    bot = asked.agent()
    bot.pause()
    timer = threading.Timer(0.3, bot.unpause)
    timer.start()
    done = asked.run("%%agent bot\nDo it.")
    join(timer)
    assert done.value == 1
    assert "! bot is paused: it waits until bot.unpause() is called from another thread." in done.text
