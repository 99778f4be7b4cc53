"""AgentMemory: the system prompt and the steps, and the messages they make.

It must not decide when a step is made, nor which view is used.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_magic.core.messages import ChatMessage
from agent_magic.core.steps import RunStep, SystemPromptStep


class AgentMemory:
    """System prompt and steps, oldest first.

    The messages of n + 1 steps begin with the very message objects of n steps: each step is
    rendered once in each view, so the cost of a step does not grow with the history and a
    provider's prompt cache is hit.
    """

    def __init__(self, system_prompt: str = "", steps: Iterable[RunStep] = ()) -> None:
        self._system_prompt = SystemPromptStep(text=system_prompt)
        self._system_messages = self._system_prompt.to_messages()
        self._steps: list[RunStep] = []
        self._rendered: dict[bool, list[ChatMessage]] = {False: [], True: []}
        for step in steps:
            self.append(step)

    @property
    def system_prompt(self) -> SystemPromptStep:
        """The step that holds the system prompt."""
        return self._system_prompt

    @property
    def steps(self) -> tuple[RunStep, ...]:
        """All steps, oldest first, without the system prompt."""
        return tuple(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def append(self, step: RunStep) -> None:
        """Add a step at the end."""
        self._steps.append(step)
        for summary_mode, messages in self._rendered.items():
            messages.extend(step.to_messages(summary_mode=summary_mode))

    def set_system_prompt(self, text: str) -> None:
        """Put another system prompt in front; the steps stay."""
        if text != self._system_prompt.text:
            self._system_prompt = SystemPromptStep(text=text)
            self._system_messages = self._system_prompt.to_messages()

    def to_messages(self, *, summary_mode: bool = False) -> list[ChatMessage]:
        """The messages a model is sent, in the normal or the summary view (see `core.steps`)."""
        system = () if summary_mode else self._system_messages
        return [*system, *self._rendered[summary_mode]]
