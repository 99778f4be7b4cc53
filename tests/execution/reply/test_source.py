"""What the text of code must be before anything reads it."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ParsingError
from agent_magic.execution.reply.source import is_incomplete, refuse_unreadable, try_parse


def told(code: str) -> str:
    with pytest.raises(ParsingError) as caught:
        refuse_unreadable(code)
    return caught.value.message


def test_nul_character_is_refused_with_its_line() -> None:
    assert told("x = 1\ny = '\0'") == snapshot("""\
Line 2 of the code has a NUL character, U+0000, which Python cannot read; nothing ran.
Leave it out, or write it as an escape inside a string: '\\x00'\
""")


def test_lone_surrogate_is_refused_by_its_number() -> None:
    assert told("x = '\ud83d'") == snapshot("""\
Line 1 of the code has a lone surrogate character, U+D83D, which Python cannot read; nothing ran.
Leave it out, or write it as an escape inside a string: '\\ud83d'\
""")


def test_huge_code_is_refused_with_its_size() -> None:
    assert told("x = 1\n" * 175_000) == snapshot("""\
The code has 1,050,000 characters on 175,001 lines; at most 200,000 on 10,000 can be run, and nothing ran.
Make large data in a loop or read it from where it is, and send the work in smaller steps.\
""")
    assert told("\n" * 64_000).startswith("The code has 64,000 characters on 64,001 lines")


@pytest.mark.parametrize("code", ["x = 'é 🙂'", "x = '\\0'", ""])
def test_ordinary_text_is_not_refused(code: str) -> None:
    refuse_unreadable(code)


@pytest.mark.parametrize(
    "code",
    [
        "y = add(x,",
        "text = '''once",
        "if True:",
        "for i in x:\n  y(",
        "x =",
        "y = a.",
        "x = 'abc",
        "@dec",
        "a if",
        "import",
    ],
)
def test_code_that_lacks_its_end_is_incomplete(code: str) -> None:
    assert is_incomplete(code)


@pytest.mark.parametrize(
    "code", ["x = = 3", "x = 1", "x = 'abc\ny = 2", "%matplotlib inline\nx = 1", "if True:\nx"]
)
def test_code_that_is_wrong_or_whole_is_not_incomplete(code: str) -> None:
    assert not is_incomplete(code)


@pytest.mark.parametrize("code", ["-" * 50_000 + "1", "1" + "+1" * 50_000, "(" * 5_000, "a" + ".b" * 50_000])
def test_code_that_is_nested_too_deep_has_no_tree(code: str) -> None:
    assert try_parse(code) is None


def test_invalid_escape_raises_no_warning() -> None:
    assert try_parse(r"x = '\d'") is not None
