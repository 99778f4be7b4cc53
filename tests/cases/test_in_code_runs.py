"""Runs of an agent that writes code: plans, errors, floods, streams, interrupts, what libraries show."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

import pytest
from cases.code_cells import RECORD, CodeCells, block, last_display
from models.openai_server import OpenAIServer, Turn, delta, reply, serve, usage_chunk
from view.markup import Page

from agent_magic import CodeAgent, LiteLLMModel

ASK = "%%agent bot --mode code --model @m"
PING = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": []}


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def model_at(server, *turns, **options):
    server.play(*turns)
    return LiteLLMModel("openai/tiny", api_base=server.api_base, api_key="none", timeout_s=10, **options)


def test_plan_reply_holding_code_is_not_run(case, cells):
    plan = re.search(r'plan reply "(.*?)";', case.given)[1]
    answer = re.search(r"then (<code>.*?</code>)", case.given)[1]
    cells.define(case.code)
    cells.model(plan, answer)
    answered = cells.run(f"{ASK} --plan 1 --protect none\nPlan it.")
    # the code in the plan reply is not executed
    assert cells["log"] == []
    # result
    assert answered.value == "y"
    (made,) = cells.agent().result.plans
    assert made.plan.startswith(plan)


@pytest.mark.kernel
def test_error_tool_raises(case, kernel):
    cells = CodeCells(kernel)
    cells.define(case.code)
    cells.script([block("x = 1\ny = div(a=x, b=0)"), block("y = div(a=1, b=2)"), block("final_answer(y)")])
    done = cells.ask("--mode code --model @m --tools div")
    told = cells.sent(2)[-1]["content"]
    # sent(2) holds both
    assert "ZeroDivisionError" in told
    assert "division by zero" in told
    # and the failing line
    assert "y = div(a=x, b=0)" in told
    assert re.search(r"\bline 2\b", told)
    # no traceback is raised in the cell
    assert done.error is None
    assert "Traceback" not in done.stdout + done.stderr
    # result
    assert done.result == "0.5"


@pytest.mark.kernel
def test_error_print_flood_in_code(case, kernel, execute_notebook):
    cells = CodeCells(kernel)
    cells.script(case.replies)
    done = cells.ask("--mode code --model @m")
    assert done.error is None
    # under 2000 output messages are sent for the cell
    assert done.n_messages < 2_000
    assert done.stdout == ""
    # result
    assert done.result == "'ok'"
    # what the model is told is cut as well
    assert "299999" in cells.runs()[0].steps[0].told
    assert len(cells.runs()[0].steps[0].told) < 10_000
    # the saved notebook: the step's stored text is cut with a note, shows the first lines and the last line
    notebook = execute_notebook(
        f"%load_ext agent_magic\nfrom agent_magic import ScriptedModel\nm = ScriptedModel({case.replies!r})",
        f"{ASK}\nPrint.",
    )
    shown, answer = notebook.cells[1].outputs
    assert answer.data["text/plain"] == "'ok'"
    assert len(json.dumps(shown.data)) < 400_000
    (call,) = shown.data[RECORD]["steps"][0]["calls"]
    stored = call["observation"]
    assert stored.startswith("0\n1\n2\n")
    assert stored.rstrip("\n").endswith("\n299998\n299999")
    assert "characters cut" in stored
    for form in ("text/plain", "text/html"):
        assert "299999" in shown.data[form]


def test_stream_empty_choices_chunks(case, server):
    first, second = re.findall(r'content "(.*?)"', case.given)
    assert (first, second) == ("<code>final_", "answer(1)</code>")
    chunks = [
        PING,
        delta(content=first),
        delta(content=second),
        delta("stop"),
        usage_chunk(prompt_tokens=10, completion_tokens=4),
    ]
    agent = CodeAgent(model=model_at(server, Turn(chunks=chunks)))
    result = agent.run("One.")
    # result
    assert (result.status, result.value) == ("answered", 1)
    # the step's usage; no IndexError
    usage = result.actions[0].token_usage
    assert (usage.input_tokens, usage.output_tokens) == (10, 4)
    assert result.actions[0].faults == ()


@pytest.mark.kernel
def test_interrupt_while_the_model_streams(case, kernel):
    assert "one token per second" in case.given
    cells = CodeCells(kernel)
    # Its code is such as would run if it were taken at any point.
    cells.define(
        """
import time
from agent_magic import Model
from agent_magic.core.messages import MessageDelta
from agent_magic.models.model import Capabilities
log = []

class Slow(Model):
    model_id = "slow"
    capabilities = Capabilities()
    n_read = 0
    def generate(self, messages, **settings):
        raise NotImplementedError
    def stream(self, messages, **settings):
        for n in range(60):
            self.n_read += 1
            yield MessageDelta(text="I note it.\\n<code>\\nlog.append('ran')\\n" if n == 0 else f"# token{n}\\n")
            time.sleep(1)

m = Slow()
"""
    )
    running = kernel.begin(f"{ASK} --protect none\nTalk.")
    kernel.wait_for_output(running, "token1")
    time.sleep(2)
    kernel.interrupt()
    began = time.monotonic()
    done = kernel.finish(running, timeout_s=30)
    # the cell ends within 2 s
    assert time.monotonic() - began < 2
    assert done.error.ename == "KeyboardInterrupt"
    # no more chunks are read from the stream afterwards
    n_read = int(cells.value("m.n_read"))
    assert 3 <= n_read < 8
    time.sleep(2.5)
    assert cells.value("m.n_read") == str(n_read)
    # the partial text is kept in the record and marked as partial
    shown = last_display(done)
    assert shown[RECORD]["status"] == "interrupted"
    (step,) = shown[RECORD]["steps"]
    assert step["error"]["kind"] == "Interrupted"
    assert "token1" in json.dumps(step)
    assert "token1" in shown["text/plain"]
    assert "Interrupted" in shown["text/plain"]
    # no code from it runs
    assert cells.value("log") == "[]"


@pytest.mark.kernel
def test_interrupt_swallowed_by_generated_code(case, kernel):
    cells = CodeCells(kernel)
    cells.define("import time")
    cells.script([*case.replies, block("final_answer('never')")])
    running = kernel.begin(f"{ASK}\nLoop.")
    kernel.wait_for_output(running, "running code")
    time.sleep(1)
    kernel.interrupt()
    began = time.monotonic()
    done = kernel.finish(running, timeout_s=60)
    # the cell ends within 3 s as interrupted
    assert time.monotonic() - began < 3
    assert done.error.ename == "KeyboardInterrupt"
    assert cells.value("bot.result.status") == "'interrupted'"
    # no further model call is made
    assert cells.value("len(m.requests)") == "1"
    # the record keeps the step as interrupted
    shown = last_display(done)
    assert shown[RECORD]["status"] == "interrupted"
    (step,) = shown[RECORD]["steps"]
    assert "Interrupted" in json.dumps(step)
    assert cells.value("bot.result.actions[0].code_action").startswith("'while True:")
    # the kernel runs the next cell
    assert kernel.execute("6 * 7").result == "42"
    cells.check_memory()


@pytest.mark.kernel
def test_run_progress_bars(case, kernel):
    cells = CodeCells(kernel)
    # the same in a step that does not answer, to read what the model is sent
    (reply_,) = case.replies
    cells.script([reply_.replace('final_answer("ok")\n', ""), reply_])
    done = cells.ask("--mode code --model @m --imports tqdm")
    told = cells.sent(2)[-1]["content"]
    # the observation holds at most a few progress lines, not 2000
    assert "2000/2000" in told
    assert told.count("it/s") <= 3
    assert "\r" not in told
    first, second = cells.runs()[0].steps
    assert first.faults == []
    # shown output likewise
    for form in ("text/plain", "text/html"):
        assert last_display(done)[form].count("it/s") <= 6  # twice, in two steps
    assert done.stderr == ""
    # the thread that tqdm has for itself is no fault of the code's
    assert first.notes == []
    # result
    assert second.is_final
    assert done.result == "'ok'"


@pytest.mark.kernel
def test_run_matplotlib_figure_without_show(case, kernel):
    cells = CodeCells(kernel)
    cells.define("%matplotlib inline")
    cells.script(case.replies)
    done = cells.ask("--mode code --model @m --imports matplotlib")
    first, _ = cells.runs()[0].steps
    assert first.faults == []
    assert "drawn" in first.told
    # the figure appears exactly once, with step 1, and not after the answer
    shown = last_display(done)
    assert [output["output_type"] for output in done.outputs] == ["display_data", "execute_result"]
    page = Page(shown["text/html"])
    assert page.elements.count("img") == 1
    assert (
        shown["text/html"].index("drawn") < shown["text/html"].index("<img") < shown["text/html"].rindex("ok")
    )
    assert cells.value("[len(s.observations_images) for s in bot.result.actions]") == "[1, 0]"
    # nor in the next cell
    assert kernel.execute("pass").outputs == []
    # no figure is open after the cell
    assert cells.value("plt.get_fignums()") == "[]"
    assert cells.value("type(fig).__name__") == "'Figure'"


@pytest.mark.parametrize("way", ["plain", "streamed"])
@pytest.mark.parametrize("content", ["A", "B"])
def test_provider_content_as_list(case, server, content, way):
    text = re.search(rf"content {content}: (\[.*?\])\n(?:content|\Z)", case.given, re.DOTALL)[1]
    parts = json.loads(text.replace("\n", " "))
    assert parts[0]["type"] == "thinking"
    if way == "plain":
        turn = reply(parts)
    else:
        turn = Turn(chunks=[*(delta(content=[part]) for part in parts), delta("stop")])
    agent = CodeAgent(model=model_at(server, turn, stream=way == "streamed"))
    result = agent.run("Number?")
    # A gives 1, B gives 2
    assert (result.status, result.value) == ("answered", {"A": 1, "B": 2}[content])
    # the thinking is shown apart and never executed
    (step,) = result.actions
    assert "hm" in step.reasoning
    assert "hm" not in step.model_output
    # no "list has no attribute" error
    assert step.faults == ()
