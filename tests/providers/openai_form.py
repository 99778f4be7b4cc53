"""OpenAI's chat form, and what servers that speak it do otherwise: Azure, Hugging Face, Groq, OpenRouter, vLLM, MLX.

By OpenAI's API reference (chat/object, chat/streaming, error codes) and the servers' own pages.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from tests.providers.dialect import Dialect, Trouble, to_events
from tests.providers.said import Call, Counted, Said

_HEAD = {"id": "chatcmpl-1", "created": 1_760_000_000, "model": "tiny"}
_CHUNK = {**_HEAD, "object": "chat.completion.chunk"}


class OpenAIForm(Dialect):
    """`choices[0].message`, and a stream of `choices[0].delta`."""

    name = "OpenAI"
    model_id = "openai/gpt-4.1"
    thinking_field: ClassVar[str] = "reasoning_content"
    codes: ClassVar[dict[Trouble, str]] = {
        "key": "invalid_api_key",
        "model": "model_not_found",
        "rate": "rate_limit_exceeded",
    }

    def options(self, address: str) -> dict[str, Any]:
        return {"api_base": f"{address}/v1", "api_key": self.key}

    # -- whole --------------------------------------------------------------------------------

    def body(self, said: Said) -> Any:
        choices = [] if said.shape == "no choice" else [self._choice(said)]
        body: dict[str, Any] = {**_HEAD, "object": "chat.completion", "choices": choices}
        if said.counted:
            body["usage"] = self.usage(said.counted)
        return body

    def _choice(self, said: Said) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.content(said)}
        if said.thinking and said.shape != "list":
            message |= self.thinking(said)
        if said.calls:
            message["tool_calls"] = [self.call(call) for call in said.calls]
        return {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": "tool_calls" if said.calls else "stop",
        }

    def content(self, said: Said) -> Any:
        """Text, null or parts."""
        if said.shape == "list":
            return _to_parts(said)
        return said.text or None

    def thinking(self, said: Said) -> dict[str, Any]:
        """The thinking, as fields of a message or delta."""
        return {self.thinking_field: said.thinking}

    def call(self, call: Call) -> dict[str, Any]:
        """A call, whole."""
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        return {"id": call.id, "type": "function", "function": function}

    def usage(self, counted: Counted) -> dict[str, Any]:
        """Tokens."""
        usage: dict[str, Any] = {
            "prompt_tokens": counted.input,
            "completion_tokens": counted.output,
            "total_tokens": counted.input + counted.output,
        }
        if counted.cached is not None:
            usage["prompt_tokens_details"] = {"cached_tokens": counted.cached, "audio_tokens": 0}
        if counted.reasoning is not None:
            usage["completion_tokens_details"] = {"reasoning_tokens": counted.reasoning, "audio_tokens": 0}
        return usage

    # -- in pieces ----------------------------------------------------------------------------

    def events(self, said: Said) -> list[bytes]:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "" if said.text else None}]
        if said.shape == "list":
            deltas += [{"content": [part]} for part in _to_parts(said)]
        else:
            deltas += [self.thinking(said)] if said.thinking else []
            deltas += [{"content": text} for text in said.texts]
        for index, call in enumerate(said.calls):
            deltas += self.call_deltas(index, call)
        chunks = [_chunk(delta) for delta in deltas]
        chunks.append(_chunk({}, "tool_calls" if said.calls else "stop"))
        if said.shape == "no choice":
            chunks = []
        return to_events(*self.with_usage(chunks, said.counted), "[DONE]")

    def call_deltas(self, index: int, call: Call) -> list[dict[str, Any]]:
        """A call in pieces."""
        text = json.dumps(call.arguments)
        half = len(text) // 2
        return [
            {
                "tool_calls": [
                    {**self.call(call), "index": index, "function": {"name": call.name, "arguments": ""}}
                ]
            },
            {"tool_calls": [{"index": index, "function": {"arguments": text[:half]}}]},
            {"tool_calls": [{"index": index, "function": {"arguments": text[half:]}}]},
        ]

    def with_usage(self, chunks: list[dict[str, Any]], counted: Counted | None) -> list[dict[str, Any]]:
        """The chunks with the usage where this server puts it: in a last one without a choice."""
        return [*chunks, {**_CHUNK, "choices": [], "usage": self.usage(counted)}] if counted else chunks

    # -- refusals -----------------------------------------------------------------------------

    def refusal(self, trouble: Trouble, words: str) -> Any:
        error = {
            "message": words,
            "type": "invalid_request_error",
            "param": None,
            "code": self.codes.get(trouble),
        }
        return {"error": error}

    def broken_event(self) -> bytes:
        return b'data: {"id": "chatcmpl-1", "choices": [{"ind\n\n'

    def error_event(self, trouble: Trouble) -> bytes:
        return to_events(self.refusal(trouble, self.words[trouble]))[0]


class Compatible(OpenAIForm):
    """Any other server of that form."""

    name = "OpenAI-compatible"
    model_id = "openai/tiny"


class Azure(OpenAIForm):
    """Deployments, a version in the address, and content filters: a first chunk without a choice."""

    name = "Azure OpenAI"
    model_id = "azure/my-deployment"
    words: ClassVar[dict[Trouble, str]] = OpenAIForm.words | {
        "key": "Access denied due to invalid subscription key or wrong API endpoint.",
        "model": "The API deployment for this resource does not exist.",
        "rate": "Requests to the ChatCompletions_Create Operation have exceeded the token rate limit.",
    }

    def options(self, address: str) -> dict[str, Any]:
        return {"api_base": address, "api_key": self.key, "api_version": "2024-10-21"}

    def body(self, said: Said) -> Any:
        return {**super().body(said), "prompt_filter_results": _FILTERED}

    def events(self, said: Said) -> list[bytes]:
        first = {
            "id": "",
            "object": "",
            "created": 0,
            "model": "",
            "choices": [],
            "prompt_filter_results": _FILTERED,
        }
        return [*to_events(first), *super().events(said)]

    def refusal(self, trouble: Trouble, words: str) -> Any:
        return {"error": {"code": _AZURE_CODES.get(trouble, str(self.statuses[trouble])), "message": words}}


class HuggingFace(OpenAIForm):
    """Inference providers and endpoints (TGI); TGI's errors are a text."""

    name = "Hugging Face"
    model_id = "huggingface/tiny-org/tiny"
    key_variable = "HF_TOKEN"
    words: ClassVar[dict[Trouble, str]] = OpenAIForm.words | {
        "key": "Invalid username or password.",
        "rate": "Model is overloaded",
    }

    def options(self, address: str) -> dict[str, Any]:
        return {"api_base": address, "api_key": self.key}

    def refusal(self, trouble: Trouble, words: str) -> Any:
        if trouble in ("key", "model"):
            return {"error": words}
        return {"error": words, "error_type": "overloaded" if trouble == "rate" else "generation"}


class Groq(OpenAIForm):
    """Thinking in `reasoning`; the usage of a stream twice, in `x_groq` of the last chunk as well."""

    name = "Groq"
    model_id = "groq/openai/gpt-oss-120b"
    thinking_field = "reasoning"

    def options(self, address: str) -> dict[str, Any]:
        return {"api_base": f"{address}/openai/v1", "api_key": self.key}

    def usage(self, counted: Counted) -> dict[str, Any]:
        return {
            "queue_time": 0.01,
            "prompt_time": 0.02,
            "completion_time": 0.1,
            "total_time": 0.12,
        } | super().usage(counted)

    def body(self, said: Said) -> Any:
        return {**super().body(said), "service_tier": "on_demand", "x_groq": {"id": "req_1"}}

    def with_usage(self, chunks: list[dict[str, Any]], counted: Counted | None) -> list[dict[str, Any]]:
        if not (counted and chunks):
            return super().with_usage(chunks, counted)
        last = {**chunks[-1], "x_groq": {"id": "req_1", "usage": self.usage(counted)}}
        return super().with_usage([*chunks[:-1], last], counted)


class OpenRouter(OpenAIForm):
    """Comments in the stream, thinking in `reasoning` and, signed, in `reasoning_details`; errors with a number."""

    name = "OpenRouter"
    model_id = "openrouter/anthropic/claude-sonnet-4.5"
    words: ClassVar[dict[Trouble, str]] = OpenAIForm.words | {
        "key": "User not found.",
        "model": "No endpoints found for tiny.",
    }
    thinking_field = "reasoning"

    def options(self, address: str) -> dict[str, Any]:
        return {"api_base": f"{address}/api/v1", "api_key": self.key}

    def thinking(self, said: Said) -> dict[str, Any]:
        detail: dict[str, Any] = {
            "type": "reasoning.text",
            "text": said.thinking,
            "format": "anthropic-claude-v1",
            "index": 0,
        }
        if said.signature:
            detail["signature"] = said.signature
        return {"reasoning": said.thinking, "reasoning_details": [detail]}

    def usage(self, counted: Counted) -> dict[str, Any]:
        return {**super().usage(counted), "cost": 0.0012, "is_byok": False}

    def events(self, said: Said) -> list[bytes]:
        return [b": OPENROUTER PROCESSING\n\n", *super().events(said)]

    def refusal(self, trouble: Trouble, words: str) -> Any:
        return {"error": {"message": words, "code": self.statuses[trouble]}, "user_id": "user_1"}

    def error_event(self, trouble: Trouble) -> bytes:
        error = {"code": self.statuses[trouble], "message": "Provider disconnected"}
        return to_events({**_chunk({"content": ""}, "error"), "error": error})[0]


class VLLM(OpenAIForm):
    """A server of vLLM's."""

    name = "vLLM"
    model_id = "hosted_vllm/tiny"
    words: ClassVar[dict[Trouble, str]] = OpenAIForm.words | {"model": "The model `tiny` does not exist."}
    thinking_field = "reasoning"

    def refusal(self, trouble: Trouble, words: str) -> Any:
        if trouble == "key":
            return {"error": "Unauthorized"}
        kind = {"model": "NotFoundError", "crash": "InternalServerError"}.get(trouble, "BadRequestError")
        return {"error": {"message": words, "type": kind, "param": None, "code": self.statuses[trouble]}}


class MLX(OpenAIForm):
    """`mlx_lm.server`: whole calls in a stream, an empty list beside each text, errors that are a text."""

    name = "MLX server"
    model_id = "openai/mlx-community/tiny-4bit"
    thinking_field = "reasoning"

    def call_deltas(self, index: int, call: Call) -> list[dict[str, Any]]:
        return [{"role": "assistant", "content": "", "tool_calls": [{**self.call(call), "index": index}]}]

    def events(self, said: Said) -> list[bytes]:
        return [
            event.replace(b'"delta": {"content"', b'"delta": {"tool_calls": [], "content"')
            for event in super().events(said)
        ]

    def refusal(self, trouble: Trouble, words: str) -> Any:
        return {"error": words}


def _chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {
        **_CHUNK,
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}],
    }


def _to_parts(said: Said) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if said.thinking:
        parts.append({"type": "thinking", "thinking": [{"type": "text", "text": said.thinking}]})
    return [*parts, *({"type": "text", "text": text} for text in said.texts)]


_SAFE = {"filtered": False, "severity": "safe"}
_FILTERED = [{"prompt_index": 0, "content_filter_results": {"hate": _SAFE, "violence": _SAFE}}]
_AZURE_CODES = {"model": "DeploymentNotFound", "timeout": "Timeout"}
