"""Messages and schemas in the form that chat providers take."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping

import pytest
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.core.messages import ChatMessage, ImagePart, ToolCall, ToolExample, ToolSchema
from agent_magic.models.provider_form import to_arguments_json, to_provider_messages, to_provider_tools

HISTORY = [
    ChatMessage(role="system", content="You are an agent."),
    ChatMessage(role="user", content="Add."),
    ChatMessage(
        role="assistant",
        content="First the one.",
        tool_calls=(
            ToolCall(id="c1", name="add", arguments={"a": 1, "t": "é"}),
            ToolCall(id="c2", name="now", arguments=""),
        ),
    ),
    ChatMessage(role="tool", content="3", tool_call_id="c1"),
    ChatMessage(role="tool", content="noon", tool_call_id="c2"),
    ChatMessage(role="user", content="Go on."),
    ChatMessage(role="assistant", tool_calls=(ToolCall(id="c3", name="now"),)),
]


def test_messages_for_native_calls() -> None:
    assert to_provider_messages(HISTORY, native_tools=True, images=False) == snapshot(
        [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "Add."},
            {
                "role": "assistant",
                "content": "First the one.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "add", "arguments": '{"a": 1, "t": "é"}'},
                    },
                    {"id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "3"},
            {"role": "tool", "tool_call_id": "c2", "content": "noon"},
            {"role": "user", "content": "Go on."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c3", "type": "function", "function": {"name": "now", "arguments": "{}"}}
                ],
            },
        ]
    )


def test_messages_for_a_model_that_writes_its_calls_as_text() -> None:
    assert to_provider_messages(HISTORY, native_tools=False, images=False) == snapshot(
        [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "Add."},
            {
                "role": "assistant",
                "content": """\
First the one.
{"name": "add", "arguments": {"a": 1, "t": "é"}}
{"name": "now", "arguments": {}}\
""",
            },
            {
                "role": "user",
                "content": """\
Observation:
3

Observation:
noon

Go on.\
""",
            },
            {"role": "assistant", "content": '{"name": "now", "arguments": {}}'},
        ]
    )


def test_the_messages_can_be_changed_without_harm() -> None:
    before = json.dumps(to_provider_messages(HISTORY, native_tools=True, images=False))
    changed = to_provider_messages(HISTORY, native_tools=True, images=False)
    changed[2]["tool_calls"][0]["function"]["arguments"] = "changed"
    changed[0]["content"] = "changed"
    assert json.dumps(to_provider_messages(HISTORY, native_tools=True, images=False)) == before


def test_a_message_is_converted_once() -> None:
    class Arguments(Mapping[str, object]):
        n_reads = 0

        def __getitem__(self, key: str) -> object:
            Arguments.n_reads += 1
            return {"a": 1}[key]

        def __iter__(self):
            return iter(["a"])

        def __len__(self):
            return 1

    message = ChatMessage(role="assistant", tool_calls=(ToolCall(id="c", name="f", arguments=Arguments()),))
    to_provider_messages([message], native_tools=True, images=False)
    to_provider_messages([message], native_tools=True, images=False)
    assert Arguments.n_reads == 1


def picture(mode: str = "RGB") -> Image.Image:
    return Image.new(mode, (3, 2))


def test_an_image_goes_as_a_data_url_after_the_text() -> None:
    message = ChatMessage(role="user", content="Look.", images=(ImagePart(image=picture(), name="pic"),))
    [sent] = to_provider_messages([message], native_tools=True, images=True)
    assert sent["content"][0] == {"type": "text", "text": "Look."}
    url = sent["content"][1]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,")
    assert Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).size == (3, 2)


def test_an_image_of_any_mode_can_be_sent() -> None:
    for mode in ("CMYK", "F", "HSV", "1", "RGBA"):
        message = ChatMessage(role="user", images=(ImagePart(image=picture(mode)),))
        [sent] = to_provider_messages([message], native_tools=True, images=True)
        assert [part["type"] for part in sent["content"]] == ["image_url"]


def test_an_image_is_encoded_once_and_let_go_with_it() -> None:
    class Counted(Image.Image):
        n_saved = 0

        def save(self, *args, **kwargs):
            Counted.n_saved += 1
            super().save(*args, **kwargs)

    image = picture()
    image.__class__ = Counted
    message = ChatMessage(role="user", images=(ImagePart(image=image),))
    for _ in range(3):
        to_provider_messages([message], native_tools=True, images=True)
    assert Counted.n_saved == 1


def test_a_model_that_sees_nothing_gets_a_note() -> None:
    parts = (ImagePart(image=picture(), name="pic"), ImagePart(image=picture()))
    message = ChatMessage(role="user", content="Look.", images=parts)
    assert to_provider_messages([message], native_tools=True, images=False) == snapshot(
        [
            {
                "role": "user",
                "content": """\
Look.
[image pic: 3 × 2 pixels]
[image: 3 × 2 pixels]\
""",
            }
        ]
    )


RESULTS = [
    ChatMessage(
        role="assistant",
        tool_calls=(
            ToolCall(id="c1", name="plot"),
            ToolCall(id="c2", name="now"),
            ToolCall(id="c3", name="map"),
        ),
    ),
    ChatMessage(
        role="tool", content="A figure.", tool_call_id="c1", images=(ImagePart(image=picture(), name="fig"),)
    ),
    ChatMessage(role="tool", content="noon", tool_call_id="c2"),
    ChatMessage(
        role="tool",
        content="Maps.",
        tool_call_id="c3",
        images=(ImagePart(image=picture()), ImagePart(image=picture(), name="map_2")),
    ),
    ChatMessage(role="user", content="Go on.", is_ours=True),
    ChatMessage(role="assistant", tool_calls=(ToolCall(id="c4", name="plot"),)),
    ChatMessage(
        role="tool", content="Another.", tool_call_id="c4", images=(ImagePart(image=picture(), name="fig_2"),)
    ),
]


def shown(messages: list[dict[str, object]]) -> list[object]:
    """Role and content of each, an image as `IMAGE`."""

    def part_text(part: dict[str, object]) -> object:
        return part.get("text", "IMAGE")

    return [
        (one["role"], [part_text(part) for part in content] if isinstance(content, list) else content)
        for one in messages
        for content in [one["content"]]
    ]


def test_images_of_results_follow_in_one_message_after_the_results() -> None:
    assert shown(to_provider_messages(RESULTS, native_tools=True, images=True)) == snapshot(
        [
            ("assistant", None),
            ("tool", "A figure."),
            ("tool", "noon"),
            ("tool", "Maps."),
            (
                "user",
                [
                    "Image @fig, from plot (c1):",
                    "IMAGE",
                    "Image, from map (c3):",
                    "IMAGE",
                    "Image @map_2, from map (c3):",
                    "IMAGE",
                ],
            ),
            ("user", "Go on."),
            ("assistant", None),
            ("tool", "Another."),
            ("user", ["Image @fig_2, from plot (c4):", "IMAGE"]),
        ]
    )


def test_images_of_results_are_there_before_the_history_goes_on() -> None:
    whole = to_provider_messages(RESULTS, native_tools=True, images=True)
    for n in (4, 5, 6, 7):
        begin = to_provider_messages(RESULTS[:n], native_tools=True, images=True)
        assert whole[: len(begin)] == begin


def test_images_of_results_follow_the_observation_in_text_form() -> None:
    assert shown(to_provider_messages(RESULTS, native_tools=False, images=True)) == snapshot(
        [
            (
                "assistant",
                """\
{"name": "plot", "arguments": {}}
{"name": "now", "arguments": {}}
{"name": "map", "arguments": {}}\
""",
            ),
            (
                "user",
                [
                    """\
Observation:
A figure.\
""",
                    "IMAGE",
                    """\
Observation:
noon\
""",
                    """\
Observation:
Maps.\
""",
                    "IMAGE",
                    "IMAGE",
                    "Go on.",
                ],
            ),
            ("assistant", '{"name": "plot", "arguments": {}}'),
            (
                "user",
                [
                    """\
Observation:
Another.\
""",
                    "IMAGE",
                ],
            ),
        ]
    )


def test_images_of_results_add_nothing_where_the_model_sees_nothing() -> None:
    native = to_provider_messages(RESULTS, native_tools=True, images=False)
    text = to_provider_messages(RESULTS, native_tools=False, images=False)
    assert [one["content"] for one in native if one["role"] == "tool"] == [
        "A figure.",
        "noon",
        "Maps.",
        "Another.",
    ]
    assert len(native) == len(RESULTS)
    assert (
        text[1]["content"] == "Observation:\nA figure.\n\nObservation:\nnoon\n\nObservation:\nMaps.\n\nGo on."
    )


def test_joined_neighbours_keep_their_images() -> None:
    first = ChatMessage(role="tool", content="3", tool_call_id="c")
    second = ChatMessage(role="user", content="Look.", images=(ImagePart(image=picture()),))
    [sent] = to_provider_messages([first, second], native_tools=False, images=True)
    assert [part.get("text", "image") for part in sent["content"]] == ["Observation:\n3", "Look.", "image"]


def test_lone_surrogates_can_be_sent() -> None:
    sent = to_provider_messages(
        [ChatMessage(role="user", content="bad \ud83d")], native_tools=True, images=False
    )
    assert (
        json.dumps(sent, ensure_ascii=False).encode()
        == '[{"role": "user", "content": "bad \ufffd"}]'.encode()
    )


def test_arguments_go_as_the_text_of_an_object_whatever_came() -> None:
    came = [None, "", '{"a": 1,}', "{'a': 1}", "[1, 2]", '{"a": 1, "b":', {"x": float("nan")}, {"o": object}]
    assert [to_arguments_json(arguments) for arguments in came] == snapshot(
        ["{}", "{}", '{"a": 1}', '{"a": 1}', "{}", "{}", '{"x": "NaN"}', '{"o": "<class \'object\'>"}']
    )


def test_tools_go_with_their_examples_in_the_description() -> None:
    schema = ToolSchema(
        name="add",
        description="Add two numbers.",
        parameters={"type": "object", "properties": {"a": {"type": "integer"}}},
        examples=(ToolExample(task="What is 1 and 2?", arguments={"a": 1, "b": 2}),),
    )
    assert to_provider_tools([schema]) == snapshot(
        [
            {
                "type": "function",
                "function": {
                    "name": "add",
                    "description": """\
Add two numbers.

Examples:
What is 1 and 2? -> {"a": 1, "b": 2}\
""",
                    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
                },
            }
        ]
    )


def test_a_tool_without_examples_keeps_its_description() -> None:
    schema = ToolSchema(name="now", description="The time.", parameters={})
    assert to_provider_tools([schema])[0]["function"]["description"] == "The time."


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("add", "add"),
        ("__builtins__.eval", "__builtins___eval"),
        ("näme with blanks", "n_me_with_blanks"),
        ("n" * 200, "n" * 64),
        ("", "_"),
    ],
)
def test_name_that_no_tool_could_have_goes_back_in_a_form_that_providers_take(
    written: str, sent: str
) -> None:
    call = ToolCall(id="c1", name=written, arguments={})
    message = ChatMessage(role="assistant", tool_calls=(call,))
    (wire,) = to_provider_messages([message], native_tools=True, images=False)
    assert wire["tool_calls"][0]["function"]["name"] == sent
