"""Current run: which run the call belongs to that is being made here.

It must not hold anything of the run but its id.
"""

from __future__ import annotations

from contextvars import ContextVar, Token

CURRENT_RUN: ContextVar[str | None] = ContextVar("agent_magic_run", default=None)
"""The id of the run whose tool is running in this context; None where a person called it."""


class in_run:  # noqa: N801 - reads as a function: `with in_run(run_id):`
    """Let what is called belong to a run."""

    __slots__ = ("_run_id", "_token")

    _token: Token[str | None]

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def __enter__(self) -> None:
        self._token = CURRENT_RUN.set(self._run_id)

    def __exit__(self, *_raised: object) -> None:
        CURRENT_RUN.reset(self._token)
