"""CodeStep and CodeOutcome: what an executor is given, and what it gives back.

It must not run anything, nor know how it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent_magic.core.errors import StepError
from agent_magic.core.values import Value

Writes = Literal["new", "all", "none"]
"""`new`: code binds new names and those that code made. `all`: any. `none`: what it binds is taken out again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What code may do; a guard against accidents, not a boundary."""

    imports: tuple[str, ...] = ()
    """Modules beside the default ones; `*` is all of them, and `a` covers `a.b`."""
    writes: Writes = "new"
    protect: tuple[str, ...] | None = None
    """Names that code may not change in place. None: all of the person's. (): none."""
    timeout_s: float | None = 30.0
    """Of the code's own time: the clock stands while a tool's body runs, or a person is asked."""


def _never() -> bool:
    return False


def _never_woken(wake: Callable[[], None]) -> Callable[[], None]:
    del wake
    return lambda: None


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeStep:
    """One block of code, and all that it is to be run with."""

    code: str
    """As the model wrote it."""
    label: str
    r"""`analyst step 3`: how tracebacks name the code, as `<analyst step 3>`."""
    functions: Mapping[str, Callable[..., Value]] = field(default_factory=dict[str, Callable[..., Value]])
    """Tools and `final_answer`: names of the namespace for this step, which code may not rebind."""
    lent: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """Other names for this step: additional arguments, `obs_N`, what `writes="none"` kept."""
    handed: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """Those of them whose values are the person's, as the namespace's are."""
    guard: Guard = Guard()
    is_interrupted: Callable[[], bool] = _never
    """Whether the person has stopped the run; asked often, also from signal handlers."""
    on_interrupt: Callable[[Callable[[], None]], Callable[[], None]] = _never_woken
    """Takes what is to be called, from any thread, when the person stops the run; gives what takes it off."""
    on_turn: Callable[[], object] = _nothing
    """Called when nobody else's code runs in the namespace, before a name is lent."""
    on_leave: Callable[[], object] = _nothing
    """Called when a person's code begins inside of the step, all names given back; others may follow then."""
    on_return: Callable[[], object] = _nothing
    """Called when that has ended, and nobody else's code runs any more."""
    on_end: Callable[[], object] = _nothing
    """Called when all names are given back, while still nobody else's code runs."""
    max_output: int = 20_000
    """Characters kept of what is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure or an image that the code showed."""

    image: Value
    """A Pillow image."""
    name: str | None = None
    """The variable that holds the figure, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOutcome:
    """What came of one block of code."""

    printed: str = ""
    """Prints, warnings, logging and texts of displays, in order; cleaned and cut."""
    value: Value = None
    """Of the last expression."""
    has_value: bool = False
    """The code ends in an expression whose value is not None."""
    is_answered: bool = False
    answer: Value = None
    error: StepError | None = None
    """For the model: redacted, bounded."""
    notes: tuple[str, ...] = ()
    """For model and person, a line each: names put back, refusals that the code swallowed, what it left running."""
    pictures: tuple[Picture, ...] = ()
    kept: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """`writes="none"`: names that the code bound, taken out of the namespace again."""
    is_stopped: bool = False
    """The person's interrupt ended it; there is no error then."""
