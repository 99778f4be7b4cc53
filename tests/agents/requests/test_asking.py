"""One model call of a run: a request that the provider refuses as too long."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from agents.checking import agent_of, model_of
from agents.long_texts import long_text
from inline_snapshot import snapshot

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import GenerationError
from agent_magic.core.events import ContextShortened, RunEnded
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.scripted import ScriptedModel, ScriptedRequest

calls, final = ScriptedModel.calls, ScriptedModel.final


def read(page: int) -> str:
    """Read a page of the book."""
    return long_text(5 * page)


class SmallServer(ThreadingHTTPServer):
    """An OpenAI-compatible server that refuses requests over `most_chars`; it reads `n_pages`, then answers."""

    daemon_threads = True

    def __init__(self, most_chars: int, n_pages: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.most_chars = most_chars
        self.n_pages = n_pages
        self.n_read = 0
        self.sizes: list[tuple[int, bool]] = []
        """Of each request, in characters, and whether it was taken."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SmallServer

    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        size = sum(len(message["content"] or "") for message in body["messages"])
        is_taken = size <= self.server.most_chars
        self.server.sizes.append((size, is_taken))
        if not is_taken:
            words = (
                "This model's maximum context length is 4097 tokens. However, your messages resulted in more."
            )
            self._send(400, {"error": {"message": words, "code": "context_length_exceeded", "type": "x"}})
            return
        self.server.n_read += 1
        n = self.server.n_read
        is_end = n > self.server.n_pages
        name, arguments = ("final_answer", {"answer": "read"}) if is_end else ("read", {"page": n})
        call = {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        self._send(
            200, {"id": "c", "created": 1, "model": "t", "object": "chat.completion", "choices": [choice]}
        )

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def small(request: pytest.FixtureRequest) -> Iterator[SmallServer]:
    server = SmallServer(*request.param)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _agent(server: SmallServer) -> ToolCallingAgent:
    model = LiteLLMModel(
        "openai/tiny",
        api_base=f"http://127.0.0.1:{server.server_address[1]}/v1",
        api_key="sk-none",
        native_tools=True,
        stream=False,
    )
    return ToolCallingAgent([read], model, max_steps=40)


@pytest.mark.parametrize("small", [(30_000, 20)], indirect=True)
def test_request_that_a_server_refuses_as_too_long_is_shortened_and_asked_again(small: SmallServer) -> None:
    agent = _agent(small)
    assert agent.model.context_window is None
    events = list(agent.stream("Read the book."))
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert (ended.result.status, ended.result.value) == ("answered", "read")
    refused = [size for size, is_taken in small.sizes if not is_taken]
    # What was learned of the window is kept: the same is not tried again and again.
    assert len(refused) == 1
    shortened = [event for event in events if isinstance(event, ContextShortened)]
    assert len(shortened) >= 2
    assert shortened[0].tokens_after <= 0.7 * shortened[0].tokens_before
    assert len({event.window for event in shortened}) == 1
    assert all(event.is_estimate for event in shortened)
    assert [step.action_output for step in ended.result.actions[:-1]] == [
        long_text(5 * page) for page in range(1, 21)
    ]


@pytest.mark.parametrize("small", [(100, 1)], indirect=True)
def test_request_that_cannot_be_shortened_fails_in_the_words_of_the_provider(small: SmallServer) -> None:
    agent = _agent(small)
    result = agent.run("Read the book.")
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.message == snapshot(
        "openai/tiny: the request is longer than the model's context window. Begin afresh, or give the task less to read. It says: This model's maximum context length is 4097 tokens. However, your messages resulted in more."
    )
    assert len(small.sizes) == 1


@pytest.mark.parametrize("small", [(10_000, 5)], indirect=True)
def test_shortened_request_that_is_refused_again_is_not_asked_a_third_time(small: SmallServer) -> None:
    agent = _agent(small)
    events = agent.stream("Read the book.")
    for event in events:
        if type(event).__name__ == "StepEnded":
            small.most_chars = 500
            break
    ended = list(events)[-1]
    assert isinstance(ended, RunEnded)
    assert ended.result.status == "failed"
    assert [is_taken for _, is_taken in small.sizes] == [True, False, False]
    assert small.sizes[2][0] < small.sizes[1][0]


def test_overflow_that_a_model_raises_itself_is_heeded_too() -> None:
    class TooLong(Exception):
        code = "context_length_exceeded"

    def refuse(request: ScriptedRequest) -> Any:
        if sum(len(message["content"] or "") for message in request.messages) > 10_000:
            raise TooLong("too long")
        return calls(("read", {"page": 3}))

    agent = agent_of([*[calls(("read", {"page": n})) for n in (1, 2)], refuse, refuse, final("read")], read)
    result = agent.run("Read the book.")
    assert result.status == "answered"
    assert [step.step_number for step in result.actions] == [1, 2, 3, 4]
    requests = model_of(agent).requests
    assert len(requests[3].messages) == len(requests[2].messages)
    assert [tool["name"] for tool in requests[3].tools][-1] == "peek"
    assert agent.memory.requests[2].digest != agent.memory.requests[3].digest
    assert result.actions[2].model_input_digest == agent.memory.requests[3].digest


def test_failure_that_is_no_overflow_shortens_nothing() -> None:
    agent = agent_of([calls(("read", {"page": 1})), GenerationError("no more")], read)
    result = agent.run("Read the book.")
    assert (result.status, result.error and result.error.message) == ("failed", "no more")
    assert agent.memory.form_of(1) == "whole"
