"""What a person is asked: items, and the digests that bind an answer to what was shown."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from agent_magic.core.approval import call_item, plan_item
from agent_magic.core.messages import ToolCall


def _item(arguments: Any, *, name: str = "add", item_id: str = "q-0") -> Any:
    return call_item(item_id, ToolCall(id="c", name=name, arguments=arguments))


def test_item_has_the_name_that_a_person_uses() -> None:
    assert _item({"a": 1}).name == "add"
    assert plan_item("q-0", "1. Look.").name == "the plan"


def test_digest_is_that_of_the_same_item_and_arguments() -> None:
    assert _item({"a": 1, "b": [2]}).digest == _item({"a": 1, "b": [2]}).digest


@pytest.mark.parametrize(
    "other",
    [
        _item({"a": 1}),
        _item({"a": 2, "b": 2}),
        _item({"a": 1, "b": "2"}),
        _item({"a": 1, "b": 2}, name="sub"),
        _item({"a": 1, "b": 2}, item_id="q-1"),
        plan_item("q-0", "add"),
    ],
)
def test_digest_is_another_for_whatever_differs(other: Any) -> None:
    assert _item({"a": 1, "b": 2}).digest != other.digest


@pytest.mark.parametrize(
    "value", [{1: 2}, {"x": object}, {"x": {(1, 2): 3}}, {"s": "\ud800"}, {"n": float("nan")}]
)
def test_digest_is_made_of_whatever_python_code_gives(value: Any) -> None:
    assert _item(value).digest == _item(value).digest


def test_digest_of_a_value_inside_itself_is_made() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert _item(loop).digest


def test_digest_cannot_be_made_by_another_process() -> None:
    code = "from agent_magic.core.approval import plan_item\nprint(plan_item('q-0', '1. Look.').digest)"
    theirs = subprocess.check_output([sys.executable, "-c", code], text=True).strip()
    assert len(theirs) == 32
    assert theirs != plan_item("q-0", "1. Look.").digest
