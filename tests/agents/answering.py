"""Somebody who answers what runs ask, from another thread.

It must not stand in for anything of ours: it uses `agent.approvals` as a person's code would.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator

from agents.checking import PATIENCE_S, eventually

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.approval import Item, Question


@contextlib.contextmanager
def answering(
    agent: MultiStepAgent, *answers: Callable[[Question], object]
) -> Generator[list[BaseException]]:
    """Answer the first question by the first function, and so on; what they raise is in the list."""
    raised: list[BaseException] = []
    seen: set[str] = set()

    def is_news() -> bool:
        return is_over.is_set() or any(question.id not in seen for question in agent.approvals.open)

    def work() -> None:
        for answer in answers:
            if not eventually(is_news) or is_over.is_set():
                return
            question = next(question for question in agent.approvals.open if question.id not in seen)
            seen.add(question.id)
            try:
                answer(question)
            except BaseException as error:  # the test looks at it
                raised.append(error)

    is_over = threading.Event()
    thread = threading.Thread(target=work)
    with agent.approvals.attended():
        thread.start()
        try:
            yield raised
        finally:
            is_over.set()
            thread.join(PATIENCE_S)
    assert not thread.is_alive()


def approve(agent: MultiStepAgent, question: Question) -> None:
    """Approve all of it as it was shown."""
    for item in question.items:
        agent.approvals.answer(item.id, "approve", digest=item.digest)


def only(question: Question) -> Item:
    """The one item of a question."""
    (item,) = question.items
    return item
