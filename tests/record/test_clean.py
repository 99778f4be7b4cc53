from __future__ import annotations

import json

import pytest

from agent_magic.record.clean import clean_text, cut_arguments, redact_plain, stored_size, to_json, to_plain

KEY = "sk-proj-abcdefghijklmnop1234"


class Weird:
    def __repr__(self) -> str:
        raise ValueError("no")


def cyclic() -> list[object]:
    items: list[object] = [1]
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ((1, 2.5, "a"), [1, 2.5, "a"]),
        ({1: "a", "b": {"c": None}}, {"1": "a", "b": {"c": None}}),
        (b"ab", "b'ab'"),
        (list(range(60)), [*range(50), "… 10 more"]),
    ],
)
def test_to_plain_gives_json_of_any_value(value: object, plain: object) -> None:
    assert to_plain(value) == plain


def test_to_plain_names_a_value_whose_repr_raises() -> None:
    assert to_plain(Weird()) == "<Weird whose repr raised ValueError>"


def test_to_plain_takes_a_number_too_long_to_write() -> None:
    assert to_plain(10**5_000) == "<int of about 5,000 digits>"


def test_to_plain_ends_when_a_value_holds_itself() -> None:
    assert len(to_json(to_plain(cyclic()))) < 200


def test_to_plain_holds_at_most_400_parts() -> None:
    wide = {f"k{i}": [[i] * 40] * 40 for i in range(40)}
    assert to_json(to_plain(wide)).count("…") > 0
    assert len(to_json(to_plain(wide))) < 5_000


def test_redact_plain_looks_into_values_and_into_keys_of_arguments() -> None:
    plain = {"name": "call", "arguments": {KEY: [f"use {KEY} now"]}, "n": 3}
    assert redact_plain(plain) == {
        "name": "call",
        "arguments": {"[redacted]": ["use [redacted] now"]},
        "n": 3,
    }


def test_redact_plain_keeps_its_own_keys_when_a_secret_is_spelled_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DB_PASSWORD", "duration_s")
    assert redact_plain({"duration_s": "is duration_s"}) == {"duration_s": "is [redacted]"}


def test_redact_plain_finds_a_key_that_colour_sequences_are_put_into() -> None:
    assert redact_plain({"a": "sk-proj-abcdefgh\x1b[31mijklmnop1234"}) == {"a": "[redacted]"}


def test_redact_plain_keeps_texts_apart_when_a_secret_reaches_over_two() -> None:
    texts = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "last text"]
    assert redact_plain(texts) == texts


def test_cut_arguments_keeps_short_ones_and_cuts_long_values() -> None:
    cut = cut_arguments({"n": 3, "text": "x" * 5_000, "items": list(range(1_000))}, 600)
    assert isinstance(cut, dict)
    assert cut["n"] == 3
    assert len(cut["text"]) <= 200
    assert isinstance(cut["items"], str)
    assert "characters cut" in cut["items"]


def test_cut_arguments_says_how_many_are_left_out() -> None:
    cut = cut_arguments({f"name_{i}": "x" * 50 for i in range(100)}, 400)
    assert isinstance(cut, dict)
    assert len(cut) == 6
    assert cut["…"] == "95 more"


def test_stored_size_is_no_less_than_what_a_notebook_file_takes() -> None:
    nbformat = pytest.importorskip("nbformat")
    data = {"steps": [{"text": "é\n" * 10, "n": i, "list": [1, 2]} for i in range(20)]}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("")])
    notebook.cells[0].outputs = [nbformat.v4.new_output("display_data", {"application/x+json": {}})]
    empty = len(nbformat.writes(notebook).encode())
    notebook.cells[0].outputs = [nbformat.v4.new_output("display_data", {"application/x+json": data})]
    assert len(nbformat.writes(notebook).encode()) - empty <= stored_size(data)
    assert stored_size(data) < 2 * len(json.dumps(data)) + 5_000


def test_cut_text_counts_all_that_is_missing_from_a_huge_text() -> None:
    text = "ab " * 1_000_000
    cut = clean_text(text, 1_000)
    head, note, tail = cut.split("\n")
    assert len(cut) <= 1_000
    assert text.startswith(head)
    assert text.endswith(tail)
    assert note == f"… {len(text) - len(head) - len(tail):,} characters cut …"


@pytest.mark.parametrize("place", [49_990, -50_010])
def test_clean_text_shows_no_half_key_where_a_huge_text_is_parted(place: int) -> None:
    colours = "\x1b[31m" * 100_000
    at = place % len(colours)
    text = f"{colours[: at - at % 5]} {KEY} {colours[at - at % 5 :]}"
    assert "sk-proj" not in clean_text(text, 1_000)
    assert "klmnop1234" not in clean_text(text, 1_000)
