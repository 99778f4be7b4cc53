"""What the engine writes, read piece by piece: a plain text, or the JSON of one call.

It must not judge what is called with what.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence

from agent_magic.core.messages import ChatMessage, MessageDelta, TokenUsage, ToolCall, ToolCallDelta
from agent_magic.core.values import Value
from agent_magic.models.local_engine import Piece

_CALL_HEAD = re.compile(r'\A\{"name": "([^"]+)", "arguments": ')
_CALL_TAIL = re.compile(r"\s*\}?\s*\Z")


class TextReader:
    """A plain text as it comes."""

    def __init__(self) -> None:
        self._text = ""
        self._last = Piece()

    def read(self, piece: Piece) -> MessageDelta | None:
        """What is new in the next piece, if anything is."""
        self._text += piece.text
        self._last = piece
        return MessageDelta(text=piece.text) if piece.text else None

    def message(self) -> ChatMessage:
        """The whole reply, after the last piece."""
        return ChatMessage(
            role="assistant",
            content=self._text.strip() or None,
            usage=_to_usage(self._last),
            finish_reason=self._last.finish_reason,
        )


class CallReader:
    """`{"name": …, "arguments": …}` as it comes; the arguments are passed on as they grow."""

    def __init__(self, answers: Sequence[Value] = ()) -> None:
        """Read a call.

        Args:
            answers: What a value may be, where it is one of these: the engine writes 3.0 as 3.
        """
        self._answers = answers
        self._text = ""
        self._last = Piece()
        self._id = f"call_{uuid.uuid4().hex[:12]}"
        self._name = ""
        self._start = 0
        self._n_told = 0

    def read(self, piece: Piece) -> MessageDelta | None:
        """What is new in the next piece, if anything is."""
        self._text += piece.text
        self._last = piece
        name = None
        if not self._name and (head := _CALL_HEAD.match(self._text)):
            self._name = name = head[1]
            self._start = head.end()
        if not self._name:
            return None
        # The last brace closes the call, not the arguments; whether one is the last shows later.
        arguments = _CALL_TAIL.sub("", self._text[self._start :])
        news = arguments[self._n_told :]
        if not news and not name:
            return None
        self._n_told = len(arguments)
        delta = ToolCallDelta(index=0, id=self._id if name else None, name=name, arguments=news)
        return MessageDelta(tool_calls=(delta,))

    def message(self) -> ChatMessage:
        """The whole reply, after the last piece."""
        usage = _to_usage(self._last)
        try:
            call = json.loads(self._text)
        except ValueError:  # cut off by `max_tokens`
            return ChatMessage(role="assistant", content=self._text, usage=usage, finish_reason="length")
        arguments = {name: self._as_offered(value) for name, value in call["arguments"].items()}
        return ChatMessage(
            role="assistant",
            tool_calls=(ToolCall(id=self._id, name=call["name"], arguments=arguments),),
            usage=usage,
            finish_reason="tool_calls",
        )

    def _as_offered(self, value: Value) -> Value:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        same = (answer for answer in self._answers if type(answer) in (int, float) and answer == value)
        return next(same, value) if is_number else value


def _to_usage(last: Piece) -> TokenUsage | None:
    usage = last.usage
    if usage is None:
        return None
    return TokenUsage(
        input_tokens=usage.get("prompt_tokens"),
        output_tokens=usage.get("completion_tokens"),
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
        reasoning_tokens=0,
        cost_usd=0.0,
    )
