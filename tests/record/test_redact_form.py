from __future__ import annotations

import base64
from typing import Any

import pytest

from agent_magic.record.redact_form import redact_form

KEY = "sk-proj-abcdefghijklmnop1234"
GONE = "[redacted]"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


@pytest.mark.parametrize(
    ("form", "found"),
    [
        (f"use {KEY}", f"use {GONE}"),
        ([1, KEY, None], [1, GONE, None]),
        ({"task": KEY}, {"task": GONE}),
        ({"arguments": {KEY: [KEY]}}, {"arguments": {GONE: [GONE]}}),
        ({"output": {"$": "dict", "items": [[1, KEY]]}}, {"output": {"$": "dict", "items": [[1, GONE]]}}),
        ({"$": "bytes", "text": _base64(KEY)}, {"$": "bytes", "text": _base64(GONE)}),
        ({"$": "str", "text": _base64(f"\ud800 {KEY}")}, {"$": "str", "text": _base64(f"\ufffd {GONE}")}),
        ({"$": "object", "type": "a", "preview": KEY}, {"$": "object", "type": "a", "preview": GONE}),
        ({"old": {"call": KEY}, "new": {}}, {"old": {"call": GONE}, "new": {}}),
        ({"task": f"a\n{KEY[:9]}\x1b[0m{KEY[9:]}"}, {"task": f"a\n{GONE}"}),
    ],
)
def test_secrets_are_taken_out(form: Any, found: Any) -> None:
    assert redact_form(form) == found


@pytest.mark.parametrize(
    "form",
    [
        {"task": "\x1b[31mred\x00 \ud83d"},
        {"arguments": {"a": [1, 2.5, {"$": "tuple", "items": ["x"]}]}},
        {"$": "bytes", "text": _base64("data")},
        {"images": [{"png": _base64(KEY)}]},
    ],
)
def test_form_without_secrets_is_the_very_object(form: Any) -> None:
    assert redact_form(form) is form


def test_words_of_the_form_are_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "assistant")
    form = {
        "role": "assistant",
        "content": "the assistant",
        "old": "assistant",
        "arguments": {"role": "assistant"},
    }
    assert redact_form(form) == {
        "role": "assistant",
        "content": f"the {GONE}",
        "old": "assistant",
        "arguments": {"role": GONE},
    }
