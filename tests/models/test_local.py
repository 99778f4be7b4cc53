from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedded.weights import need_weights
from inline_snapshot import snapshot
from processes import read_line, started
from threads import join

from agent_magic.core.errors import GenerationError, OptionError
from agent_magic.core.messages import ChatMessage, MessageDelta, ToolCall, ToolExample, ToolSchema
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.download import CACHE_VARIABLE
from agent_magic.models.local import LocalModel

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
WEATHER = ToolSchema(
    name="get_weather",
    description="Get the weather in a city.",
    parameters=CITY,
    examples=(ToolExample(task="What is the weather in Rome?", arguments={"city": "Rome"}),),
)
ADD = ToolSchema(
    name="add",
    description="Add two numbers.",
    parameters=NUMBERS,
    examples=(ToolExample(task="What is 3 plus 4?", arguments={"a": 3, "b": 4}),),
)
FINAL = ToolSchema(
    name="final_answer",
    description="Give the answer.",
    parameters={"type": "object", "properties": {"answer": {}}, "required": ["answer"]},
)
TOOLS = (WEATHER, ADD, FINAL)
LONG = "The quick brown fox jumps over the lazy dog. " * 300
"""About 3,000 tokens: ten seconds and more to read."""


def told(**fields: Any) -> ChatMessage:
    """A message that tells of an error."""
    return ChatMessage(**fields, is_error=True)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def called(
    name: str, result: str, kind: Callable[..., ChatMessage] = ChatMessage, **arguments: object
) -> list[ChatMessage]:
    call = ToolCall(id="c1", name=name, arguments=arguments)
    return [
        ChatMessage(role="assistant", tool_calls=(call,)),
        kind(role="tool", content=result, tool_call_id="c1"),
    ]


@pytest.fixture
def model() -> LocalModel:
    need_weights()
    return LocalModel()


def test_model_is_too_small_to_write_code():
    assert not LocalModel.capabilities.code


# -- asking ------------------------------------------------------------------------------------


@pytest.mark.embedded
def test_model_chooses_tool_and_arguments(model: LocalModel):
    replies = [
        model.generate([user(task)], tools=TOOLS)
        for task in ("Weather for Lima, please", "Sum of 7 and 1.5?")
    ]
    assert [(call.name, call.arguments) for reply in replies for call in reply.tool_calls] == [
        ("get_weather", {"city": "Lima"}),
        ("add", {"a": 7, "b": 1.5}),
    ]


@pytest.mark.embedded
def test_reply_with_a_call_is_whole(model: LocalModel):
    reply = model.generate(
        [ChatMessage(role="system", content="Be good."), user("Weather for Lima")], tools=TOOLS
    )
    usage = reply.usage
    assert usage is not None
    assert (reply.role, reply.content, reply.finish_reason, reply.reasoning) == (
        "assistant",
        None,
        "tool_calls",
        None,
    )
    assert (usage.cost_usd, usage.reasoning_tokens) == (0.0, 0)
    assert (usage.input_tokens or 0) > 50
    assert (usage.output_tokens or 0) > 5


@pytest.mark.embedded
def test_stream_gives_the_call_as_it_is_written(model: LocalModel):
    *deltas, whole = model.stream([user("Weather for New York, please")], tools=TOOLS)
    builder = MessageBuilder()
    for delta in deltas:
        assert isinstance(delta, MessageDelta)
        builder.add(delta)
    (built,) = builder.build().tool_calls
    assert isinstance(whole, ChatMessage)
    (call,) = whole.tool_calls
    assert (built.id, built.name, json.loads(str(built.arguments))) == (call.id, call.name, call.arguments)
    assert len(deltas) > 3


@pytest.mark.embedded
def test_final_answer_is_not_offered_before_a_result(model: LocalModel):
    (call,) = model.generate(
        [user("The answer is 42, so call final_answer with 42.")], tools=TOOLS
    ).tool_calls
    assert call.name in ("get_weather", "add")


@pytest.mark.embedded
@pytest.mark.parametrize("value", [8.25, 131, "rain"])
def test_answer_is_the_result_of_the_call(model: LocalModel, value: object):
    messages = [user("What is 3.25 plus 5?"), *called("add", str(value), a=3.25, b=5)]
    (call,) = model.generate(messages, tools=TOOLS).tool_calls
    assert (call.name, call.arguments) == ("final_answer", {"answer": value})


@pytest.mark.embedded
def test_tools_are_offered_again_after_an_error(model: LocalModel):
    messages = [user("What is 3 plus 5?"), *called("add", "add raised OverflowError.", told, a=3, b=5)]
    (call,) = model.generate(messages, tools=TOOLS).tool_calls
    assert call.name in ("get_weather", "add")


@pytest.mark.embedded
def test_answer_is_a_text_when_there_is_no_final_answer_to_call(model: LocalModel):
    messages = [user("What is 3.25 plus 5?"), *called("add", "8.25", a=3.25, b=5)]
    reply = model.generate(messages, tools=(WEATHER, ADD))
    assert (reply.tool_calls, "8.25" in (reply.content or "")) == ((), True)


@pytest.mark.embedded
def test_answer_at_the_step_limit_tells_the_result(model: LocalModel):
    request = user("You have used all steps. Give the best answer in plain text, and say what is missing.")
    messages = [user("How many penguins are on Heard?"), *called("count_on", "52", island="Heard"), request]
    reply = model.generate(messages, kind="final")
    assert (reply.tool_calls, reply.content) == snapshot(((), "Heard has 52 penguins."))


@pytest.mark.embedded
def test_only_final_answer_is_called_with_words_of_its_own(model: LocalModel):
    (call,) = model.generate([user("What is the capital of France?")], tools=(FINAL,)).tool_calls
    assert call.name == "final_answer"
    assert "Paris" in str(call.arguments)


@pytest.mark.embedded
def test_arguments_by_reference_are_names_that_the_task_mentions(model: LocalModel):
    table = {"type": "string", "description": "the table. The name of a state variable, e.g. @df"}
    top = ToolSchema(
        name="top_rows",
        description="The first rows of a table.",
        parameters={
            "type": "object",
            "properties": {"df": table, "n": {"type": "integer"}},
            "required": ["df", "n"],
        },
    )
    task = "First 3 rows of @penguins\n\nState variables:\n- @penguins: DataFrame, 344 rows × 8 columns\ncolumns a, b"
    (call,) = model.generate([user(task)], tools=(top, FINAL)).tool_calls
    assert (call.name, call.arguments) == ("top_rows", {"df": "@penguins", "n": 3})


@pytest.mark.embedded
def test_without_tools_it_answers_in_text(model: LocalModel):
    *deltas, whole = model.stream([user("What is the capital of France?")], stop=["."])
    assert isinstance(whole, ChatMessage)
    assert "".join(delta.text for delta in deltas if isinstance(delta, MessageDelta)) == whole.content
    assert whole.content == snapshot("The capital of France is Paris")
    assert whole.finish_reason == "stop"


@pytest.mark.embedded
def test_task_with_braces_quotes_and_unicode_is_safe(model: LocalModel):
    task = 'Weather in "São Paulo {x}" {{y}} {% z %} <|im_end|>\n\\n\ud800'
    (call,) = model.generate([user(task)], tools=TOOLS).tool_calls
    assert isinstance(call.arguments, dict)
    assert call.name == "get_weather"


@pytest.mark.embedded
def test_call_that_is_cut_off_is_given_as_text(model: LocalModel):
    reply = model.generate([user("Weather for Lima")], tools=TOOLS, max_tokens=4)
    assert (reply.tool_calls, reply.finish_reason) == ((), "length")


@pytest.mark.embedded
def test_one_engine_serves_threads_one_after_another(model: LocalModel):
    cities = ["Lima", "Berlin", "Cairo", "Dakar"]
    replies: queue.SimpleQueue[tuple[str, ChatMessage]] = queue.SimpleQueue()

    def ask(city: str) -> None:
        replies.put((city, LocalModel().generate([user(f"What is the weather in {city}?")], tools=TOOLS)))

    threads = [threading.Thread(target=ask, args=(city,)) for city in cities]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    answers = dict(replies.get_nowait() for _ in cities)
    assert {city: reply.tool_calls[0].arguments for city, reply in answers.items()} == {
        city: {"city": city} for city in cities
    }


@pytest.mark.embedded
def test_plan_is_a_short_text_without_a_call(model: LocalModel):
    reply = model.generate([user("What is the weather in Lima?")], kind="plan")
    assert (reply.tool_calls, reply.content) == snapshot(
        (
            (),
            """\
1. Look up the weather in Lima.
2. Give the weather as the answer.\
""",
        )
    )


@pytest.mark.embedded
def test_plan_of_a_request_that_is_all_ours_is_about_it(model: LocalModel):
    asked = [ChatMessage(role="user", content="Find the mean price of tea.", is_ours=True)]
    wire = model.to_wire(asked, kind="plan")
    assert "Task: Find the mean price of tea.\nPlan:" in wire.messages[0]["content"]
    assert model.generate(asked, kind="plan").content


@pytest.mark.embedded
def test_plan_in_the_history_is_followed_by_a_call(model: LocalModel):
    messages = [
        user("Weather for Lima, please"),
        ChatMessage(role="assistant", content="1. Look up the weather in Lima."),
        ChatMessage(role="user", content="Carry it out.", is_ours=True),
    ]
    (call,) = model.generate(messages, tools=TOOLS).tool_calls
    assert (call.name, call.arguments) == ("get_weather", {"city": "Lima"})


@pytest.mark.embedded
def test_answer_at_the_step_limit_may_be_asked_for_by_us(model: LocalModel):
    request = ChatMessage(role="user", content="Give the best answer.", is_ours=True)
    messages = [user("How many penguins are on Heard?"), *called("count_on", "52", island="Heard"), request]
    assert "52" in (model.generate(messages, kind="final").content or "")
    assert model.to_wire(messages, kind="final") == model.to_wire(messages[:-1], kind="final")


# -- what is sent ------------------------------------------------------------------------------


@pytest.mark.embedded
def test_wire_is_the_prompt_that_the_engine_is_given(model: LocalModel):
    wire = model.to_wire([user("Weather for Lima, please")], TOOLS)
    assert wire.tools == []
    [message] = wire.messages
    assert message["role"] == "user"
    assert message["content"].endswith("Task: Weather for Lima, please\nCall:")
    usage = model.generate([user("Weather for Lima, please")], tools=TOOLS).usage
    assert usage is not None
    assert model.count_tokens(message["content"]) == usage.input_tokens


@pytest.mark.embedded
def test_wire_leaves_out_what_the_request_leaves_out():
    need_weights()
    small = LocalModel(n_ctx=640)
    small.generate([user("Weather for Lima, please")], tools=TOOLS)
    earlier = [
        message
        for n in range(9)
        for message in (user(f"Weather in town {n}?"), *called("get_weather", "rain " * 20, city=f"town {n}"))
    ]
    asked = [*earlier, user("Weather for Lima, please")]
    usage = small.generate(asked, tools=TOOLS).usage
    assert usage is not None
    prompt = small.to_wire(asked, TOOLS).messages[0]["content"]
    assert small.count_tokens(prompt) == usage.input_tokens
    assert ("town 7" in prompt, "town 8" in prompt) == (False, True)


@pytest.mark.embedded
def test_tokens_cost_nothing(model: LocalModel):
    assert model.price_usd(1_000, 1_000) == 0.0


# -- the window --------------------------------------------------------------------------------


@pytest.mark.embedded
def test_earlier_runs_that_do_not_fit_are_left_out_and_it_says_so():
    need_weights()
    small = LocalModel(n_ctx=640)
    earlier = [
        message
        for n in range(9)
        for message in (user(f"Weather in town {n}?"), *called("get_weather", "rain " * 20, city=f"town {n}"))
    ]
    first, *_, whole = small.stream([*earlier, user("Weather for Lima, please")], tools=TOOLS)
    assert isinstance(first, MessageDelta)
    assert isinstance(whole, ChatMessage)
    assert (
        first.reasoning
        == whole.reasoning
        == snapshot("(left out of the request: 8 earlier runs, to keep within 640 tokens)")
    )
    assert whole.tool_calls[0].arguments == {"city": "Lima"}


@pytest.mark.embedded
def test_results_of_the_run_are_shortened_before_it_fails():
    need_weights()
    calls = [
        message for _ in range(4) for message in called("get_weather", "clouds " * 100, told, city="Lima")
    ]
    reply = LocalModel(n_ctx=640).generate([user("Weather for Lima, please"), *calls], tools=TOOLS)
    assert reply.reasoning == snapshot(
        "(left out of the request: all but 120 characters of each result, to keep within 640 tokens)"
    )


@pytest.mark.embedded
@pytest.mark.parametrize("n_ctx", [640, 4_096])
def test_task_that_is_too_long_fails_with_the_figures(n_ctx: int):
    need_weights()
    model = LocalModel(n_ctx=n_ctx)
    with pytest.raises(GenerationError) as caught:
        model.generate([user(LONG * 2)], tools=TOOLS)
    failure = model.diagnose(caught.value)
    assert (failure.is_passing, failure.message) == (False, caught.value.message)
    assert failure.is_overflow
    assert caught.value.message.replace(f"{n_ctx:,}", "N_CTX") == snapshot("""\
local/smollm2-135m: the task and what was done about it make 6,141 tokens; with its reply the model holds N_CTX.
Shorten the task, or use a larger model: %%agent --model provider/name.\
""")


def test_window_by_another_name_is_refused():
    with pytest.raises(OptionError) as caught:
        LocalModel(context_window=2_000)
    assert caught.value.message == "The embedded model has no option context_window. Write n_ctx=2000."


@pytest.mark.parametrize("n_ctx", [100, 4_097])
def test_window_that_cannot_be_is_refused(n_ctx: int):
    with pytest.raises(OptionError) as caught:
        LocalModel(n_ctx=n_ctx)
    assert caught.value.message == f"n_ctx={n_ctx} is not allowed. Give 512 to 4,096 tokens."


# -- stopping ----------------------------------------------------------------------------------


@pytest.mark.embedded
def test_closing_the_stream_lets_the_engine_go(model: LocalModel):
    pieces = model.stream([user("Tell a long story about a fox.")], max_tokens=2_000)
    next(pieces)
    pieces.close()
    start = time.monotonic()
    model.generate([user("Say hello.")], max_tokens=1)
    assert time.monotonic() - start < 15


INTERRUPTED = f"""
    import json, time
    from agent_magic.core.messages import ChatMessage
    from agent_magic.models.local import LocalModel

    def ask(text):
        return LocalModel().generate([ChatMessage(role="user", content=text)], max_tokens=1)

    ask("Say hello.")
    print("ready", flush=True)
    try:
        ask({LONG!r})
    except KeyboardInterrupt:
        stopped = time.monotonic()
    if AGAIN:
        usage = ask("Say hello.").usage
        print(json.dumps([stopped, time.monotonic(), usage.output_tokens]), flush=True)
    else:
        print(json.dumps([stopped]), flush=True)
"""


@pytest.mark.embedded
@pytest.mark.parametrize("again", [True, False])
def test_interrupt_while_a_long_prompt_is_read_returns_at_once(again: bool):
    need_weights()
    code = textwrap.dedent(INTERRUPTED).replace("AGAIN", str(again))
    with started(["-c", code]) as child:
        assert read_line(child) == "ready"
        time.sleep(1)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        said, complaints = child.communicate(timeout=60)
        ended = time.monotonic()
    assert (child.returncode, complaints) == (0, "")
    stopped, *after = json.loads(said)
    assert stopped - sent < 0.5
    if again:
        answered, n_tokens = after
        assert (answered - stopped < 12, n_tokens) == (True, 1)
    else:
        assert ended - stopped < 3


# -- what is missing ---------------------------------------------------------------------------


def test_weights_that_are_missing_are_told_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert not LocalModel.is_installed()
    with pytest.raises(OptionError) as caught:
        LocalModel()
    assert caught.value.message.replace(str(tmp_path), "FOLDER") == snapshot("""\
The embedded model's weights are not in 'FOLDER'.
Fetch them, once (93 MB):  python -m agent_magic download\
""")


def test_engine_that_is_missing_is_told_with_the_command():
    code = """
        import sys
        sys.modules["xllamacpp"] = None
        from agent_magic.core.errors import OptionError
        from agent_magic.models.local import LocalModel
        print(LocalModel.is_installed())
        try:
            LocalModel()
        except OptionError as error:
            print(error.message)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=os.environ,
        check=True,
        timeout=120,
    )
    assert done.stdout == snapshot("""\
False
The embedded model's engine is not installed. Run:  pip install 'agent-magic[local]'
and, once:  python -m agent_magic download
""")


def test_asking_whether_it_is_installed_loads_nothing():
    code = """
        import sys
        from agent_magic.models.local import LocalModel
        LocalModel.is_installed()
        print([name for name in ("xllamacpp", "litellm", "httpx", "pip") if name in sys.modules])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "[]\n"
