"""Thinking told from text while a reply streams in."""

from __future__ import annotations

import pytest

from agent_magic.models.thinking import ThinkingSplitter


def feed(*pieces: str) -> tuple[str, str]:
    splitter = ThinkingSplitter()
    deltas = [delta for piece in pieces for delta in splitter.feed(piece)] + list(splitter.flush())
    return "".join(delta.reasoning for delta in deltas), "".join(delta.text for delta in deltas)


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("<think>hm</think>Yes.", ("hm", "Yes.")),
        ("\n<think>a < b</think>\nYes </think>.", ("a < b", "\nYes </think>.")),
        ("Yes <think>", ("", "Yes <think>")),
        ("<thin", ("", "<thin")),
        ("<think>hm</thi", ("hm</thi", "")),
        ("", ("", "")),
    ],
)
def test_thinking_is_split_whatever_the_pieces(text: str, split: tuple[str, str]) -> None:
    assert feed(text) == split
    assert feed(*text) == split


def test_text_passes_at_once() -> None:
    assert [delta.text for delta in ThinkingSplitter().feed("Yes")] == ["Yes"]
