"""The tools that come with the package, handed over in cells by their names."""

from __future__ import annotations

import re

import pytest
from cells import call, final
from inline_snapshot import snapshot
from kernels import Kernel
from websites import Website

SETUP = """
%load_ext agent_magic
from agent_magic import ScriptedModel
asks = ScriptedModel.calls(("user_input", {"question": "Which city?"}))
"""
TOOLS = "m = ScriptedModel([asks, lambda request: ScriptedModel.final(request.messages[-1]['content'])])"
CODE = "m = ScriptedModel(['<code>\\ncity = user_input(\"Which city?\")\\nfinal_answer(city * 2)\\n</code>'])"


def offered(model):
    return [tool["name"] for tool in model.requests[0].tools]


def test_tools_takes_the_names_of_default_tools(cells):
    model = cells.model(final("x"))
    cells.run("%%agent bot --model @m --tools web_search @visit_webpage\nGo.")
    assert offered(model) == ["web_search", "visit_webpage", "final_answer"]


def test_variable_of_the_name_of_a_default_tool_goes_before_it(cells):
    cells.define("def web_search(query: str) -> str:\n    'Mine.'\n    return 'my ' + query")
    model = cells.model(call("web_search", query="q"), final("x"))
    cells.run("%%agent bot --model @m --tools web_search\nGo.")
    assert model.requests[1].messages[-1]["content"] == "my q"


def test_default_tools_stay_as_other_tools_do(cells):
    model = cells.model(final("x"), final("y"))
    cells.run("%%agent bot --model @m --tools wikipedia_search\nGo.")
    cells.run("%%agent bot\nGo on.")
    assert [tool["name"] for tool in model.requests[1].tools] == ["wikipedia_search", "final_answer"]


def test_name_near_that_of_a_default_tool_is_told(cells):
    assert cells.run("%%agent bot --tools visit_page\nGo.").stderr == snapshot(
        "UsageError: %%agent --tools: there is no variable 'visit_page'. Nearest: visit_webpage.\n"
    )


def test_mention_of_a_default_tool_says_how_to_hand_it_over(cells):
    model = cells.model(final("x"))
    done = cells.run("%%agent bot --model @m\nLook with @web_search.")
    assert offered(model) == ["final_answer"]
    assert (
        "web_search comes with agent_magic and is no variable: hand it over by --tools web_search."
        in done.text
    )


def test_instance_with_settings_is_handed_over_by_its_variable(cells):
    with Website() as site:
        site.answers["/page"] = b"<p>Hello</p>"
        cells.define(
            "from agent_magic.tools.visit_webpage import VisitWebpage\n"
            "visit_webpage = VisitWebpage(allow_private=True, max_pages=1)"
        )
        for mode in ("tools", "code"):
            url = f"{site.url}/page"
            if mode == "tools":
                replies = [call("visit_webpage", url=url), call("visit_webpage", url=url), final("x")]
            else:
                replies = [f"<code>\nprint(visit_webpage({url!r}))\n</code>"] * 2 + [
                    "<code>\nfinal_answer(1)\n</code>"
                ]
            cells.model(*replies)
            cells.run(f"%%agent bot --new --mode {mode} --model @m --tools visit_webpage\nGo.")
            first, second = (step.observations for step in cells.agent().result.actions[:2])
            assert "Hello" in first
            assert "visit_webpage is used up: 1 of 1 pages in this run." in second
    assert len(site.asked) == 2


# -- a person is asked ---------------------------------------------------------------------------


def answer(kernel: Kernel, said: str) -> str:
    """Type into the front end's input; gives the prompt."""
    prompt = kernel.client.get_stdin_msg(timeout=60)["content"]["prompt"]
    kernel.client.input(said)
    return prompt


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("mode", "model", "value"), [("tools", TOOLS, "'Oslo'"), ("code", CODE, "'OsloOslo'")]
)
def test_person_is_asked_where_the_front_end_takes_input(kernel, mode, model, value):
    assert not kernel.execute(SETUP + model).error
    cell = kernel.begin(f"%%agent bot --model @m --mode {mode} --tools user_input\nGo.", takes_input=True)
    assert answer(kernel, "Oslo") == "Which city? "
    assert kernel.finish(cell).result == value


@pytest.mark.kernel
def test_model_is_told_where_nobody_can_answer(kernel):
    assert not kernel.execute(SETUP + TOOLS).error
    done = kernel.execute("%%agent bot --model @m --tools user_input\nGo.")
    assert done.result == snapshot(
        "'user_input: nobody can answer here. Decide yourself, and say in your answer what you took for granted.'"
    )


@pytest.mark.kernel
@pytest.mark.parametrize(("mode", "model"), [("tools", TOOLS), ("code", CODE)])
def test_interrupt_at_the_question_ends_the_run(kernel, mode, model):
    assert not kernel.execute(SETUP + model).error
    cell = kernel.begin(f"%%agent bot --model @m --mode {mode} --tools user_input\nGo.", takes_input=True)
    kernel.client.get_stdin_msg(timeout=60)
    kernel.interrupt()
    done = kernel.finish(cell)
    assert re.search("KeyboardInterrupt", str(done.error))
    assert kernel.execute("bot.result.status").result == "'interrupted'"
