"""One real run of an agent against a dialect, and what came of it.

It must not judge: what is right stands with the columns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_magic import LiteLLMModel, RunResult, ToolCallingAgent
from agent_magic.core.events import Event, TextDelta, Waiting
from tests.providers.dialect import Dialect
from tests.providers.server import Answering, Line, ProviderServer, Received

TASK = "How much are 1 and 2?"


@dataclass(slots=True, kw_only=True)
class Seen:
    """What a run came to."""

    result: RunResult
    waits: list[Waiting]
    texts: str
    """All text that was shown while it came."""
    received: list[Received]
    added: list[tuple[int, int]]
    """The arguments of each call of `add` that was made."""
    events: list[Event] = field(default_factory=list)

    @property
    def n_requests(self) -> int:
        """How often the provider was asked."""
        return len(self.received)

    @property
    def error(self) -> str:
        """Why it ended without an answer."""
        return self.result.error.message if self.result.error else ""

    @property
    def told(self) -> list[str]:
        """The faults that the model was told of, by kind."""
        return [fault.kind for step in self.result.actions for fault in step.faults if fault.is_for_model]

    @property
    def came(self) -> str:
        """The run in a few words, as the table has it."""
        retried = f" ({len(self.waits)} more tries)" if len(self.waits) > 1 else " (retried)"
        how = retried if self.waits else ""
        if self.told:
            how += " (told)"
        return f"{self.result.status}{how}"

    def body_text(self, number: int) -> str:
        """All of a request, counted from 1, as one text."""
        return json.dumps(self.received[number - 1].body)


def model_at(server: ProviderServer, line: Line, dialect: Dialect, **options: Any) -> LiteLLMModel:
    """The model of a dialect, pointed at a line of the server."""
    given = {**dialect.options(server.address), "extra_headers": line.headers, **options}
    return LiteLLMModel(dialect.model_id, **given)


def run_once(
    server: ProviderServer,
    dialect: Dialect,
    answers: Sequence[Answering],
    *,
    is_stream: bool,
    timeout_s: float = 60.0,
    **options: Any,
) -> Seen:
    """Run an agent that can add, against these answers."""
    line = server.open_line(answers)
    model = model_at(server, line, dialect, stream=is_stream, timeout_s=timeout_s, **options)
    added: list[tuple[int, int]] = []

    def add(a: int, b: int) -> int:
        """Add two numbers.

        Args:
            a: The first.
            b: The second.
        """
        added.append((a, b))
        return a + b

    agent = ToolCallingAgent(model=model, tools=[add], max_steps=4)
    events = list(agent.stream(TASK))
    result = agent.result
    assert result is not None
    return Seen(
        result=result,
        waits=[event for event in events if isinstance(event, Waiting)],
        texts="".join(
            event.text for event in events if isinstance(event, TextDelta) and not event.is_reasoning
        ),
        received=line.received,
        added=added,
        events=events,
    )
