"""A model of Transformers in this process, with weights made here: what it writes, where it ends, what it costs."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from threads import join

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import GenerationError, OptionError
from agent_magic.core.events import TextDelta
from agent_magic.core.messages import ChatMessage, MessageDelta, TokenUsage, ToolCall, ToolSchema
from agent_magic.models.model import Capabilities
from agent_magic.models.select import choose_model
from agent_magic.models.transformers import TransformersModel
from tests.models.tiny_model import NO_SYSTEM, NO_TOOLS, save_random, save_scripted

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None or importlib.util.find_spec("torch") is None,
    reason="the extra `transformers` is not installed",
)

ASK = [ChatMessage(role="user", content="2 and 3?")]
ADD = ToolSchema(
    name="add",
    description="Add.",
    parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 3}}\n</tool_call>'
ANSWER = '<tool_call>\n{"name": "final_answer", "arguments": {"answer": 5}}\n</tool_call>'


@pytest.fixture(scope="module")
def random_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_random(tmp_path_factory.mktemp("random"))


@pytest.fixture(autouse=True)
def no_generation_is_left_running() -> Iterator[None]:
    yield
    for thread in threading.enumerate():
        if thread.name == "agent-magic-generation":
            thread.join(20)
            assert not thread.is_alive()


def scripted(folder: Path, *replies: str, template: str | None = None, **options: Any) -> TransformersModel:
    save_scripted(folder, replies, **({"template": template} if template else {}))
    return TransformersModel(str(folder), **options)


def pieces_of(model: TransformersModel, **asked: Any) -> tuple[list[str], ChatMessage]:
    *deltas, whole = model.stream(ASK, **asked)
    assert isinstance(whole, ChatMessage)
    return [delta.text for delta in deltas if isinstance(delta, MessageDelta) and delta.text], whole


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


# -- what comes --------------------------------------------------------------------------------


def test_the_pieces_of_a_stream_join_to_the_whole(tmp_path: Path) -> None:
    pieces, whole = pieces_of(scripted(tmp_path, "Naïve Σ 😀, 漢字."))
    assert len(pieces) > 3
    assert "".join(pieces) == whole.content == "Naïve Σ 😀, 漢字."
    assert whole.finish_reason == "stop"
    assert whole.usage == snapshot(
        TokenUsage(input_tokens=12, output_tokens=6, cached_tokens=0, reasoning_tokens=None, cost_usd=0.0)
    )


def test_signs_of_several_tokens_come_whole(random_folder: Path) -> None:
    pieces, whole = pieces_of(TransformersModel(str(random_folder), temperature=2, seed=1), max_tokens=200)
    assert "".join(pieces) == whole.content
    assert len((whole.content or "").replace("\ufffd", "")) > 20


def test_the_whole_reply_is_what_the_stream_ends_with(tmp_path: Path) -> None:
    model = scripted(tmp_path, "Five.")
    assert model.generate(ASK).content == pieces_of(model)[1].content == "Five."


def test_a_reply_ends_at_its_limit_of_tokens(tmp_path: Path) -> None:
    whole = scripted(tmp_path, "One two three four.", max_tokens=2).generate(ASK)
    assert (whole.content, whole.finish_reason, whole.usage and whole.usage.output_tokens) == (
        "One tw",
        "length",
        2,
    )


def test_thinking_is_told_apart(tmp_path: Path) -> None:
    *deltas, whole = scripted(tmp_path, "<think>Carry.</think>Five.").stream(ASK)
    assert isinstance(whole, ChatMessage)
    assert (whole.reasoning, whole.content) == ("Carry.", "Five.")
    assert "".join(delta.reasoning for delta in deltas if isinstance(delta, MessageDelta)) == "Carry."


def test_thinking_that_the_template_begins_is_told_apart(tmp_path: Path) -> None:
    template = f"{NO_TOOLS.partition('{% if add')[0]}<|assistant|><think>"
    save_scripted(tmp_path, ["Carry.</think>Five."], template=template, begins_after=">")
    *deltas, whole = TransformersModel(str(tmp_path)).stream(ASK)
    assert isinstance(whole, ChatMessage)
    assert (whole.reasoning, whole.content) == ("Carry.", "Five.")
    assert "".join(delta.reasoning for delta in deltas if isinstance(delta, MessageDelta)) == "Carry."


# -- where it ends -----------------------------------------------------------------------------


def test_a_stop_text_ends_the_reply_and_no_part_of_it_is_told(tmp_path: Path) -> None:
    model = scripted(tmp_path, "I add.\nObservation: 6 and so on for long")
    pieces, whole = pieces_of(model, stop=("Observation:",))
    assert "".join(pieces) == whole.content == "I add.\n"
    assert whole.finish_reason == "stop"
    assert whole.usage is not None
    assert (whole.usage.output_tokens or 99) < 12


def test_what_only_looks_like_a_stop_text_is_told(tmp_path: Path) -> None:
    pieces, whole = pieces_of(scripted(tmp_path, "I obs. Obser"), stop=("Observation:",))
    assert "".join(pieces) == whole.content == "I obs. Obser"


def test_a_closing_tag_ends_the_reply_but_not_inside_a_string(tmp_path: Path) -> None:
    model = scripted(tmp_path, "<code>\nx = '</code>!'\n</code>\nand more")
    whole = model.generate(ASK, stop=("</code>", "Observation:"))
    assert whole.content == "<code>\nx = '</code>!'\n"


# -- stopping it -------------------------------------------------------------------------------


def test_closing_the_stream_ends_the_generation(random_folder: Path) -> None:
    model = TransformersModel(str(random_folder))
    stream = model.stream(ASK, max_tokens=4_000)
    next(piece for piece in stream if isinstance(piece, MessageDelta) and piece.text)
    stream.close()
    [thread] = [one for one in threading.enumerate() if one.name == "agent-magic-generation"] or [None]
    if thread is not None:
        thread.join(20)
        assert not thread.is_alive()
    assert model.generate(ASK, max_tokens=3).usage is not None


def test_an_interrupt_ends_a_run_amid_a_reply(random_folder: Path) -> None:
    agent = ToolCallingAgent(tools=[add], model=TransformersModel(str(random_folder), max_tokens=2_000))
    result = None
    for event in agent.stream("2 and 3?"):
        if isinstance(event, TextDelta):
            agent.interrupt("Enough.")
        result = getattr(event, "result", result)
    assert result is not None
    assert (result.status, result.error and result.error.message) == ("interrupted", "Enough.")


def test_an_interrupt_ends_a_run_that_waits_for_its_turn(random_folder: Path) -> None:
    model = TransformersModel(str(random_folder))
    first = model.stream(ASK, max_tokens=4_000)
    next(piece for piece in first if isinstance(piece, MessageDelta) and piece.text)
    second = model.stream(ASK)
    try:
        assert (
            next(second) == MessageDelta()
        )  # a sign of life: whoever waits looks whether it was interrupted
    finally:
        second.close()
        first.close()


def test_requests_at_once_are_answered_one_after_the_other(random_folder: Path) -> None:
    model = TransformersModel(str(random_folder))
    asked = [[ChatMessage(role="user", content=f"Say {number}!")] for number in range(4)]
    alone = [model.generate(messages, max_tokens=20).content for messages in asked]
    together: dict[int, str | None] = {}

    def ask(number: int) -> None:
        together[number] = model.generate(asked[number], max_tokens=20).content

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert [together[number] for number in range(4)] == alone


# -- how it chooses ----------------------------------------------------------------------------


def test_a_seed_gives_the_same_reply_again_and_leaves_the_persons_numbers_alone(random_folder: Path) -> None:
    import torch

    before = torch.random.get_rng_state()
    model = TransformersModel(str(random_folder), temperature=1.0, max_tokens=20)
    first, again, other = (model.generate(ASK, seed=seed).content for seed in (1, 1, 2))
    assert first == again != other
    assert torch.equal(before, torch.random.get_rng_state())


def test_what_was_read_before_is_not_read_again_and_changes_nothing(random_folder: Path) -> None:
    model = TransformersModel(str(random_folder), max_tokens=12)
    history = [*ASK, ChatMessage(role="assistant", content="5"), ChatMessage(role="user", content="And 4?")]
    model.generate([ChatMessage(role="user", content="Something else.")])
    afresh = model.generate(history)
    model.generate(ASK)
    reused = model.generate(history)
    assert afresh.usage is not None
    assert reused.usage is not None
    assert (afresh.usage.cached_tokens, reused.usage.cached_tokens) == snapshot((1, 11))
    assert reused.content == afresh.content


def test_objects_for_one_folder_share_the_weights(random_folder: Path) -> None:
    first, second = (TransformersModel(str(random_folder), temperature=t) for t in (0, 1))
    assert first._engine is second._engine
    assert TransformersModel(str(random_folder), dtype="float32")._engine is not first._engine


# -- runs --------------------------------------------------------------------------------------


def test_a_run_calls_tools_as_the_template_has_them(tmp_path: Path) -> None:
    model = scripted(tmp_path, CALL, ANSWER)
    assert model.capabilities == Capabilities(tools=True, images=False, response_format=False, code=True)
    result = ToolCallingAgent(tools=[add], model=model).run("2 and 3?")
    assert (result.status, result.value) == ("answered", 5)
    assert result.usage.input_tokens is not None
    assert result.usage.cached_tokens is not None
    assert 0 < result.usage.cached_tokens < result.usage.input_tokens


def test_a_run_calls_tools_as_text_where_the_template_has_no_place_for_them(tmp_path: Path) -> None:
    model = scripted(
        tmp_path,
        'I add.\n{"name": "add", "arguments": {"a": 2, "b": 3}}',
        '{"name": "final_answer", "arguments": {"answer": 5}}',
        template=NO_TOOLS,
    )
    assert not model.capabilities.tools
    result = ToolCallingAgent(tools=[add], model=model).run("2 and 3?")
    assert (result.status, result.value) == ("answered", 5)


def test_a_code_run_is_answered(tmp_path: Path) -> None:
    model = scripted(tmp_path, "I add.\n<code>\nfinal_answer(2 + 3)\n</code>\nObservation: 7")
    result = CodeAgent(model=model).run("2 and 3?")
    assert (result.status, result.value) == ("answered", 5)


def test_calls_of_a_reply_are_calls(tmp_path: Path) -> None:
    whole = scripted(tmp_path, f"I add. {CALL}").generate(ASK, tools=[ADD])
    assert (whole.content, whole.finish_reason) == ("I add.", "tool_calls")
    assert whole.tool_calls == (ToolCall(id="call_1", name="add", arguments={"a": 2, "b": 3}),)


def test_a_call_that_cannot_be_read_stays_text(tmp_path: Path) -> None:
    whole = scripted(tmp_path, '<tool_call>{"name": "add", "arguments": {"a": 2').generate(ASK, tools=[ADD])
    assert (whole.content, whole.tool_calls) == ('<tool_call>{"name": "add", "arguments": {"a": 2', ())


def test_a_system_text_goes_where_the_template_has_room(tmp_path: Path) -> None:
    model = scripted(tmp_path, "Five.", template=NO_SYSTEM)
    assert model.generate([ChatMessage(role="system", content="Add."), *ASK]).content == "Five."


# -- what cannot be ----------------------------------------------------------------------------


def test_a_request_over_the_window_is_an_overflow(random_folder: Path) -> None:
    model = TransformersModel(str(random_folder), context_window=30)
    with pytest.raises(GenerationError) as caught:
        model.generate([ChatMessage(role="user", content="x" * 40)])
    failure = model.diagnose(caught.value)
    assert (failure.is_overflow, failure.is_passing) == (True, False)
    assert failure.message.replace(str(random_folder), "FOLDER") == snapshot("""\
transformers/FOLDER: the request has 44 tokens; with its reply the model holds 30.
Shorten the task, or use a model with a larger window.\
""")


def test_the_window_is_the_one_of_the_configuration(random_folder: Path) -> None:
    assert TransformersModel(str(random_folder)).context_window == 4_096
    assert TransformersModel(str(random_folder), context_window=1_000_000).context_window == 4_096


def test_tokens_are_counted_by_its_tokenizer_and_cost_nothing(random_folder: Path) -> None:
    model = TransformersModel(str(random_folder))
    assert model.count_tokens("Hé") == 3
    assert model.price_usd(1_000, 1_000) == 0.0


def test_a_model_without_a_template_says_what_to_do(tmp_path: Path) -> None:
    save_scripted(tmp_path, ["Five."], template=None)
    with pytest.raises(GenerationError) as caught:
        TransformersModel(str(tmp_path)).generate(ASK)
    assert caught.value.message.replace(str(tmp_path), "FOLDER") == snapshot("""\
transformers/FOLDER has no chat template: it was not trained to answer, or the file is missing.
Take a model whose name says Instruct or Chat, or give one by the model option chat_template.\
""")
    assert TransformersModel(str(tmp_path), chat_template=NO_TOOLS).generate(ASK).content == "Five."


def test_a_folder_without_weights_says_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(GenerationError) as caught:
        TransformersModel(str(tmp_path)).generate(ASK)
    assert "cannot be loaded" in caught.value.message


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"temperature": -1}, snapshot("temperature=-1 is not allowed. Give a number from 0.")),
        ({"top_p": 2}, snapshot("top_p=2 is not allowed. Give a number from 0 to 1.")),
        ({"max_tokens": 0}, snapshot("max_tokens=0 is not allowed. Give a whole number from 1.")),
        ({"seed": "x"}, snapshot("seed='x' is not allowed. Give a whole number.")),
        (
            {"context_window": 0},
            snapshot("context_window=0 is no number of tokens. Give a whole number from 1."),
        ),
    ],
)
def test_an_option_that_cannot_be_is_refused(random_folder: Path, option: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as caught:
        TransformersModel(str(random_folder), **option)
    assert caught.value.message == text


def test_an_unknown_option_names_the_nearest(random_folder: Path) -> None:
    with pytest.raises(OptionError) as caught:
        TransformersModel(str(random_folder), repetition_penalti=1.1).generate(ASK)
    assert caught.value.message == snapshot("""\
repetition_penalti=1.1 is no option of a Transformers model. Nearest: repetition_penalty.
Write one of temperature, top_p, top_k, max_tokens, seed, or a field of GenerationConfig.\
""")
    model = TransformersModel(str(random_folder), repetition_penalty=1.5, max_tokens=5)
    assert model.generate(ASK).usage is not None


def test_an_id_names_it(random_folder: Path) -> None:
    choice = choose_model(f"transformers/{random_folder}", environ={}, model_args={"temperature": 0.5})
    assert isinstance(choice.model, TransformersModel)
    assert choice.model.model_id == f"transformers/{random_folder}"
    assert choice.model.shown_options == {"temperature": 0.5}
