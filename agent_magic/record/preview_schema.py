"""What stands in the record of a request: its messages and tools in the form of its provider.

It must not build a record nor draw one: it is the contract between those that do.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from agent_magic.core.messages import RequestKind
from agent_magic.record.schema import Json


class PartRecord(TypedDict):
    """A piece of a message: text as it is sent, or a note of the size of an image."""

    text: str
    is_image: NotRequired[bool]


class SentCallRecord(TypedDict):
    """A tool call inside a message."""

    id: str
    name: str
    arguments: str
    """JSON, as it is sent."""


class MessageRecord(TypedDict):
    """One message of a request, in its provider's form."""

    number: int
    """From 1."""
    role: str
    parts: list[PartRecord]
    calls: NotRequired[list[SentCallRecord]]
    call_id: NotRequired[str]
    """Of the call that it answers."""
    tokens: NotRequired[int]
    is_estimate: NotRequired[bool]
    """The model's own tokenizer did not count `tokens`."""
    is_new: NotRequired[bool]
    """The call before of this kind had another message here, or none."""
    is_redacted: NotRequired[bool]
    """What is sent holds a secret that is not shown here."""


class SentToolRecord(TypedDict):
    """A tool as a request describes it."""

    name: str
    description: str
    parameters: str
    """JSON Schema."""
    is_redacted: NotRequired[bool]


class PreviewRecord(TypedDict):
    """What a model was sent, or would be sent next."""

    kind: RequestKind
    step_number: int
    is_past: bool
    is_exact: bool | None
    """Whether what was rebuilt has the digest of what was sent; None if nothing was."""
    is_other_view: bool
    """What is, or was, sent at this moment is the other view."""
    is_new_run: bool
    """Of a run that has not begun, so that its task may be missing."""
    summary_mode: bool
    """The summary view of the history instead of the normal one."""
    model: str
    messages: list[MessageRecord]
    """In order; of very many the first and the last ones."""
    messages_left_out: int
    tools: list[SentToolRecord]
    tools_left_out: int
    tools_tokens: int | None
    is_tools_estimate: bool
    tokens: int | None
    """Of all messages and tools together; None if one is unknown."""
    is_estimate: bool
    window: int | None
    n_messages: int
    n_kept: int
    """Leading messages that are the same as in the call before of this kind."""
    n_before: int | None
    """How many messages that call had; None if there was none."""
    options: dict[str, Json]
