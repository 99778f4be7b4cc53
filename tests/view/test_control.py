from __future__ import annotations

from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.view.control import Board
from agent_magic.view.protocol import VERBS, HelloData


class Recorder:
    """A `Steered` that writes down what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def greet(self, *, wants_snapshot: bool, wants_bundle: bool) -> HelloData:
        return HelloData(nonce="", is_running=True, settings=None, steps=[None])

    def lens(self, place: int | None, kind: str) -> Any:
        self.asked.append(("lens", place, kind))
        return {"normal": {}, "summary": {}}

    def __getattr__(self, name: str) -> Any:
        def method(*values: Any, **named: Any) -> str:
            self.asked.append((name, *values, *named.values()))
            return f"from {name}"

        return method


@pytest.fixture
def board():
    return Board()


@pytest.fixture
def run(board):
    return Recorder()


@pytest.fixture
def ask(board, run):
    """Asks as a view does that has said hello."""
    nonce = board.put("r1", run)

    def ask(verb: str, **more: Any) -> Any:
        return board.handle({"v": 1, "id": "1", "verb": verb, "nonce": nonce, "run_id": "r1", **more})

    return ask


def test_every_verb_of_the_list_reaches_the_run(ask, run):
    replies = [
        ask("stop"),
        ask("pause"),
        ask("go_on"),
        ask("replan_now"),
        ask("undo"),
        ask("set", name="summary_mode", value="all"),
        ask("set_view", place=2, view="hidden"),
        ask("set_view", place=2, view=None),
        ask("set_pinned", place=0, value=True),
        ask("edit_step", place=1, changes={"plan": "new"}),
        ask("approve", item="i", digest="d"),
        ask("edit", item="i", digest="d", arguments={"a": 1}),
        ask("reject", item="i", digest="d", reason="no"),
        ask("lens", place=None),
        ask("lens", place=3, kind="plan"),
    ]
    assert all(reply["ok"] for reply in replies)
    decided = [asked for asked in run.asked if asked[0] == "decide"]
    assert [asked[:4] for asked in decided] == [
        ("decide", "approve", "i", "d"),
        ("decide", "edit", "i", "d"),
        ("decide", "reject", "i", "d"),
    ]
    assert decided[1][4]["arguments"] == {"a": 1}
    assert decided[2][4]["reason"] == "no"
    assert [asked for asked in run.asked if asked[0] != "decide"] == snapshot(
        [
            ("stop",),
            ("pause",),
            ("go_on",),
            ("replan_now",),
            ("undo",),
            ("set", "summary_mode", "all"),
            ("set_view", 2, "hidden"),
            ("set_view", 2, None),
            ("set_pinned", 0, True),
            ("edit_step", 1, {"plan": "new"}),
            ("lens", None, "act"),
            ("lens", 3, "plan"),
        ]
    )
    assert {"hello"} | {asked[0] for asked in run.asked} - {"decide"} | {"approve", "edit", "reject"} == set(
        VERBS
    )


def test_reply_says_from_when_on_it_holds(ask):
    assert ask("stop") == {"v": 1, "ok": True, "effective": "from stop"}


def test_hello_gives_each_view_a_nonce_of_its_own(board, run):
    board.put("r1", run)
    hello = {"v": 1, "id": "1", "verb": "hello", "run_id": "r1"}
    first, second = board.handle(hello), board.handle(hello)
    assert first["data"]["nonce"] != second["data"]["nonce"]
    for reply in (first, second):
        nonce = reply["data"]["nonce"]
        assert board.handle({"v": 1, "verb": "stop", "nonce": nonce, "run_id": "r1"})["ok"]


FORGED: list[Any] = [
    None,
    "stop",
    [],
    {},
    {"v": 2, "verb": "stop"},
    {"v": 1, "verb": "eval", "run_id": "r1"},
    {"v": 1, "verb": ["stop"], "run_id": "r1"},
    {"v": 1, "verb": "stop", "run_id": "r9", "nonce": "x"},
    {"v": 1, "verb": "stop", "run_id": {}, "nonce": "x"},
    {"v": 1, "verb": "stop", "run_id": "r1"},
    {"v": 1, "verb": "stop", "run_id": "r1", "nonce": "guessed"},
    {"v": 1, "verb": "stop", "run_id": "r1", "nonce": ["x"]},
    {"v": 1, "verb": "stop", "run_id": "r1", "nonce": "x" * 1_000_000},
    {"v": 1, "verb": "hello", "run_id": None},
]


@pytest.mark.parametrize("request_", FORGED, ids=lambda request: repr(request)[:50])
def test_forged_request_is_refused_and_touches_nothing(board, run, request_):
    board.put("r1", run)
    reply = board.handle(request_)
    assert reply["ok"] is False
    assert reply["error"]
    assert run.asked == []


def test_nonce_of_one_run_opens_no_other(board, run):
    nonce = board.put("r1", Recorder())
    board.put("r2", run)
    assert not board.handle({"v": 1, "verb": "stop", "nonce": nonce, "run_id": "r2"})["ok"]
    assert run.asked == []


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("set", {"name": "state", "value": "all"}),
    ("set", {"name": "__class__", "value": 1}),
    ("set", {"value": 1}),
    ("set_view", {"place": -1, "view": "full"}),
    ("set_view", {"place": True, "view": "full"}),
    ("set_view", {"place": "0", "view": "full"}),
    ("set_view", {"place": 0, "view": "loud"}),
    ("set_pinned", {"place": 0, "value": "yes"}),
    ("edit_step", {"place": 0, "changes": "plan"}),
    ("edit_step", {"place": None, "changes": {}}),
    ("approve", {"item": 1, "digest": "d"}),
    ("approve", {"item": "i"}),
    ("lens", {"place": 0, "kind": "dream"}),
    ("lens", {"place": 1.5}),
]


def test_values_that_cannot_be_are_refused_with_what_can(ask, run):
    assert [ask(verb, **values)["error"] for verb, values in WRONG] == snapshot(
        [
            "name is 'state'. It is one of: summary_mode, planning_interval, max_steps, approve.",
            "name is '__class__'. It is one of: summary_mode, planning_interval, max_steps, approve.",
            "name is None. It is one of: summary_mode, planning_interval, max_steps, approve.",
            "place is -1. It is the place of a step, from 0.",
            "place is True. It is the place of a step, from 0.",
            "place is '0'. It is the place of a step, from 0.",
            "view is 'loud'. It is one of: full, summary, hidden.",
            "value is true or false.",
            "changes is an object of the parts that are edited.",
            "place is None. It is the place of a step, from 0.",
            "An answer names the item and the digest of what was shown.",
            "An answer names the item and the digest of what was shown.",
            "kind is 'dream'. It is one of: act, plan, final.",
            "place is 1.5. It is the place of a step, from 0.",
        ]
    )
    assert run.asked == []


def test_what_the_run_refuses_comes_back_as_text_without_secrets(board, monkeypatch):
    monkeypatch.setenv("SHOP_API_KEY", "sk-abcdefgh12345678")

    class Refusing(Recorder):
        def stop(self) -> str:
            raise OptionError("The run has ended. sk-abcdefgh12345678 \x1b[31mred\x1b[0m")

        def pause(self) -> str:
            raise RuntimeError("boom")

    nonce = board.put("r1", Refusing())
    request = {"v": 1, "nonce": nonce, "run_id": "r1"}
    assert board.handle(request | {"verb": "stop"}) == snapshot(
        {"v": 1, "ok": False, "error": "The run has ended. [redacted] red"}
    )
    assert board.handle(request | {"verb": "pause"}) == snapshot(
        {"v": 1, "ok": False, "error": "The kernel could not do this: RuntimeError('boom')"}
    )


def test_board_forgets_the_oldest_runs(board):
    nonces = [board.put(f"r{n}", Recorder()) for n in range(300)]
    assert not board.handle({"v": 1, "verb": "stop", "nonce": nonces[0], "run_id": "r0"})["ok"]
    assert board.handle({"v": 1, "verb": "stop", "nonce": nonces[-1], "run_id": "r299"})["ok"]
