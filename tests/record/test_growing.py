"""Texts that grow while a model writes: what is shown stays, and no part of a key is."""

from __future__ import annotations

import random

import pytest

from agent_magic.record.growing import KEPT_CHARS, MOST_CHARS, GrowingArguments, GrowingText

KEY = "sk-proj-abcdefghijklmnop0123456789"
BLOCK = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEowIBAAKCAQEA0123456789abcdef\n" * 30
    + "-----END RSA PRIVATE KEY-----"
)


def prose(n_chars: int, seed: int = 0) -> str:
    words = ["the", "mean", "price", "of", "a", "flat", "in", "Oslo", "rises,", "slowly.\n", "Ærø"]
    chance = random.Random(seed)
    text = ""
    while len(text) < n_chars:
        text += chance.choice(words) + " "
    return text[:n_chars]


def test_text_only_grows_as_long_as_it_is_not_cut() -> None:
    growing, before = GrowingText(), ""
    for character in prose(3_000):
        growing.add(character)
        shown = growing.to_text()
        assert shown.startswith(before)
        before = shown
    assert before == prose(3_000).strip()


def test_older_part_of_a_long_text_goes_at_once_and_seldom() -> None:
    growing, text, n_cuts, before = GrowingText(), prose(50_000), 0, ""
    for place in range(0, len(text), 20):
        growing.add(text[place : place + 20])
        shown = growing.to_text()
        n_cuts += not shown.startswith(before)
        before = shown
        assert len(shown) <= MOST_CHARS
        assert len(shown) > min(place - 20, KEPT_CHARS - 20)
    assert n_cuts == 3
    assert before.startswith("…")
    assert text.endswith(before[1:])


@pytest.mark.parametrize("at", [*range(MOST_CHARS - 60, MOST_CHARS + 5, 3)])
def test_key_at_the_place_of_a_cut_is_not_shown(at: int) -> None:
    growing = GrowingText()
    growing.add(prose(at))
    for piece in [*f" {KEY} ", *prose(100), prose(MOST_CHARS)]:
        growing.add(piece)
        shown = growing.to_text()
        assert "abcdefghijklmnop" not in shown
        assert KEY[-10:] not in shown


@pytest.mark.parametrize("at", [10, MOST_CHARS - 400])
def test_key_of_several_lines_is_not_shown_line_by_line(at: int) -> None:
    growing = GrowingText()
    for line in f"{prose(at)}\n{BLOCK}\nand so on".splitlines(keepends=True):
        growing.add(line)
        assert "MIIEow" not in growing.to_text()
    assert growing.to_text().endswith("[redacted]\nand so on")


def test_block_that_never_ends_is_shown_some_time() -> None:
    growing = GrowingText()
    growing.add("-----BEGIN PRIVATE KEY-----\n" + prose(9_000))
    assert len(growing.to_text()) > 9_000


@pytest.mark.parametrize("make", [GrowingText, GrowingArguments])
def test_text_without_white_space_is_bounded(make: type[GrowingText]) -> None:
    growing = make()
    for _ in range(100):
        growing.add('"' + "x" * 1_000)
    assert len(growing) <= MOST_CHARS + KEPT_CHARS + 1


@pytest.mark.parametrize("at", range(MOST_CHARS - 60, MOST_CHARS + 5, 5))
def test_key_in_arguments_at_the_place_of_a_cut_is_not_shown(at: int) -> None:
    growing = GrowingArguments()
    growing.add(f'{{"text": "{prose(at - 20)}", ')
    for piece in [*f'"key": "{KEY}", "more": "{prose(100)}', prose(MOST_CHARS)]:
        growing.add(piece)
        shown = growing.to_text()
        assert "abcdefghijklmnop" not in shown
        assert KEY[-10:] not in shown
