"""Stop texts cut on our side: never inside code."""

from __future__ import annotations

import timeit

import pytest

from agent_magic.core.messages import ChatMessage
from agent_magic.models.stops import cut_at, find_stop

STOP = ("</code>", "Observation:")


def cut(text: str, stop: tuple[str, ...] = STOP) -> str | None:
    return cut_at(ChatMessage(role="assistant", content=text), stop).content


def test_stop_text_alone_cuts_wherever_it_stands() -> None:
    assert cut("I look. Observation: 3\nmore", ("Observation:",)) == "I look. "
    assert cut("Observation: 3", ("Observation:",)) is None


def test_first_of_several_stop_texts_cuts() -> None:
    assert cut("a END b Observation: c", ("Observation:", "END")) == "a "


def test_closing_tag_cuts_nothing() -> None:
    text = 'I look.\n<code>\nx = "</code>"\nprint(x)\n</code>\nand more</code>'
    assert cut(text) == text
    assert find_stop(text, ("</code>",)) is None


def test_dream_after_the_code_is_cut() -> None:
    code = "I look.\n<code>\nprint(1)\n</code>\n"
    assert cut(f"{code}Observation: 1\n<code>\nfinal_answer(1)\n</code>") == code


def test_dream_without_any_code_is_cut() -> None:
    assert cut("I don't know.\nObservation: 3") == "I don't know.\n"


@pytest.mark.parametrize(
    "text",
    [
        'I look.\n<code>\nprint("Observation:", 3)\n</code>',
        'I look.\n<code>\nprint("""\nObservation: 3\n""")\n</code>',
        "I look.\n<code>\nprint('''\nIt's\nObservation: 3\n''')\n</code>",
        'I look.\n<code>\nx = """\n</code>\nObservation: 3\n"""\n</code>',
        "I look.\n<code>\n# don't\nx = '''\n</code>\nObservation: 3\n'''\n</code>",
        'I look.\n<code>\nx = "</code>"\ny = """\nObservation: 3\n"""\n</code>',
        'I look.\n```python\nprint("""\nObservation: 3\n""")\n```\n',
        'print("""\nObservation: 3\n""")',
        'I look.\n<code>\nprint("""\nObservation: 3',
        "It's <code>'x'</code>. Observation: is a word here",
    ],
)
def test_stop_text_in_code_cuts_nothing(text: str) -> None:
    assert cut(text) == text


def test_apostrophes_of_prose_hide_no_dream() -> None:
    assert (
        cut("It's Bob's.\n<code>\nf('a')\n</code>\nObservation: 3")
        == "It's Bob's.\n<code>\nf('a')\n</code>\n"
    )


def test_dream_after_a_fence_is_cut() -> None:
    code = 'I look.\n```python\nprint("```")\n```\n'
    assert cut(f"{code}Observation: 1") == code


def test_comment_does_not_hide_the_end_of_the_code() -> None:
    assert cut("<code>f()  # it's done</code>\nObservation: 3") == "<code>f()  # it's done</code>\n"


@pytest.mark.parametrize(
    "piece", ['"', "'", '"""', "'''", "\\", "#", "<code>", "</code>", "```", "x = '\\\n"]
)
def test_long_text_is_read_in_linear_time(piece: str) -> None:
    text = f"<code>{piece * 100_000}\nObservation: 3"
    assert timeit.timeit(lambda: find_stop(text, STOP), number=1) < 10
