"""Checks of answers: the person's own functions that accept or refuse an answer, and say why.

It must not change an answer, nor decide what becomes of a refused one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable
from typing import TypeAlias

from agent_magic.agents.person.hooks import check_signature, name_of_function, takes_keyword
from agent_magic.core.errors import OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.redact import redact
from agent_magic.core.result import CheckResult
from agent_magic.core.text import strip_control, truncate
from agent_magic.core.values import Value, safe_repr

FinalAnswerCheck: TypeAlias = Callable[..., Value]
"""`check(answer)`, with `agent` and `memory` as keywords if it names them. What is falsy, an
exception, or `(False, "why")` refuses the answer."""
_MAX_REASON = 1_000


class Checks:
    """The checks of an agent, in order."""

    def __init__(self, checks: Iterable[FinalAnswerCheck]) -> None:
        if callable(checks) or isinstance(checks, str) or not isinstance(checks, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
            raise OptionError(
                "final_answer_checks is a list of functions. Write final_answer_checks=[check]."
            )
        self._checks = tuple(checks)
        for check in self._checks:
            check_signature("check", check, argument="answer", keywords=("agent", "memory"))

    def __len__(self) -> int:
        return len(self._checks)

    @property
    def functions(self) -> tuple[FinalAnswerCheck, ...]:
        """As they were given."""
        return self._checks

    def apply(self, answer: Value, *, agent: Value, memory: AgentMemory) -> tuple[CheckResult, ...]:
        """What each check says of an answer, up to the first that refuses it."""
        results: list[CheckResult] = []
        for check in self._checks:
            known = {"agent": agent, "memory": memory}
            keywords = {name: value for name, value in known.items() if takes_keyword(check, name)}
            results.append(_apply(check, answer, keywords))
            if not results[-1].passed:
                break
        return tuple(results)


def _apply(check: FinalAnswerCheck, answer: Value, keywords: dict[str, Value]) -> CheckResult:
    name = name_of_function(check)
    try:
        said = check(answer, **keywords)
        reason = ""
        if inspect.iscoroutine(said):
            said.close()
            return CheckResult(name=name, passed=False, reason="it is async, and nothing waits for it")
        if isinstance(said, Generator):
            return CheckResult(
                name=name, passed=False, reason="it yields, and nothing takes that; return instead"
            )
        if (isinstance(said, tuple) and len(said) == 2) or _is_listed_verdict(said):
            said, reason = said[0], str(said[1])
        passed = bool(said)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a check may raise anything, `sys.exit` included: it refuses the answer
        return CheckResult(name=name, passed=False, reason=_cut(_words(error)))
    if passed:
        return CheckResult(name=name, passed=True)
    return CheckResult(name=name, passed=False, reason=_cut(reason or f"it returned {safe_repr(said, 80)}"))


def _is_listed_verdict(said: Value) -> bool:
    """Whether a check returned `[False, "why"]`, which is meant as the pair."""
    return (
        isinstance(said, list) and len(said) == 2 and isinstance(said[0], bool) and isinstance(said[1], str)
    )


def _words(error: BaseException) -> str:
    name = type(error).__name__
    try:
        said = str(error)
    except Exception as second:  # noqa: BLE001 - the exception's own `__str__` may raise
        said = f"<its text raised {type(second).__name__}>"
    return f"{name}: {said}" if said else name


def refusal(result: CheckResult) -> str:
    """What the model is told of a refused answer."""
    return (
        f"The answer was not accepted: the check {result.name} refused it ({result.reason}). "
        "Mend the answer and give it again."
    )


def _cut(text: str) -> str:
    return truncate(redact(strip_control(text)).strip(), _MAX_REASON)
