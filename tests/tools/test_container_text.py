"""Lists and objects in texts."""

from __future__ import annotations

import json

import pytest

from agent_magic.tools.container_text import MAX_CHARS, read_container


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[]", []),
        ("{}", {}),
        (' [1, 2.5, null, true, "a"]\n', [1, 2.5, None, True, "a"]),
        ('{"a": {"b": ["[", "}"]}}', {"a": {"b": ["[", "}"]}}),
        ('["\\ud83d\\ude00", "é"]', ["😀", "é"]),
    ],
)
def test_container_is_read(text, value):
    assert read_container(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "1",
        "null",
        '"[1]"',
        "[1,]",
        "['a']",
        "[1] [2]",
        "{'a': 1}",
        "[NaN]",
        "[-Infinity]",
        "[1e999]",
        '{"a": 1, "a": 2}',
        '["\\ud800"]',
        '["raw\nline"]',
        "[" + "9" * 5_000 + "]",
    ],
)
def test_container_is_not_read_when_the_text_is_not_strictly_that(text):
    assert read_container(text) is None


def test_container_is_read_up_to_its_depth():
    assert json.dumps(read_container("[" * 64 + "]" * 64)) == "[" * 64 + "]" * 64
    assert read_container("[" * 65 + "]" * 65) is None
    assert read_container("[[1], [2]]", 2) == [[1], [2]]
    assert read_container("[[1]]", 1) is None
    assert read_container("[" * 400_000) is None


def test_container_is_read_up_to_its_length():
    assert read_container(json.dumps(["x" * (MAX_CHARS - 4)])) == ["x" * (MAX_CHARS - 4)]
    assert read_container(json.dumps(["x" * (MAX_CHARS - 3)])) is None
