"""Contents that are lists of parts, over real HTTP through LiteLLM."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from inline_snapshot import snapshot
from threads import join

from agent_magic.core.messages import ChatMessage, MessageDelta, TokenUsage
from agent_magic.models.content_parts import split_content
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.litellm import LiteLLMModel
from tests.models.openai_server import OpenAIServer, Turn, call_delta, delta, fault, reply, serve, usage_chunk

ASK = [ChatMessage(role="user", content="Number?")]
PARTS: list[Any] = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm <code>final_answer(0)</code>"}]},
    {"type": "text", "text": "<code>final_"},
    {"type": "text", "text": "answer(2)</code>"},
]
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
USAGE = {
    "prompt_tokens": 5,
    "completion_tokens": 3,
    "total_tokens": 8,
    "completion_tokens_details": {"reasoning_tokens": 2},
}
ROUTES = ("openai", "hosted_vllm", "lm_studio", "openrouter", "mistral")
"""LiteLLM asks some of them with the openai library, some by itself."""


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def model_at(server: OpenAIServer, turn: Turn, route: str = "openai", **options: Any) -> LiteLLMModel:
    server.play(turn)
    given: dict[str, Any] = {"api_base": server.api_base, "api_key": "none", "timeout_s": 10, **options}
    return LiteLLMModel(f"{route}/tiny", **given)


def streamed(model: LiteLLMModel) -> ChatMessage:
    builder = MessageBuilder()
    for piece in model.stream(ASK):
        builder.add(piece)
    return builder.build()


def a_stream(*chunks: Any, **turn: Any) -> Turn:
    return Turn(chunks=chunks, **turn)


class _Dripping(BaseHTTPRequestHandler):
    """Sends its server's `data` seven bytes at a time."""

    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        data: bytes = self.server.data  # pyright: ignore[reportAttributeAccessIssue] - set below
        for start in range(0, len(data), 7):
            self.wfile.write(data[start : start + 7])
            self.wfile.flush()


@contextmanager
def dripping(data: bytes) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Dripping) as running:
        running.data = data  # pyright: ignore[reportAttributeAccessIssue] - read above
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.server_address[1]}/v1"
        finally:
            running.shutdown()
            join(thread)


def seen(message: ChatMessage) -> tuple[str | None, str | None]:
    return message.content, message.reasoning


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("is_stream", [False, True])
def test_parts_are_text_and_thinking(server: OpenAIServer, route: str, is_stream: bool) -> None:
    turn = a_stream(*(delta(content=[part]) for part in PARTS), delta("stop")) if is_stream else reply(PARTS)
    model = model_at(server, turn, route)
    message = streamed(model) if is_stream else model.generate(ASK)
    assert seen(message) == ("<code>final_answer(2)</code>", "hm <code>final_answer(0)</code>")
    assert len(server.received) == 1


@pytest.mark.parametrize("is_stream", [False, True])
def test_calls_usage_and_reasoning_beside_parts_are_kept(server: OpenAIServer, is_stream: bool) -> None:
    if is_stream:
        chunks = [delta(content=PARTS, reasoning_content="first, "), call_delta(0, "c1", "add", '{"a": 1}')]
        model = model_at(server, a_stream(*chunks, delta("tool_calls"), usage_chunk(**USAGE)))
        message = streamed(model)
    else:
        body = reply(
            PARTS, tool_calls=[CALL], usage=USAGE, finish_reason="tool_calls", reasoning_content="first, "
        )
        message = model_at(server, body).generate(ASK)
    assert seen(message) == ("<code>final_answer(2)</code>", "first, hm <code>final_answer(0)</code>")
    [call] = message.tool_calls
    assert (call.id, call.name, call.arguments) == ("c1", "add", '{"a": 1}')
    assert message.usage == TokenUsage(input_tokens=5, output_tokens=3, reasoning_tokens=2)
    assert message.finish_reason == "tool_calls"


def test_a_stop_text_ends_the_text_of_parts(server: OpenAIServer) -> None:
    model = model_at(server, reply([{"type": "text", "text": "a\nObservation: b"}]))
    assert model.generate(ASK, stop=("Observation:",)).content == "a\n"


def test_parts_are_shown_while_they_come(server: OpenAIServer) -> None:
    model = model_at(
        server, a_stream(*(delta(content=[part]) for part in PARTS), delta("stop"), pause_s=0.01)
    )
    pieces = [piece for piece in model.stream(ASK) if isinstance(piece, MessageDelta)]
    assert [(piece.text, piece.reasoning) for piece in pieces] == snapshot(
        [("", "hm <code>final_answer(0)</code>"), ("<code>final_", ""), ("answer(2)</code>", "")]
    )


def test_parts_in_events_that_come_in_pieces_are_read() -> None:
    data = b"".join(
        f"data: {json.dumps(chunk)}\n\n".encode()
        for chunk in (*(delta(content=[part]) for part in PARTS), delta("stop"))
    )
    with dripping(data + b"data: [DONE]\n\n") as address:
        model = LiteLLMModel("openai/tiny", api_base=address, api_key="none", timeout_s=10)
        assert seen(streamed(model)) == ("<code>final_answer(2)</code>", "hm <code>final_answer(0)</code>")


def test_closing_the_iterator_hangs_up_amid_parts(server: OpenAIServer) -> None:
    server.broken_pipe.clear()
    more = [delta(content=[{"type": "text", "text": "more "}])] * 400
    pieces = model_at(server, a_stream(*more, delta("stop"), pause_s=0.01)).stream(ASK)
    assert next(pieces) == MessageDelta(text="more ")
    pieces.close()
    assert server.broken_pipe.wait(5)


@pytest.mark.parametrize("end", ["eof", "reset"])
def test_a_stream_of_parts_that_breaks_off_is_a_passing_failure(server: OpenAIServer, end: Any) -> None:
    model = model_at(server, a_stream(delta(content=PARTS), end=end))
    with pytest.raises(Exception) as caught:
        streamed(model)
    assert isinstance(caught.value, Exception)
    failure = model.diagnose(caught.value)
    assert failure.is_passing
    assert failure.message.startswith("openai/tiny: the connection failed or broke off.")


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_refusal_is_what_it_was(server: OpenAIServer, is_stream: bool) -> None:
    model = model_at(server, fault(429, headers={"Retry-After": "7"}))
    with pytest.raises(Exception) as caught:
        streamed(model) if is_stream else model.generate(ASK)
    assert isinstance(caught.value, Exception)
    failure = model.diagnose(caught.value)
    assert (failure.is_passing, failure.retry_after_s) == (True, 7.0)


@pytest.mark.parametrize(
    "choices",
    [
        [{"message": {"content": 3}}],
        [{"message": {"content": PARTS, "tool_calls": "add"}}],
        [PARTS],
        {},
        None,
    ],
)
def test_a_body_that_is_no_reply_fails_in_litellms_words(server: OpenAIServer, choices: Any) -> None:
    model = model_at(server, Turn(body={"choices": choices}))
    with pytest.raises(Exception) as caught:
        model.generate(ASK)
    assert isinstance(caught.value, Exception)
    failure = model.diagnose(caught.value)
    assert failure.is_passing
    assert "AttributeError" not in failure.message


def test_the_proxy_of_the_environment_is_asked(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.port}")
    model = model_at(server, reply(PARTS), api_base="http://models.invalid/v1")
    assert model.generate(ASK).content == "<code>final_answer(2)</code>"
    assert [one.path for one in server.received] == ["http://models.invalid/v1/chat/completions"]


def test_a_logger_of_the_persons_own_is_called(server: OpenAIServer) -> None:
    calls: list[Any] = []
    model_at(server, reply("2"), logger_fn=calls.append).generate(ASK)
    assert calls


@pytest.mark.parametrize(
    ("content", "split"),
    [
        (None, (None, "")),
        ("a", ("a", "")),
        ([], ("", "")),
        (["a", {"text": "b"}, {"type": "image_url"}, None, 3, {"type": "text", "text": None}], ("ab", "")),
        ([{"type": "thinking", "text": "hm"}, {"type": "reasoning", "reasoning": "so"}], ("", "hmso")),
        ([{"type": "thinking", "thinking": None}, {"type": "thinking", "thinking": 3}], ("", "")),
        ([{"type": "thinking", "thinking": [{"type": "thinking", "thinking": "hm"}, "so"]}], ("", "hmso")),
    ],
)
def test_a_content_is_split(content: Any, split: tuple[str | None, str]) -> None:
    assert split_content(content) == split


def test_nothing_slow_is_imported_before_the_first_call() -> None:
    code = (
        "import sys\nfrom agent_magic.models.litellm import LiteLLMModel\nLiteLLMModel('openai/tiny')\n"
        "print(sorted({'litellm', 'openai', 'httpx'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "[]\n"
