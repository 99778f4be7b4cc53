"""Approvals: the desk of an agent where questions lie open, and where somebody answers them.

It must not wait for an answer, nor do what was decided: a run does. It is safe to use from any thread.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from typing import cast

from agent_magic.core.approval import ANSWERINGS, VERDICT_WORDS, Answering, Decision, Item, Question
from agent_magic.core.errors import OptionError, StepError
from agent_magic.core.flag import Flag
from agent_magic.core.text import replace_surrogates, strip_control, truncate
from agent_magic.core.values import Value, safe_repr

MAX_REASON = 1_000
"""Characters of a reason that are kept."""
MAX_EDITED_PLAN = 20_000
_MAX_TOLD = 1_000

Check = Callable[[Item, Mapping[str, Value]], None]
"""Raises a `StepError` if a call cannot be made with these arguments."""


class Asked:
    """A question while it lies open."""

    def __init__(self, question: Question, check: Check) -> None:
        self.question = question
        self.check = check
        self.decisions: dict[str, Decision] = {}
        """By the id of the item, in the order in which they were made."""
        self.lock = threading.Lock()
        """Held while a decision is put in: the question may lie on several desks."""
        self.news = Flag()

    @property
    def n_left(self) -> int:
        """Items that nobody has answered yet."""
        return len(self.question.items) - len(self.decisions)


class Approvals:
    """What waits for a person's word, and how it is given.

    ```python
    with agent.approvals.attended():  # in another thread than the run's
        for question in agent.approvals.open:
            for item in question.items:
                agent.approvals.answer(item.id, "approve", digest=item.digest)
    ```
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._asked: dict[str, Asked] = {}
        self._told: OrderedDict[str, str] = OrderedDict()
        """What became of each item that is no longer open."""
        self._attending: dict[object, Callable[[], bool]] = {}
        self._standing: dict[object, str] = {}

    @property
    def open(self) -> tuple[Question, ...]:
        """The questions that wait, oldest first; of each some items may be answered."""
        with self._lock:
            return tuple(asked.question for asked in self._asked.values())

    def is_open(self, item_id: str) -> bool:
        """Whether an item waits for an answer."""
        with self._lock:
            return any(
                item.id == item_id and item_id not in asked.decisions
                for asked in self._asked.values()
                for item in asked.question.items
            )

    def answer(
        self,
        item_id: str,
        verdict: Answering,
        *,
        digest: str | None = None,
        arguments: Mapping[str, Value] | None = None,
        plan: str | None = None,
        reason: str = "",
        by: str = "the person",
    ) -> str:
        """Give the person's word on one item; it holds once it is given.

        Args:
            item_id: Of an item in `open`.
            verdict: `approve`, `edit` (with `arguments` or `plan`), or `reject`.
            digest: Of what was shown, so that nothing else is approved by it; None to trust the id.
            arguments: Of an edited call, all of them: what the model wrote is replaced.
            plan: An edited plan, whole.
            reason: Why it is rejected; the model reads it.
            by: Who answers, in words.

        Returns:
            From when on it holds: `now`, or after others that are still open.

        Raises:
            OptionError: There is no such item, it is answered, another one was shown, or the
                arguments do not fit; a person can answer again then, unless it is answered.
        """
        asked, item = self._find(item_id)
        if digest is not None and digest != item.digest:
            what = (
                "The plan has changed since it was"
                if item.kind == "plan"
                else f"The arguments of {item.name} changed since they were"
            )
            raise OptionError(
                f"{what} shown, so this answer does not hold. Look at what is asked now, and answer that."
            )
        if verdict not in ANSWERINGS:
            raise OptionError(
                f"verdict={verdict!r} is not allowed. Give one of: {', '.join(map(repr, ANSWERINGS))}."
            )
        decision = _decide(item, verdict, asked.check, arguments=arguments, plan=plan, reason=reason, by=by)
        with self._lock, asked.lock:
            self._find(item_id)  # somebody may have been faster
            asked.decisions[item_id] = decision
            n_left = asked.n_left
        asked.news.set()
        if n_left == 0:
            return "now"
        return f"when the {'other one is' if n_left == 1 else f'{n_left} others are'} decided"

    @contextlib.contextmanager
    def attended(self, by: Callable[[], bool] | None = None) -> Generator[None]:
        """As long as this is open, somebody can answer.

        Args:
            by: Asked whenever a question arises; None for always.
        """
        token = object()
        with self._lock:
            self._attending[token] = by or _always
        try:
            yield
        finally:
            with self._lock:
                self._attending.pop(token, None)

    @contextlib.contextmanager
    def approving_all(self, by: str) -> Generator[None]:
        """As long as this is open, all that is asked is approved at once.

        Args:
            by: The rule that has it so, in words: it is told beside each call.
        """
        token = object()
        with self._lock:
            self._standing[token] = by
        try:
            yield
        finally:
            with self._lock:
                self._standing.pop(token, None)

    # -- for the run that asks -----------------------------------------------------------------

    @property
    def standing(self) -> str | None:
        """The rule by which all is approved, None if there is none."""
        with self._lock:
            return next(reversed(self._standing.values()), None)

    @property
    def has_anybody(self) -> bool:
        """Whether anybody said to be there, who may be away at this moment."""
        return bool(self._attending)

    def is_attended(self) -> bool:
        """Whether somebody can answer at this moment."""
        with self._lock:
            attending = list(self._attending.values())
        return any(_says_yes(by) for by in attending)

    def put(self, question: Question, check: Check) -> Asked:
        """Lay a question open."""
        asked = Asked(question, check)
        with self._lock:
            self._asked[question.id] = asked
        return asked

    def show(self, asked: Asked) -> None:
        """Lay a question open here too that lies on another desk; it is answered once."""
        with self._lock:
            self._asked[asked.question.id] = asked

    def withdraw(self, asked: Asked) -> None:
        """Close a question, whether it was answered or not."""
        with self._lock:
            self._asked.pop(asked.question.id, None)
            for item in asked.question.items:
                decision = asked.decisions.get(item.id)
                late = f"The run no longer waits for a word on {item.name}: it went on or ended"
                self._tell(item.id, late if decision is None else _settled(item, decision))

    def _find(self, item_id: Value) -> tuple[Asked, Item]:
        with self._lock:
            if isinstance(item_id, str) and item_id in self._told:
                raise OptionError(f"{self._told[item_id]}. Nothing was changed.")
            items = [(asked, item) for asked in self._asked.values() for item in asked.question.items]
            for asked, item in items:
                if item.id == item_id:
                    if item_id in asked.decisions:
                        raise OptionError(f"{_settled(item, asked.decisions[item_id])}. Nothing was changed.")
                    return asked, item
            ids = ", ".join(item.id for asked, item in items if item.id not in asked.decisions)
            raise OptionError(
                f"Nothing with the id {safe_repr(item_id, 80)} waits for an answer. "
                + (f"Open: {truncate(ids, 300)}." if ids else "Nothing is open now.")
            )

    def _tell(self, item_id: str, what: str) -> None:
        self._told[item_id] = what
        while len(self._told) > _MAX_TOLD:
            self._told.popitem(last=False)


def _settled(item: Item, decision: Decision) -> str:
    return f"{item.name} was {VERDICT_WORDS[decision.verdict]} already, by {decision.by}"


def clean_reason(reason: Value) -> str:
    """A reason as the model reads it: one bounded text without control characters; empty for none."""
    text = reason if isinstance(reason, str) else "" if reason is None else safe_repr(reason, MAX_REASON)
    return truncate(replace_surrogates(strip_control(text)).strip(), MAX_REASON)


def _decide(
    item: Item,
    verdict: Answering,
    check: Check,
    *,
    arguments: Value,
    plan: Value,
    reason: Value,
    by: str,
) -> Decision:
    if verdict == "approve":
        return Decision(item=item, verdict="approved", by=by)
    if verdict == "reject":
        return Decision(item=item, verdict="rejected", reason=clean_reason(reason), by=by)
    if item.call is None:
        text = plan.strip() if isinstance(plan, str) else ""
        if not text:
            raise OptionError("The edited plan is empty. Write it whole as `plan`, or reject the plan.")
        return Decision(item=item, verdict="edited", plan=truncate(text, MAX_EDITED_PLAN), by=by)
    if not isinstance(arguments, Mapping):
        raise OptionError(
            f"The arguments of {item.name} are a JSON object, and not {safe_repr(arguments, 80)}. "
            f"Give all of them as `arguments`, such as {safe_repr(item.call.arguments, 200)}."
        )
    given = dict(cast("Mapping[str, Value]", arguments))
    if given == item.call.arguments:
        return Decision(item=item, verdict="approved", by=by)
    try:
        check(item, given)
    except StepError as error:
        raise OptionError(error.message) from error
    return Decision(item=item, verdict="edited", arguments=given, by=by)


def _always() -> bool:
    return True


def _says_yes(by: Callable[[], bool]) -> bool:
    try:
        return bool(by())
    except Exception:  # noqa: BLE001 - who cannot say that somebody is there cannot answer either
        return False
