"""Which of many tools a text is about, and what `find_tools` answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.messages import ToolSchema
from agent_magic.tools.find_tools import (
    FEWEST_TOOLS,
    MOST_TOOLS,
    ToolFinder,
    likely_tools,
    listed,
    make_find_tools,
    show_briefly,
    show_whole,
)
from agent_magic.tools.tool import Tool
from agent_magic.tools.toolbox import Toolbox

SAID = {
    "mean_price": "Mean price of the listings in a city.",
    "weather_now": "The weather of a city at this hour.",
    "weather_forecast": "What the weather will be in the coming days.",
    "convertCurrency": "Turn an amount of money into another currency.",
    "send_mail": "Send a mail to somebody.",
    "list_mails": "The mails that came in today.",
    "translate": "Texts in another language.",
    "plot_line": "Draw a line chart of a column.",
    "列車を探す": "東京の列車の時刻を調べる。",
    "count_words": "How many words a text has.",
}


def function(name: str, text: str) -> Callable[..., Any]:
    def made(x: int) -> int:
        return x

    made.__name__, made.__doc__ = name, f"{text}\n\nArgs:\n    x: a number\n"
    return made


def tools(said: dict[str, str] = SAID) -> dict[str, Tool]:
    return Toolbox([function(name, text) for name, text in said.items()]).current()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What does the weather do tomorrow?", ["weather_now", "weather_forecast"]),
        ("the PRICES of some city", ["mean_price", "weather_now"]),
        ("convert 3 dollars to euros", ["convertCurrency"]),
        ("mailing my mother", ["send_mail", "list_mails"]),
        ("draw charts", ["plot_line"]),
        ("東京の時刻", ["tool_"]),
        ("Do as I said: call translate with it.", ["translate"]),
        ("the of and a x", []),
        ("", []),
        ("héron", []),
    ],
)
def test_finder_finds_what_a_text_is_about(text: str, found: list[str]) -> None:
    names = ToolFinder().find(text, tools())
    assert [name[:5] if name.startswith("tool_") else name for name in names] == found


def test_finder_takes_every_tool_that_is_named_however_many() -> None:
    many = tools({f"read_{n}": "Read." for n in range(30)})
    wanted = [f"read_{n}" for n in range(3, 30)]
    assert set(ToolFinder().find(f"Use {', '.join(wanted)}.", many)) == set(wanted)


def test_finder_follows_a_tool_that_was_redefined() -> None:
    finder = ToolFinder()
    assert finder.find("penguins", tools()) == ()
    assert finder.find("penguins", tools({**SAID, "translate": "Count penguins."})) == ("translate",)


def test_likely_tools_are_some_whatever_the_text_and_stand_in_their_order() -> None:
    many = tools({f"a{n}": "Read a file." for n in range(30)} | {"weather": "Weather of a city."})
    likely = likely_tools(ToolFinder(), "The weather?", many)
    assert likely == (*(f"a{n}" for n in range(FEWEST_TOOLS - 1)), "weather")
    many |= tools({f"b{n}": "Write a letter." for n in range(30)})
    assert likely_tools(ToolFinder(), "Write it", many) == tuple(f"b{n}" for n in range(MOST_TOOLS))


@pytest.mark.parametrize("show", [show_briefly, show_whole])
def test_find_tools_tells_what_it_found(show: Callable[[Tool], str]) -> None:
    find = make_find_tools(tools, ToolFinder(), show)
    said = find("currency of money")
    assert said == {
        "show_briefly": snapshot("""\
Found, and ready to be called:
- convertCurrency: Turn an amount of money into another currency.\
"""),
        "show_whole": snapshot("""\
Found, and ready to be called:
- convertCurrency: Turn an amount of money into another currency.
  Arguments, as JSON Schema: {"type": "object", "properties": {"x": {"type": "integer", "description": "a number"}}, "required": ["x"], "additionalProperties": false}\
"""),
    }[show.__name__]  # fmt: skip


def test_find_tools_that_finds_nothing_names_them_all() -> None:
    find = make_find_tools(
        lambda: tools({"a_tool": "One.", "other_tool": "Two."}), ToolFinder(), show_briefly
    )
    assert find("penguin") == snapshot(
        "No tool fits 'penguin'. Say it in other words. All tools: a_tool, other_tool."
    )


def test_find_tools_itself_is_told_so() -> None:
    find = make_find_tools(tools, ToolFinder(), show_briefly)
    assert find.to_schema() == snapshot(
        ToolSchema(
            name="find_tools",
            description="Find more tools: only the likeliest of them are listed here. What it finds can be called in your next turn.",
            parameters={
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What the tool should do, in a few words."}
                },
                "required": ["query"],
                "additionalProperties": False,
            },
        )
    )
    assert find.warnings == ()


def test_many_names_are_listed_shortly() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed(f"t{n}" for n in range(1_042)).endswith("t38, t39 and 1,002 more")
