from __future__ import annotations

import base64
import json

import pytest
from inline_snapshot import snapshot
from view.samples import MESSAGES, TOOLS, preview

from agent_magic.record.clean import stored_size
from agent_magic.record.preview import MAX_BYTES, to_preview_record

KEY = "sk-proj-abcdefghijklmnop1234"


def test_preview_record() -> None:
    assert preview() == snapshot(
        {
            "kind": "act",
            "step_number": 2,
            "is_past": False,
            "is_exact": None,
            "is_other_view": False,
            "is_new_run": False,
            "summary_mode": False,
            "model": "openai/gpt-5",
            "messages": [
                {
                    "number": 1,
                    "role": "system",
                    "parts": [
                        {
                            "text": """\
You are an agent.
Use the tools.\
"""
                        }
                    ],
                    "tokens": 12,
                },
                {
                    "number": 2,
                    "role": "user",
                    "parts": [
                        {"text": "How heavy are they?"},
                        {"text": "image/png, 4 × 3 pixels, 73 bytes", "is_image": True},
                    ],
                    "tokens": 300,
                    "is_estimate": True,
                },
                {
                    "number": 3,
                    "role": "assistant",
                    "parts": [{"text": "I look."}],
                    "calls": [{"id": "call_1", "name": "mean_mass", "arguments": '{"island": "Biscoe"}'}],
                    "tokens": 20,
                    "is_new": True,
                },
                {
                    "number": 4,
                    "role": "tool",
                    "parts": [{"text": "4716.0"}],
                    "call_id": "call_1",
                    "tokens": 5,
                    "is_new": True,
                },
            ],
            "messages_left_out": 0,
            "tools": [
                {
                    "name": "mean_mass",
                    "description": """\
Mean body mass of one island.

Both sexes count alike.\
""",
                    "parameters": '{"type": "object", "properties": {"island": {"type": "string"}}, "required": ["island"]}',
                }
            ],
            "tools_left_out": 0,
            "tools_tokens": 40,
            "is_tools_estimate": False,
            "tokens": 377,
            "is_estimate": True,
            "window": 8000,
            "n_messages": 4,
            "n_kept": 2,
            "n_before": 2,
            "options": {"temperature": 0},
        }
    )


def test_preview_record_marks_nothing_as_new_when_there_was_no_call_before() -> None:
    record = preview(n_kept=0, n_before=None)
    assert not any("is_new" in message for message in record["messages"])


def test_preview_record_does_not_know_the_tokens_of_all_when_one_is_unknown() -> None:
    record = preview(tokens=[(12, False), None, (20, False), (5, False)])
    assert record["tokens"] is None
    assert "tokens" not in record["messages"][1]


def test_preview_record_needs_no_tokens_of_tools_that_are_not_there() -> None:
    assert preview(tools=(), tools_tokens=None)["tokens"] == 337


@pytest.mark.parametrize(
    ("url", "note"),
    [
        (f"data:image/jpeg;base64,{base64.b64encode(b'x' * 100).decode()}", "image/jpeg, 100 bytes"),
        ("data:image/png;base64,AAAA", "image/png, 3 bytes"),
        ("data:image/png;base64,é", "image/png, 0 bytes"),
        ("data:,", "image, 0 bytes"),
        ("https://127.0.0.1/a.png", "image at https://127.0.0.1/a.png"),
        ("https://me:word@127.0.0.1/a.png", "image at https://[redacted]@127.0.0.1/a.png"),
    ],
)
def test_preview_record_has_the_size_of_an_image_and_not_the_image(url: str, note: str) -> None:
    content = [{"type": "image_url", "image_url": {"url": url}}]
    message = preview([{"role": "user", "content": content}])["messages"][0]
    assert message["parts"] == [{"text": note, "is_image": True}]


def test_preview_record_keeps_text_and_images_in_their_order() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}, {"type": "other"}]
    parts = preview([{"role": "user", "content": content}])["messages"][0]["parts"]
    assert [part["text"] for part in parts] == ["a", "image/png, 3 bytes", "b", '{"type": "other"}']


@pytest.mark.parametrize("field", ["text", "arguments", "name", "id", "call_id", "tool", "model", "option"])
def test_preview_record_has_no_secret_and_says_where_one_was(field: str) -> None:
    def put(name: str) -> str:
        return f"a {KEY} b" if name == field else "text"

    function = {"name": put("name"), "arguments": put("arguments")}
    record = preview(
        [
            {"role": "user", "content": put("text"), "tool_call_id": put("call_id")},
            {"role": "assistant", "content": None, "tool_calls": [{"id": put("id"), "function": function}]},
        ],
        tools=[{"type": "function", "function": {"name": "t", "description": "", "parameters": put("tool")}}],
        model_id=put("model"),
        options={"stop": put("option")},
    )
    text = json.dumps(record)
    assert "abcdefghijklmnop" not in text
    assert "[redacted]" in text
    assert ("is_redacted" in text) == (field not in ("model", "option"))


def test_preview_record_shows_no_option_that_is_named_like_a_secret() -> None:
    options = {
        "api_key": "hunter2",
        "apikey": "hunter2",
        "max_tokens": 100,
        "extra_headers": {"Authorization": "hunter2", "X-Api-Key": "hunter2", "Accept": "text"},
        "list": [{"password": "hunter2"}],
        "token": None,
    }
    assert preview(options=options)["options"] == snapshot(
        {
            "api_key": "[redacted]",
            "apikey": "[redacted]",
            "max_tokens": 100,
            "extra_headers": {"Authorization": "[redacted]", "X-Api-Key": "[redacted]", "Accept": "text"},
            "list": [{"password": "[redacted]"}],
            "token": None,
        }
    )


def test_preview_record_says_of_a_redacted_word_that_the_model_gets_it_so() -> None:
    record = preview([{"role": "user", "content": "It is [redacted] there."}])
    assert "is_redacted" not in record["messages"][0]


def test_preview_record_has_texts_whole_up_to_20_000_characters() -> None:
    text = "word " * 4_000
    parts = [
        preview([{"role": "user", "content": text + more}])["messages"][0]["parts"] for more in ("", "x")
    ]
    assert parts[0] == [{"text": text}]
    assert 19_900 < len(parts[1][0]["text"]) <= 20_000
    assert "characters cut …" in parts[1][0]["text"]


def test_preview_record_has_the_schema_of_a_tool_whole() -> None:
    properties = {f"p{n}": {"type": "string", "enum": [f"v{i}" for i in range(80)]} for n in range(10)}
    parameters = {"type": "object", "properties": properties}
    record = preview(tools=[{"type": "function", "function": {"name": "t", "parameters": parameters}}])
    assert json.loads(record["tools"][0]["parameters"]) == parameters


@pytest.mark.parametrize("text", ["plain words ", "😀"])
def test_preview_record_is_small_when_all_is_long(text: str) -> None:
    message = {"role": "user", "content": text * 20_000}
    tools = [{"function": {"name": f"t{n}", "description": text * 5_000}} for n in range(150)]
    record = preview([message] * 300, tools=tools, tokens=[], n_kept=290, n_before=290)
    assert stored_size(record) <= MAX_BYTES
    assert len(record["messages"]) == 300
    assert (len(record["tools"]), record["tools_left_out"]) == (100, 50)


def test_preview_record_cuts_what_was_sent_before_first() -> None:
    message = {"role": "user", "content": "word " * 3_000}
    messages = preview([message] * 100, n_kept=98, n_before=98)["messages"]
    lengths = [len(message["parts"][0]["text"]) for message in messages]
    assert lengths[-1] == lengths[-2] == 15_000
    assert lengths[0] <= 4_000


def test_preview_record_of_5000_messages_keeps_the_ends_and_their_numbers() -> None:
    message = {"role": "user", "content": "seen " * 40}
    record = preview([message] * 5_000, n_kept=4_998, n_before=4_998)
    assert stored_size(record) <= MAX_BYTES
    assert record["n_messages"] == 5_000
    assert record["messages_left_out"] == 5_000 - len(record["messages"])
    assert (record["messages"][0]["number"], record["messages"][-1]["number"]) == (1, 5_000)


def test_preview_record_changes_nothing_that_it_is_given() -> None:
    before = json.dumps([MESSAGES, TOOLS])
    preview()
    assert json.dumps([MESSAGES, TOOLS]) == before


def test_preview_record_of_nothing() -> None:
    record = to_preview_record(kind="plan", step_number=1, is_past=True, model_id="m", messages=[])
    assert (record["tokens"], record["messages"], record["tools"]) == (0, [], [])
