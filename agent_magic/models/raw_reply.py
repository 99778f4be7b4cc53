"""The body of a whole reply, read by ourselves where LiteLLM cannot, or loses some of it.

It must not import LiteLLM, nor judge what is said: a body of no known form is left to LiteLLM's words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from agent_magic.models.content_parts import split_content

_USAGE_KEYS = ("usage", "usageMetadata", "prompt_eval_count")
"""Where a provider reports tokens."""


class ReplyBody:
    """Keeps the body beside LiteLLM, which calls `keep`."""

    def __init__(self) -> None:
        self._text = ""
        self._read: Any = None

    def keep(self, details: Mapping[str, Any]) -> None:
        """Take what LiteLLM is about to read; it also calls this before the request and after a failure."""
        text = details.get("original_response")
        if isinstance(text, str) and text.lstrip().startswith("{"):
            self._text, self._read = text, None

    @property
    def _body(self) -> Mapping[str, Any]:
        if self._read is None:
            try:
                self._read = json.loads(self._text)
            except (ValueError, RecursionError):
                self._read = {}
        return cast("Mapping[str, Any]", self._read) if isinstance(self._read, dict) else {}

    @property
    def reports_no_usage(self) -> bool:
        """Whether it is known that no tokens were reported; LiteLLM makes some up then."""
        return bool(self._body) and not any(self._body.get(key) for key in _USAGE_KEYS)

    @property
    def holds_parts(self) -> bool:
        """Whether a content is a list of parts in OpenAI's form, of which LiteLLM may keep but one."""
        if '"choices"' not in self._text:
            return False
        try:
            return any(isinstance(one["message"]["content"], list) for one in self._body["choices"])
        except (TypeError, LookupError):
            return False

    def read(self) -> dict[str, Any] | None:
        """Choices and usage in OpenAI's form; None if the body is no reply of a form that is known."""
        try:
            return _read(self._body)
        except (TypeError, LookupError, ValueError, AttributeError, RecursionError):
            return None


def _read(body: Mapping[str, Any]) -> dict[str, Any] | None:
    if "choices" in body:
        choices = [
            {"finish_reason": one.get("finish_reason"), "message": _flat(one["message"])}
            for one in body["choices"]
        ]
        return {"choices": choices, "usage": body.get("usage")}
    if body.get("type") == "message":
        message = _of_blocks(body["content"])
    elif "output" in body:
        message = _of_blocks(map(_from_converse, body["output"]["message"]["content"]))
    elif "candidates" in body:
        message = _of_blocks(map(_from_gemini, body["candidates"][0]["content"].get("parts", ())))
    else:
        return None
    return {
        "choices": [{"finish_reason": "tool_calls" if message["tool_calls"] else "stop", "message": message}]
    }


def _flat(message: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(message["content"], str | list | None):
        raise TypeError(message["content"])
    flat = dict(message)
    flat["content"], thinking = split_content(message["content"])
    known = message.get("reasoning_content") or message.get("reasoning") or ""
    if known or thinking:
        flat["reasoning_content"] = known + thinking
    return flat


def _of_blocks(blocks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The message of blocks in Anthropic's form."""
    texts: list[str] = []
    thinking: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for block in blocks:
        match block["type"]:
            case "text":
                texts.append(block["text"])
            case "thinking" | "redacted_thinking":
                thinking.append(dict(block))
            case "tool_use":
                function = {
                    "name": block["name"],
                    "arguments": json.dumps(block["input"], ensure_ascii=False),
                }
                call: dict[str, Any] = {"id": block["id"], "type": "function", "function": function}
                if block.get("signature"):
                    call["provider_specific_fields"] = {"thought_signature": block["signature"]}
                calls.append(call)
            case _:
                pass
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(texts) or None,
        "tool_calls": calls or None,
        "reasoning_content": "".join(block.get("thinking", "") for block in thinking) or None,
    }
    return {**message, "thinking_blocks": thinking} if thinking else message


def _from_converse(block: Mapping[str, Any]) -> dict[str, Any]:
    if "toolUse" in block:
        use = block["toolUse"]
        return {"type": "tool_use", "id": use["toolUseId"], "name": use["name"], "input": use["input"]}
    if "reasoningContent" in block:
        inner = block["reasoningContent"]
        if "redactedContent" in inner:
            return {"type": "redacted_thinking", "data": inner["redactedContent"]}
        text = inner["reasoningText"]
        return {"type": "thinking", "thinking": text["text"], "signature": text.get("signature")}
    return {"type": "text", "text": block["text"]} if "text" in block else {"type": "unknown"}


def _from_gemini(part: Mapping[str, Any]) -> dict[str, Any]:
    if "functionCall" in part:
        call = part["functionCall"]
        return {
            "type": "tool_use",
            "id": call.get("id") or "",
            "name": call["name"],
            "input": call.get("args") or {},
            "signature": part.get("thoughtSignature"),
        }
    if "text" not in part:
        return {"type": "unknown"}
    if part.get("thought") is True:
        return {"type": "thinking", "thinking": part["text"]}
    return {"type": "text", "text": part["text"]}
