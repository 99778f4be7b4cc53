"""What goes over the wire while a run goes on."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from agent_magic.core.events import ArgumentsDelta, Event, StepStarted, TextDelta
from agent_magic.record.draft import RunDraft
from agent_magic.view.feed import Feed
from agent_magic.view.html import now_html


def pieces(n: int, n_chars: int) -> list[str]:
    words = ["the", "mean", "price", "of", "a", "flat", "Oslo", "rises,", "considerably", "slowly.", "2027"]
    chance = random.Random(0)
    text = ""
    while len(text) < n * n_chars:
        text += chance.choice(words) + " "
    return [text[place : place + n_chars] for place in range(0, n * n_chars, n_chars)]


def told(events: list[Event], every: int = 1) -> list[Any]:
    """The messages of a model that writes, with one drawing for so many events."""
    draft, feed = RunDraft(clock=lambda: 0.0), Feed()
    draft.add(StepStarted(step_number=1))
    messages: list[Any] = feed.take(draft.to_record(), None)
    for place, event in enumerate(events):
        draft.add(event)
        if place % every == every - 1 or place == len(events) - 1:
            messages += feed.take(draft.to_record(), None)
    return messages


def grown(messages: list[Any]) -> str:
    """The text in the page."""
    text = ""
    for message in messages:
        if message["kind"] == "text":
            units = text.encode("utf-16-le")[: 2 * message["at"]]
            text = units.decode("utf-16-le") + message["add"]
    return text


@pytest.mark.parametrize("every", [1, 20])
def test_long_text_goes_over_the_wire_about_once(every: int) -> None:
    parts = pieces(2_000, 20)
    messages = told([TextDelta(step_number=1, text=part) for part in parts], every)
    added = sum(len(message["add"]) for message in messages if message["kind"] == "text")
    assert added < 1.6 * 40_000
    if every > 1:  # as it is drawn 20 times a second: the messages around the text are counted too
        assert len(json.dumps(messages)) < 1.6 * 40_000
    assert "".join(parts).rstrip().endswith(grown(messages)[-3_000:])


def test_long_arguments_go_over_the_wire_about_once() -> None:
    text = json.dumps({"text": "".join(pieces(2_000, 20))})
    parts = [text[place : place + 20] for place in range(0, len(text), 20)]
    messages = told(
        [ArgumentsDelta(step_number=1, place=0, name="tell", text=part) for part in parts], every=20
    )
    assert len(json.dumps(messages)) < 1.6 * 40_000
    assert grown(messages)[-3_000:] == text[-3_000:]


def test_page_without_a_widget_is_told_the_newest_of_a_long_text_alone() -> None:
    draft = RunDraft(clock=lambda: 0.0)
    draft.add(StepStarted(step_number=1))
    for part in pieces(500, 20):
        draft.add(TextDelta(step_number=1, text=part))
    now = draft.to_record()["now"]  # pyright: ignore[reportTypedDictNotRequiredAccess] - it goes on
    assert len(now.get("thought", "")) > 9_000
    assert len(now_html(now)) < 3_000
    assert "…" + now.get("thought", "")[-1_500:] in now_html(now)
