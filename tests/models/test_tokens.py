"""How many tokens a request has, known or estimated."""

from __future__ import annotations

import timeit

import pytest
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.core.messages import ChatMessage, ImagePart, ToolCall, ToolSchema
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel
from agent_magic.models.tokens import TokenCount, count_message, count_tools, estimate_tokens

TEXTS = {
    "prose": "The quick brown fox jumps over the lazy dog, and then it sleeps for an hour. " * 20,
    "code": "for row in rows:\n    total += row.value * 2  # sum\n" * 30,
    "json": '{"name": "row 17", "value": 812.4471, "ok": true}, ' * 30,
    "numbers": "0.8444218515250481 12,99301,4417 " * 40,
    "German": "Die Größe der Pinguine wird über die Flügellänge geschätzt. " * 20,
    "Russian": "Сегодня хорошая погода, мы идём гулять в парк. " * 20,
    "Chinese": "今天天气很好，我们去公园散步，然后吃午饭。" * 20,
}


@pytest.fixture(scope="module")
def known() -> LiteLLMModel:
    """A model whose tokenizer is at hand."""
    return LiteLLMModel("openai/gpt-4")


@pytest.mark.parametrize("language", TEXTS)
def test_estimate_is_never_too_low_and_at_most_double(language: str, known: LiteLLMModel) -> None:
    text = TEXTS[language]
    real = known.count_tokens(text)
    assert real is not None
    assert real <= estimate_tokens(text) <= 2.2 * real


def test_estimate_of_nothing_and_of_little() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "word", "1234", "日", "😀", "\ud800")] == snapshot(
        [0, 1, 2, 5, 2, 3, 2]
    )


def test_estimate_of_letters_without_blanks_is_higher() -> None:
    assert estimate_tokens("x" * 4_000) > 1.5 * estimate_tokens("x y z abc" * 444)


def test_estimate_is_fast_enough_for_every_request() -> None:
    text = TEXTS["prose"] * 10
    seconds = min(timeit.repeat(lambda: estimate_tokens(text), number=20, repeat=5)) / 20
    assert seconds / len(text) * 1_000 < 50e-6


MESSAGES = [
    ChatMessage(role="user", content="Add one and two."),
    ChatMessage(role="assistant", tool_calls=(ToolCall(id="c", name="add", arguments={"a": 1, "b": 2}),)),
    ChatMessage(role="tool", content="3", tool_call_id="c"),
    ChatMessage(role="user", content="Look.", images=(ImagePart(image=Image.new("RGB", (3, 2))),)),
]
ADD = ToolSchema(name="add", description="Add.", parameters={"type": "object", "properties": {}})


def test_messages_of_a_known_tokenizer_are_counted_with_what_is_around_them(known: LiteLLMModel) -> None:
    wire = known.to_wire(MESSAGES, [ADD])
    assert [count_message(message, known) for message in wire.messages] == snapshot(
        [TokenCount(n=9), TokenCount(n=25), TokenCount(n=5), TokenCount(n=15)]
    )
    assert count_tools(wire.tools, known) == snapshot(TokenCount(n=34))


def test_messages_of_an_unknown_tokenizer_are_estimated_and_say_so() -> None:
    model = ScriptedModel(capabilities=Capabilities(images=True))
    wire = model.to_wire(MESSAGES, [ADD])
    assert [count_message(message, model) for message in wire.messages] == snapshot(
        [
            TokenCount(n=9, is_estimate=True),
            TokenCount(n=22, is_estimate=True),
            TokenCount(n=6, is_estimate=True),
            TokenCount(n=1607, is_estimate=True),
        ]
    )
    assert count_tools(wire.tools, model) == snapshot(TokenCount(n=58, is_estimate=True))


def test_an_image_makes_any_count_an_estimate(known: LiteLLMModel) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    message = {"role": "user", "content": [{"type": "text", "text": "Look."}, image, image]}
    assert count_message(message, known) == snapshot(TokenCount(n=3206, is_estimate=True))


def test_counts_add_up_to_an_estimate_if_one_is() -> None:
    assert TokenCount(n=1) + TokenCount(n=2, is_estimate=True) == TokenCount(n=3, is_estimate=True)


def test_no_tools_are_no_tokens() -> None:
    assert count_tools([], ScriptedModel()) == TokenCount(n=0)


# -- LiteLLM's tokenizers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "model_id", ["openai/gpt-4.1", "openai/gpt-5.4-mini", "azure/gpt-4o", "groq/openai/gpt-oss-120b"]
)
def test_tokenizer_is_known_of_openais_models_whoever_serves_them(model_id: str) -> None:
    assert LiteLLMModel(model_id).count_tokens("<|endoftext|> The quick brown fox") == snapshot(11)


@pytest.mark.parametrize(
    "model_id",
    [
        "openai/tiny",
        "anthropic/claude-sonnet-4-5",
        "gemini/gemini-flash-latest",
        "deepseek/deepseek-chat",
        "replicate/meta/llama-3-8b",
    ],
)
def test_tokenizer_that_is_not_the_models_own_is_not_used(model_id: str) -> None:
    assert LiteLLMModel(model_id).count_tokens("The quick brown fox") is None


def test_long_text_is_counted_in_pieces_and_text_that_cannot_be_is_not(known: LiteLLMModel) -> None:
    whole = known.count_tokens("one two three four " * 20_000)
    assert whole is not None
    assert 80_000 <= whole <= 80_005
    assert known.count_tokens(" " * 400_000) in (None, *range(1, 400_000))
