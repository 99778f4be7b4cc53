"""The tools that come with the package, by name."""

from __future__ import annotations

import subprocess
import sys

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.tools.default_tools import DEFAULT_TOOLS, DefaultTools, make_default_tool
from agent_magic.tools.tool import Tool
from agent_magic.tools.toolbox import LiveTool, Toolbox


@pytest.mark.parametrize("name", DEFAULT_TOOLS)
def test_default_tool_is_made_by_its_name_without_a_weakness(name):
    made = make_default_tool(name)
    assert isinstance(made, Tool)
    assert made.to_schema().name == made.name == name
    assert made.warnings == ()


def test_toolbox_takes_the_name_of_a_default_tool():
    toolbox = Toolbox(["web_search", "user_input"])
    assert list(toolbox.current()) == ["web_search", "user_input"]
    assert toolbox.current()["web_search"] is toolbox.current()["web_search"]


def test_text_that_names_no_default_tool_is_refused():
    said = []
    for sources in (["web_serch"], ["add"], "web_search"):
        with pytest.raises(ToolDefinitionError) as caught:
            Toolbox(sources)
        said.append(caught.value.message)
    assert said == snapshot(
        [
            """\
'web_serch' is the name of no tool that comes with agent_magic. Those are user_input, visit_webpage, web_search, wikipedia_search.
Write 'web_search'\
""",
            """\
'add' is the name of no tool that comes with agent_magic. Those are user_input, visit_webpage, web_search, wikipedia_search.
Write one of them, or give the function itself\
""",
            """\
The tools are the text 'web_search', expected a list of functions.
Write  ['web_search']\
""",
        ]
    )


def test_default_tools_are_a_state_that_nobody_can_change():
    state = DefaultTools()
    assert list(state) == list(DEFAULT_TOOLS)
    assert state["user_input"] is state["user_input"]
    assert Toolbox([LiveTool(name="user_input", state=state)]).current()["user_input"] is state["user_input"]
    for change in (
        lambda: state["nothing"],
        lambda: state.bind("user_input", 1),
        lambda: state.unbind("user_input"),
    ):
        with pytest.raises(KeyError):
            change()


def test_names_are_known_without_the_libraries_that_read_the_web():
    code = (
        "import sys, agent_magic.tools.default_tools\n"
        "print([n for n in ('httpx', 'httpcore', 'bs4', 'lxml', 'markdownify', 'protego') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "[]\n"
