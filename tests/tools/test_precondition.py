"""Preconditions: code that says whether a call may be made, asked right before the body."""

# ruff: noqa: RUF012 - plain class attributes, as people write a tool
from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ToolCallError, ToolDefinitionError, ToolError
from agent_magic.core.state import AgentState
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.decorator import tool
from agent_magic.tools.precondition import Precondition
from agent_magic.tools.tool import Tool
from agent_magic.tools.toolbox import Toolbox


def guarded(requires: Callable[..., Any]) -> tuple[Tool, list[Any]]:
    """A tool with this precondition, and the calls that reached its body."""
    made: list[Any] = []

    @tool(requires=requires)
    def order(n: int, day: dt.date = dt.date(2024, 1, 2), *, gift: bool = False) -> str:
        """Order."""
        made.append((n, day, gift))
        return "ordered"

    return tool_from(order), made


def refusal(requires: Callable[..., Any], **arguments: Any) -> str:
    order, made = guarded(requires)
    with pytest.raises(ToolCallError) as caught:
        order.invoke(order.prepare({"n": 2, **arguments}, AgentState()))
    assert made == []
    return caught.value.message


def is_open() -> bool:
    """The shop is open.

    From nine to five.
    """
    return False


def raising(error: BaseException) -> Callable[[], bool]:
    def check() -> bool:
        raise error

    return check


@pytest.mark.parametrize("verdict", [True, 1, "yes", (True, "whatever"), (True, ""), [0], np.True_])
def test_precondition_that_holds_lets_the_call_through(verdict: Any) -> None:
    order, made = guarded(lambda: verdict)
    assert order.invoke(order.prepare({"n": 2}, AgentState())) == "ordered"
    assert len(made) == 1


def test_precondition_that_does_not_hold_refuses_the_call() -> None:
    verdicts: list[Any] = [False, None, 0, (False, "The shop is closed."), (False, ""), (0, "sold out"), ()]
    assert [refusal(lambda verdict=verdict: verdict) for verdict in verdicts] == snapshot(
        [
            "order was not called, as its condition does not hold. See to it that the condition holds, or do without this call.",
            "order was not called, as its condition does not hold. See to it that the condition holds, or do without this call.",
            "order was not called, as its condition does not hold. See to it that the condition holds, or do without this call.",
            "order was not called, as its condition does not hold: The shop is closed. See to it that the condition holds, or do without this call.",
            "order was not called, as its condition does not hold. See to it that the condition holds, or do without this call.",
            "order was not called, as its condition does not hold: sold out. See to it that the condition holds, or do without this call.",
            "order was not called, as its condition does not hold. See to it that the condition holds, or do without this call.",
        ]
    )


def test_precondition_without_a_reason_is_told_by_its_docstring() -> None:
    assert refusal(is_open) == snapshot(
        "order was not called, as its condition 'is_open' does not hold (The shop is open). See to it that the condition holds, or do without this call."
    )


def test_precondition_that_raises_refuses_the_call() -> None:
    errors = [
        ValueError("no stock"),
        ToolError("Ask for the price first."),
        ToolCallError("2 is too many."),
        KeyError("n"),
    ]
    assert [refusal(raising(error)) for error in errors] == snapshot(
        [
            "order was not called, as its condition 'check' raised ValueError: no stock. See to it that the condition holds, or do without this call.",
            "order was not called, as its condition 'check' does not hold: Ask for the price first. See to it that the condition holds, or do without this call.",
            "order was not called, as its condition 'check' does not hold: 2 is too many. See to it that the condition holds, or do without this call.",
            "order was not called, as its condition 'check' raised KeyError: 'n'. See to it that the condition holds, or do without this call.",
        ]
    )
    assert refusal(lambda: pd.DataFrame({"a": [1]})).startswith(
        "order was not called, as its condition raised ValueError: The truth value of a DataFrame is ambiguous."
    )


def test_precondition_that_is_interrupted_is_no_refusal() -> None:
    order, _ = guarded(raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        order.invoke(order.prepare({"n": 2}, AgentState()))


def test_precondition_is_given_the_arguments_that_it_names_as_the_body_gets_them() -> None:
    seen: list[Any] = []

    def few(day: dt.date, n: int, extra: int = 7) -> bool:
        seen.append((day, n, extra))
        return True

    def whole(**arguments: Any) -> bool:
        seen.append(arguments)
        return True

    for requires in (few, whole):
        order, _ = guarded(requires)
        order.invoke(order.prepare({"n": "2", "day": "2024-05-06"}, AgentState()))
        order.invoke(order.prepare({"n": 2}, None))
    assert seen == snapshot(
        [
            (date(2024, 5, 6), 2, 7),
            (date(2024, 1, 2), 2, 7),
            {"day": date(2024, 5, 6), "gift": False, "n": 2},
            {"day": date(2024, 1, 2), "gift": False, "n": 2},
        ]
    )


def test_precondition_is_given_what_goes_by_position_only() -> None:
    seen: list[Any] = []

    @tool(requires=lambda **given: seen.append(given) or True)
    def label(text: str, width: int = 3, /, *parts: str, fill: str = ".") -> str:
        """Label."""
        return text + "".join(parts) + fill * width

    made = tool_from(label)
    made.invoke(made.prepare({"text": "a"}, AgentState()))
    made.invoke(made.prepare({"text": "a", "width": 1, "*parts": ("b",)}, None))
    assert seen == [{"text": "a", "width": 3, "fill": "."}, {"text": "a", "width": 1, "fill": "."}]


def test_precondition_is_asked_at_each_call() -> None:
    stock = [1, 0]
    order, made = guarded(lambda: (stock.pop(0) > 0, "sold out"))
    prepared = order.prepare({"n": 1}, AgentState())
    order.invoke(prepared)
    with pytest.raises(ToolCallError, match="sold out"):
        order.invoke(prepared)
    assert len(made) == 1


def test_precondition_of_an_async_tool_is_asked_before_it_begins() -> None:
    @tool(requires=is_open)
    async def order(n: int) -> str:
        """Order."""
        return "ordered"

    made = tool_from(order)
    with pytest.raises(ToolCallError):
        made.invoke(made.prepare({"n": 1}, AgentState()))
    assert asyncio.run(order(1)) == "ordered"


def test_precondition_that_turns_out_async_refuses_the_call() -> None:
    async def check() -> bool:
        return True

    def hiding() -> Any:
        return check()

    assert refusal(hiding) == snapshot(
        "order was not called, as its condition 'hiding' is async, and cannot be asked before a call. See to it that the condition holds, or do without this call."
    )


def test_precondition_is_not_asked_when_python_calls_the_function() -> None:
    @tool(requires=is_open)
    def order(n: int) -> int:
        """Order."""
        return n

    assert order(2) == 2


def test_precondition_shows_no_secret_and_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "sk-proj-abcdefghijklmnopqrstuvwxyz012345")
    text = refusal(lambda: (False, "key sk-proj-abcdefghijklmnopqrstuvwxyz012345 " + "x" * 10_000))
    assert "abcdefghij" not in text
    assert len(text) < 1_200


class Shop(Tool):
    name = "shop"
    description = "Buy."
    inputs = {"n": {"type": "integer", "description": "how many"}}
    output_type = "integer"

    def setup(self) -> None:
        self.stock = 3

    def requires(self, n: int) -> tuple[bool, str]:
        """Enough is there."""
        return n <= self.stock, f"only {self.stock} are left"

    def forward(self, n: int) -> int:
        return n


def test_class_form_writes_its_precondition_as_a_method() -> None:
    shop = Shop()
    assert shop.invoke(shop.prepare({"n": 3}, AgentState())) == 3
    with pytest.raises(ToolCallError) as caught:
        shop.invoke(shop.prepare({"n": 4}, AgentState()))
    assert caught.value.message == snapshot(
        "shop was not called, as its condition does not hold: only 3 are left. See to it that the condition holds, or do without this call."
    )


@pytest.mark.parametrize("held", [is_open, staticmethod(is_open), lambda: False])
def test_class_form_is_given_a_function_as_its_precondition(held: Any) -> None:
    class Kiosk(Shop):
        requires = held

    kiosk = Kiosk()
    with pytest.raises(ToolCallError, match="was not called"):
        kiosk.invoke(kiosk.prepare({"n": 1}, AgentState()))
    assert kiosk.renamed("stall").definition.precondition is not None


def test_tool_without_a_precondition_has_none() -> None:
    assert tool_from(is_open).definition.precondition is None


def test_toolbox_makes_a_tool_anew_when_its_precondition_changed() -> None:
    def order(n: int) -> int:
        """Order."""
        return n

    box = Toolbox([order])
    assert box.current()["order"].definition.precondition is None
    tool(requires=is_open)(order)
    assert isinstance(box.current()["order"].definition.precondition, Precondition)


async def _async_check() -> bool:
    return True


def _takes_other(amount: int) -> bool:
    return amount > 0


def _by_position(n: int, /) -> bool:
    return n > 0


@pytest.mark.parametrize(
    ("requires", "text"),
    [
        (
            "is_open",
            snapshot("""\
Tool 'order': its 'requires' is 'is_open', which cannot be called.
Write requires=fn, the function itself\
"""),
        ),
        (
            _async_check,
            snapshot("""\
Tool 'order': its 'requires' is async, so it could not be asked before the call.
Write it with def alone\
"""),
        ),
        (
            _takes_other,
            snapshot("""\
Tool 'order': its 'requires' takes 'amount', which is no parameter of the tool (n, day, gift).
Write it without that parameter\
"""),
        ),
        (
            _by_position,
            snapshot("""\
Tool 'order': its 'requires' takes 'n' by position only.
Write its parameters without the /\
"""),
        ),
    ],
)
def test_precondition_that_could_not_be_asked_is_refused_at_definition(requires: Any, text: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        guarded(requires)
    assert caught.value.message == text


def test_class_form_with_a_precondition_that_is_no_function_is_refused() -> None:
    with pytest.raises(ToolDefinitionError) as caught:

        class _Kiosk(Shop):
            requires = "is_open"  # pyright: ignore[reportAssignmentType] - the fault

    assert caught.value.message == snapshot("""\
Tool class _Kiosk: 'requires' is 'is_open', expected a function.
Write:  requires = is_allowed\
""")
