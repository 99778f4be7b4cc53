"""MessageBuilder: the pieces of a reply, folded into one message.

It must not judge the reply: broken arguments and unknown tools stay as they came.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from agent_magic.core.messages import ChatMessage, MessageDelta, TokenUsage, ToolCall, ToolCallDelta
from agent_magic.models.parsing import split_reasoning

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPiece:
    """What a fragment adds to a tool call, once it is known to which."""

    place: int
    """Of the call in the reply, from 0."""
    name: str
    """Of the call's tool, as far as it has come."""
    arguments: str


class MessageBuilder:
    """Folds pieces into one `ChatMessage`.

    Fragments of tool calls are joined by their id, then by their index; providers that give all
    calls one index, or no ids, still get one call for each. Usage is a running total: the last
    one counts. Thinking inside the text becomes `reasoning`.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_OpenCall] = []
        self._usage: TokenUsage | None = None
        self._finish_reason: str | None = None
        self._whole: ChatMessage | None = None

    @property
    def text_so_far(self) -> str:
        """The text that has come, as it came."""
        if self._whole is not None:
            return self._whole.content or ""
        if len(self._text) > 1:
            self._text = ["".join(self._text)]
        return self._text[0] if self._text else ""

    @property
    def finish_reason(self) -> str | None:
        """Why the provider ended the reply; None as long as it has not."""
        return self._finish_reason

    def add(self, piece: MessageDelta | ChatMessage) -> Sequence[CallPiece]:
        """Take the next piece; a `ChatMessage` is the whole reply and counts instead of all pieces.

        Returns:
            What it adds to the tool calls of the reply.
        """
        if isinstance(piece, ChatMessage):
            self._whole = piece
            return ()
        if piece.text:
            self._text.append(piece.text)
        if piece.reasoning:
            self._reasoning.append(piece.reasoning)
        added = [self._add_fragment(fragment) for fragment in piece.tool_calls] if piece.tool_calls else ()
        if piece.usage is not None:
            self._usage = piece.usage
        self._finish_reason = piece.finish_reason or self._finish_reason
        return added

    def build(self) -> ChatMessage:
        """The message that all pieces make, each tool call with an id of its own."""
        message = self._whole or ChatMessage(
            role="assistant",
            content="".join(self._text) or None,
            reasoning="".join(self._reasoning) or None,
            tool_calls=tuple(call.to_tool_call() for call in self._calls),
            usage=self._usage,
            finish_reason=self._finish_reason,
        )
        thinking, text = split_reasoning(_mend(message.content or ""))
        reasoning = "\n".join(part for part in (_mend(message.reasoning or ""), thinking) if part)
        calls = _with_own_ids(message.tool_calls)
        # Most whole replies are right as they are, and every step of a run comes by here.
        if (text or None, reasoning or None) == (
            message.content,
            message.reasoning,
        ) and calls is message.tool_calls:
            return message
        return dataclasses.replace(
            message, content=text or None, reasoning=reasoning or None, tool_calls=calls
        )

    def _add_fragment(self, fragment: ToolCallDelta) -> CallPiece:
        call = self._find(fragment)
        if call is None:
            call = _OpenCall(fragment)
            self._calls.append(call)
        return CallPiece(place=self._calls.index(call), arguments=call.add(fragment), name=call.name)

    def _find(self, fragment: ToolCallDelta) -> _OpenCall | None:
        """The call that a fragment goes on with; None if it begins a new one."""
        if fragment.id:
            same_id = [call for call in reversed(self._calls) if call.id == fragment.id]
            call = next((call for call in same_id if call.index == fragment.index), next(iter(same_id), None))
            if call is None:
                # An id that comes late belongs to the nameless or id-less call begun at its index.
                call = self._at_index(fragment.index)
                late = call is not None and call.id is None and not fragment.name
                return call if late else None
        else:
            call = self._at_index(fragment.index)
        return None if call is None or call.is_followed_by(fragment) else call

    def _at_index(self, index: int | None) -> _OpenCall | None:
        if index is None:
            return self._calls[-1] if self._calls else None
        return next((call for call in reversed(self._calls) if call.index == index), None)


class _OpenCall:
    """A tool call while its fragments come in."""

    def __init__(self, first: ToolCallDelta) -> None:
        self.id = first.id or None
        self.index = first.index
        self.name = ""
        self._pieces: list[str] = []
        self._is_blank = True
        self._measured = 0
        self._depth = 0
        self._in_string = False
        self._is_escaped = False

    def add(self, fragment: ToolCallDelta) -> str:
        """Take a fragment; the part of the arguments that is new with it."""
        self.id = self.id or fragment.id or None
        self.name = self.name or fragment.name or ""
        if fragment.arguments and not self._is_repeated_by(fragment):
            self._pieces.append(fragment.arguments)
            self._is_blank = self._is_blank and not fragment.arguments.strip()
            return fragment.arguments
        return ""

    def is_followed_by(self, fragment: ToolCallDelta) -> bool:
        """Whether a fragment that fits by id or index begins another call all the same."""
        if not fragment.name or not self.name or self._is_repeated_by(fragment):
            return False
        is_same_place = fragment.index == self.index
        if is_same_place and fragment.name == self.name and not fragment.arguments.strip():
            return False
        if is_same_place and fragment.id and self._is_blank:
            return False
        return self._is_whole()

    def to_tool_call(self) -> ToolCall:
        return ToolCall(id=self.id or "", name=self.name, arguments=_mend(self._text()))

    def _text(self) -> str:
        return "".join(self._pieces)

    def _is_repeated_by(self, fragment: ToolCallDelta) -> bool:
        # Some servers end with the whole call once more, under its id.
        is_same = bool(fragment.id) and fragment.id == self.id and fragment.name == self.name
        return (
            is_same and bool(fragment.arguments) and self._is_whole() and fragment.arguments == self._text()
        )

    def _is_whole(self) -> bool:
        """Whether the arguments so far are blank or one closed object; each piece is read once."""
        for piece in self._pieces[self._measured :]:
            for character in piece:
                if self._in_string:
                    if self._is_escaped or character == "\\":
                        self._is_escaped = not self._is_escaped
                    elif character == '"':
                        self._in_string = False
                elif character == '"':
                    self._in_string = True
                elif character in "{[":
                    self._depth += 1
                elif character in "}]":
                    self._depth -= 1
        self._measured = len(self._pieces)
        return self._depth == 0 and not self._in_string


def _with_own_ids(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    if len(calls) < 2 and all(call.id for call in calls):
        return calls
    taken: set[str] = {call.id for call in calls if call.id}
    numbers = count(1)
    seen: set[str] = set()
    named: list[ToolCall] = []
    for call in calls:
        own = call
        if not call.id or call.id in seen:
            fresh = next(name for number in numbers if (name := f"call_{number}") not in taken)
            own = dataclasses.replace(call, id=fresh)
        seen.add(own.id)
        named.append(own)
    return tuple(named)


def _mend(text: str) -> str:
    """Join surrogate halves that came in two pieces, and replace those without a partner."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
