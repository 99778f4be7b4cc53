"""Checks of answers that a cell names: functions of the notebook, looked up each time they run.

It must not judge an answer: the function does.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.person.hooks import check_signature, takes_keyword
from agent_magic.core.errors import OptionError
from agent_magic.core.values import Value
from agent_magic.notebook.kernel.state import KernelState

_KEYWORDS = ("agent", "memory")


class LiveCheck:
    """A check by the variable that holds its function: defined again, the new one counts."""

    def __init__(self, name: str, state: KernelState) -> None:
        self.__name__ = name
        self._state = state

    def __repr__(self) -> str:
        return f"<check {self.__name__}>"

    @property
    def is_there(self) -> bool:
        """Whether there is something to call."""
        return self.__name__ in self._state and callable(self._state[self.__name__])

    def __call__(self, answer: Value, *, agent: Value = None, memory: Value = None) -> Value:
        """What the function says of an answer.

        Raises:
            LookupError: It is gone; an answer that nobody can check is none.
        """
        if not self.is_there:
            raise LookupError(f"the function {self.__name__} is gone from the notebook")
        check = self._state[self.__name__]
        known = {"agent": agent, "memory": memory}
        return check(answer, **{name: value for name, value in known.items() if takes_keyword(check, name)})


def read_checks(state: KernelState, names: Iterable[str]) -> tuple[LiveCheck, ...]:
    """The checks that a cell names.

    Raises:
        OptionError: A name is no function of the notebook, or the function takes no answer.
    """
    return tuple(_read_check(state, name) for name in names)


def refuse_lost_checks(agent: MultiStepAgent) -> None:
    """See that each check named in a cell can still be made: without it, no answer would be verified.

    Raises:
        OptionError: One cannot.
    """
    for check in agent.final_answer_checks:
        if isinstance(check, LiveCheck) and not check.is_there:
            raise OptionError(
                f"%%agent: the check `{check.__name__}` of this agent is gone or no longer callable. "
                "Run the cell that defines it, or write --check none."
            )


def _read_check(state: KernelState, name: str) -> LiveCheck:
    if name not in state:
        functions = [each for each in state if callable(state[each])]
        near = difflib.get_close_matches(name, functions, n=3)
        fix = f"Nearest: {', '.join(near)}." if near else "Run the cell that defines it first."
        raise OptionError(f"%%agent --check: there is no function {name!r}. {fix}")
    check = state[name]
    if not callable(check):
        raise OptionError(
            f"%%agent --check: `{name}` is your {type(check).__name__}, not a function. "
            f"Write def check(answer): … and give its name."
        )
    check_signature("check", check, argument="answer", keywords=_KEYWORDS)
    return LiveCheck(name, state)
