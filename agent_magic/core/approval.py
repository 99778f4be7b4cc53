"""What a person is asked before calls are made or a plan counts, and what they said.

It must not wait for an answer, nor know who gives one: that is the agents' business.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from agent_magic.core.messages import ToolCall
from agent_magic.core.values import Value, safe_repr

ApprovalPolicy = Literal["never", "code", "tools", "all"]
"""What waits for a person: nothing; what is written as code; tool calls, those too that code makes; code,
plans and the calls of an agent that calls tools (what approved code calls is approved with it)."""
APPROVAL_POLICIES: tuple[ApprovalPolicy, ...] = get_args(ApprovalPolicy)
Answering = Literal["approve", "edit", "reject"]
"""What a person can say of one item."""
ANSWERINGS: tuple[Answering, ...] = get_args(Answering)
Verdict = Literal["approved", "edited", "rejected"]
"""What was said of one item."""
VERDICT_WORDS: Mapping[Verdict, str] = {"approved": "approved", "edited": "changed", "rejected": "refused"}
"""As a person says it."""

EDITED = "the person changed the arguments to"
"""How the note begins that tells a model of arguments that are not its own."""

_KEY = os.urandom(32)
"""Of this process: a digest tells what was shown here, and nobody else can make one."""
_SIZE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a person is asked about."""

    id: str
    """Unique in the process."""
    digest: str
    """Of what is asked: an answer that carries it is bound to what was shown."""
    kind: Literal["call", "plan"]
    call: ToolCall | None = None
    """As it would be made."""
    plan: str | None = None

    @property
    def name(self) -> str:
        """What a person calls it: the tool's name, or `the plan`."""
        return "the plan" if self.call is None else self.call.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """All that a person is asked at one moment; the run waits until each item is answered."""

    id: str
    run_id: str
    step_number: int
    items: tuple[Item, ...]
    agent_name: str = ""
    """Whose run asks: the agent itself, or one that it manages."""
    agents: tuple[str, ...] = ()
    """The way to it: the agent that was given the task, those that work for it, the one that asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What became of one item."""

    item: Item
    verdict: Verdict
    arguments: Mapping[str, Value] | None = None
    """Of a call that was edited: those that it is made with."""
    plan: str | None = None
    """Of a plan that was edited: the text that counts."""
    reason: str = ""
    """Why it was rejected; empty if nobody said."""
    by: str = "the person"


def call_item(item_id: str, call: ToolCall) -> Item:
    """A call to be asked about."""
    return Item(id=item_id, digest=_digest(item_id, call.name, call.arguments), kind="call", call=call)


def plan_item(item_id: str, plan: str) -> Item:
    """A plan to be asked about."""
    return Item(id=item_id, digest=_digest(item_id, plan), kind="plan", plan=plan)


def _digest(*parts: Value) -> str:
    try:
        text = json.dumps(parts, ensure_ascii=False, default=safe_repr)
    except (TypeError, ValueError):  # keys that are no text: arguments that Python code gave
        text = safe_repr(parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=_KEY, digest_size=_SIZE).hexdigest()
