"""Cutting and cleaning of text."""

from __future__ import annotations

import random
import re

import pytest
from inline_snapshot import snapshot

from agent_magic.core.text import (
    SHORTEST_CUT,
    first_line,
    replace_surrogates,
    strip_control,
    strip_ends,
    to_display,
    truncate,
)

# -- truncate --------------------------------------------------------------------------------


def test_truncate_returns_the_text_itself_when_it_fits() -> None:
    text = "x" * 100
    assert truncate(text, 100) is text


def test_truncate_keeps_head_and_tail_with_a_note_between() -> None:
    assert truncate("a" * 60 + "b" * 1_000 + "c" * 40, 120) == snapshot("""\
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbb
… 1,006 characters cut …
ccccccccccccccccccccccccccccccc\
""")


def test_truncate_puts_the_hint_into_the_note() -> None:
    assert truncate("a" * 1_000, 120, hint="; the whole is obs_1") == snapshot("""\
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
… 926 characters cut; the whole is obs_1 …
aaaaaaaaaaaaaaaaaaaaaaaa\
""")


def test_truncate_drops_a_hint_that_leaves_no_room() -> None:
    assert truncate("a" * 1_000, 80, hint="; see " + "h" * 100) == snapshot("""\
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
… 946 characters cut …
aaaaaaaaaaaaaaaaaa\
""")


@pytest.mark.parametrize("max_chars", [-1, 0, 79])
def test_truncate_refuses_a_length_below_the_shortest_cut(max_chars: int) -> None:
    with pytest.raises(ValueError) as caught:
        truncate("short", max_chars)
    assert str(caught.value) == f"max_chars is {max_chars}; at least 80 are needed"


def test_truncate_holds_its_length_keeps_both_ends_and_tells_how_much_is_gone() -> None:
    rng = random.Random(7)
    letters = "abc \nß漢😀́\u200d"
    for _ in range(500):
        length = rng.choice([0, 1, 79, 80, 81, 200, 999, 1_000, 9_999, 10_000, 20_000])
        text = "".join(rng.choices(letters, k=length))
        max_chars = rng.randint(SHORTEST_CUT, 12_000)
        hint = rng.choice(["", "; the whole is obs_12", "h" * rng.randint(0, 300)])
        cut = truncate(text, max_chars, hint=hint)
        assert len(cut) <= max_chars
        cut.encode()  # a lone surrogate would raise
        if len(text) <= max_chars:
            assert cut == text
            continue
        notes = re.findall(r"\n… ([\d,]+) characters cut(?:; the whole is obs_12|h*)? …\n", cut)
        assert len(notes) == 1
        head, _, rest = cut.partition("\n… " + notes[0])
        tail = rest.partition("…\n")[2]
        assert head
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + int(notes[0].replace(",", "")) + len(tail) == len(text)


# -- strip_control ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain", "plain"),
        ("tab\there\nnext", "tab\there\nnext"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://a\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\text", "text"),
        ("\x1bMup", "up"),
        ("nul\x00bell\x07del\x7fc1\x9b", "nulbelldelc1"),
        ("line\r\nnext\r\n", "line\nnext\n"),
        ("10 %\r50 %\r100 %\ndone", "100 %\ndone"),
        ("50 %\r100 %\r", "100 %"),
        ("lone \ud800 surrogate", "lone � surrogate"),
        ("漢字 😀 é", "漢字 😀 é"),
        ("end \x1b", "end "),
    ],
)
def test_strip_control_leaves_what_a_terminal_would_show(text: str, clean: str) -> None:
    assert strip_control(text) == clean


def test_strip_control_returns_plain_ascii_itself() -> None:
    text = "x" * 10
    assert strip_control(text) is text


# -- others ----------------------------------------------------------------------------------


def test_to_display_makes_bidi_overrides_visible() -> None:
    assert to_display("a\u202eb\u2066c\x07") == "a⟨U+202E⟩b⟨U+2066⟩c"


def test_replace_surrogates_makes_a_text_that_can_be_encoded() -> None:
    assert replace_surrogates("a\udc80b😀") == "a�b😀"
    assert replace_surrogates("plain") == "plain"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("\n  first \nsecond", "first"),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 99 + "…"),
    ],
)
def test_first_line_is_the_first_that_says_something(text: str, line: str) -> None:
    assert first_line(text) == line


def test_first_line_is_cut_at_the_length_given() -> None:
    assert first_line("abcdef", 4) == "abc…"


def test_lone_carriage_return_ends_a_line_in_a_value_and_overwrites_one_on_a_screen():
    table = "city,price\rOslo,1\rBergen,2\r"
    assert strip_control(table, is_screen=False) == "city,price\nOslo,1\nBergen,2\n"
    assert strip_control(table) == "Bergen,2"


def test_strip_ends_cleans_what_is_left_of_a_long_text():
    text = "\x1b[31mred\x1b[0m" * 1_000 + "\x00" * 9_000 + "a\rb\ud800" * 1_000
    assert truncate(strip_ends(text, 200), 200).count("\x1b") == 0
    assert truncate(strip_ends(text, 200), 200).startswith("redred")
    assert truncate(strip_ends(text, 200), 200).endswith("a\nb\ufffda\nb\ufffd")


def test_strip_ends_gives_a_long_text_with_clean_ends_itself():
    text = "clean" * 400
    assert strip_ends(text, 100) is text


def test_strip_ends_of_a_text_whose_ends_are_control_signs_alone_cleans_all_of_it():
    text = "\x00" * 2_000 + "whole" * 400 + "\x00" * 2_000
    assert strip_ends(text, 100) == "whole" * 400
    assert strip_ends("\x00short", 100) == "short"
