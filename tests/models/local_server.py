"""An OpenAI-compatible server on loopback whose answers the embedded model writes.

`python tests/models/local_server.py [PORT]`, or `with LocalServer() as server: … server.url`.
Tool calls are real ones and streams are live: a piece is sent when the engine has written it.
"""

from __future__ import annotations

import ast
import itertools
import json
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from agent_magic.core.errors import AgentError
from agent_magic.core.messages import ChatMessage, MessageDelta, ToolCall, ToolExample, ToolSchema
from agent_magic.models.local import LocalModel

MODEL = "local"
_OPTIONS = ("temperature", "top_p", "seed", "max_tokens")


class LocalServer:
    """Serves `/v1/models` and `/v1/chat/completions` from threads until it is closed."""

    def __init__(self, port: int = 0) -> None:
        self.model = LocalModel()
        self.requests: list[dict[str, Any]] = []
        """Bodies of the completions that were asked for."""
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
        self._http.daemon_threads = True
        self._http.owner = self  # type: ignore[attr-defined] - how a handler finds us
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """What a client takes as `api_base`."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(60)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            return self._send_error(404, f"nothing at {self.path}")
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "agent_magic"}
        return self._send_json({"object": "list", "data": [model]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path != "/v1/chat/completions":
            return self._send_error(404, f"nothing at {self.path}")
        try:
            request = json.loads(body)
            messages = [read_message(message) for message in request["messages"]]
            tools = read_tools(request)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return self._send_error(400, f"the request cannot be read: {error!r}")
        self.server.owner.requests.append(request)
        options = {name: request[name] for name in _OPTIONS if request.get(name) is not None}
        if request.get("max_completion_tokens"):
            options["max_tokens"] = request["max_completion_tokens"]
        stop = request.get("stop") or ()
        stop = (stop,) if isinstance(stop, str) else stop
        with closing(self.server.owner.model.stream(messages, tools=tools, stop=stop, **options)) as pieces:
            try:
                first = next(pieces)
            except AgentError as error:
                return self._send_error(400, error.message)
            if request.get("stream"):
                return self._stream(request, first, pieces)
            *_, whole = [first, *pieces]
            return self._send_json(_completion(whole))

    def _stream(
        self, request: dict[str, Any], first: MessageDelta | ChatMessage, pieces: Iterator[Any]
    ) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        head = _head("chat.completion.chunk")
        options = request.get("stream_options") or {}
        try:
            self._send_chunk(head, {"role": "assistant", "content": None})
            for piece in itertools.chain([first], pieces):
                self._send_piece(head, piece, options)
            self._write("data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client went away; closing the pieces cancels the request

    def _send_piece(
        self, head: dict[str, Any], piece: MessageDelta | ChatMessage, options: dict[str, Any]
    ) -> None:
        if isinstance(piece, MessageDelta):
            if delta := _delta(piece):
                self._send_chunk(head, delta)
            return
        self._send_chunk(head, {}, finish_reason=piece.finish_reason)
        if options.get("include_usage"):
            self._write(f"data: {json.dumps({**head, 'choices': [], 'usage': _usage(piece)})}\n\n")

    def _send_chunk(
        self, head: dict[str, Any], delta: dict[str, Any], finish_reason: str | None = None
    ) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        self._write(f"data: {json.dumps({**head, 'choices': [choice]})}\n\n")

    def _write(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _send_json(self, content: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send_error(self, status: int, message: str) -> None:
        self._send_json(
            {"error": {"message": message, "type": "invalid_request_error", "code": None}}, status
        )


def read_message(message: dict[str, Any]) -> ChatMessage:
    """A message off the wire."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if part.get("type") == "text")
    calls = tuple(
        ToolCall(
            id=call["id"], name=call["function"]["name"], arguments=json.loads(call["function"]["arguments"])
        )
        for call in message.get("tool_calls") or ()
    )
    return ChatMessage(
        role=message["role"], content=content, tool_calls=calls, tool_call_id=message.get("tool_call_id")
    )


def read_tools(request: dict[str, Any]) -> list[ToolSchema]:
    """The tools that may be called, as `tool_choice` has it."""
    choice = request.get("tool_choice")
    if choice == "none":
        return []
    functions = [tool["function"] for tool in request.get("tools") or ()]
    if isinstance(choice, dict):
        functions = [function for function in functions if function["name"] == choice["function"]["name"]]
    return [read_tool(function) for function in functions]


def read_tool(function: dict[str, Any]) -> ToolSchema:
    """A tool off the wire; lines after `Examples:` in its description are its examples."""
    text, _, lines = (function.get("description") or "").partition("Examples:")
    return ToolSchema(
        name=function["name"],
        description=text.strip(),
        parameters=function.get("parameters") or {"type": "object", "properties": {}},
        examples=tuple(example for line in lines.splitlines() if (example := _read_example(line))),
    )


def _read_example(line: str) -> ToolExample | None:
    """`task -> {"argument": value}` or `task -> call(argument=value)`."""
    task, arrow, call = line.strip().removeprefix("- ").rpartition("->")
    if not arrow:
        return None
    try:
        node = ast.parse(call.strip(), mode="eval").body
        if isinstance(node, ast.Call):
            arguments = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
        else:
            arguments = json.loads(call)
            arguments = arguments.get("arguments", arguments)
    except (SyntaxError, ValueError, AttributeError):
        return None
    return ToolExample(task=task.strip(), arguments=arguments)


def _head(kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex[:12]}",
        "object": kind,
        "created": int(time.time()),
        "model": MODEL,
    }


def _completion(message: ChatMessage) -> dict[str, Any]:
    answer: dict[str, Any] = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        answer["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    choice = {"index": 0, "message": answer, "finish_reason": message.finish_reason}
    return {**_head("chat.completion"), "choices": [choice], "usage": _usage(message)}


def _delta(piece: MessageDelta) -> dict[str, Any]:
    delta: dict[str, Any] = {}
    if piece.text:
        delta["content"] = piece.text
    if piece.tool_calls:
        delta["tool_calls"] = [
            {
                "index": call.index,
                **({"id": call.id, "type": "function"} if call.id else {}),
                "function": {**({"name": call.name} if call.name else {}), "arguments": call.arguments},
            }
            for call in piece.tool_calls
        ]
    return delta


def _usage(message: ChatMessage) -> dict[str, Any]:
    usage = message.usage
    assert usage is not None
    assert usage.input_tokens is not None
    assert usage.output_tokens is not None
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


if __name__ == "__main__":
    with LocalServer(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as running:
        print(running.url, flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
