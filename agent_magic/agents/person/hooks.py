"""The person's own functions that a run calls: checked when they are given, their failures told.

It must not let one of them end a run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from agent_magic.core.errors import OptionError
from agent_magic.core.redact import redact
from agent_magic.core.steps import ActionStep, MemoryStep
from agent_magic.core.text import strip_control, truncate
from agent_magic.core.values import Value, safe_repr

StepCallback: TypeAlias = Callable[..., object]
"""`callback(step)` or `callback(step, agent=agent)`; what it returns is not used."""
StepCallbacks: TypeAlias = (
    Mapping[type[MemoryStep], StepCallback | Sequence[StepCallback]] | Sequence[StepCallback]
)
"""By the class of the step; a list is for action steps."""
_MAX_ERROR = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong in a function of the person's."""

    message: str
    """For the person."""
    about: str
    """By names alone, for a log."""
    why: str = ""
    """For the model, in words that go on after "since"."""


def takes_keyword(function: Callable[..., object], name: str) -> bool:
    """Whether a function has a parameter of this name, or takes any keyword."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # built-ins have no signature that can be read
        return False
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)


def name_of_function(function: Callable[..., object]) -> str:
    """What a person calls it."""
    return getattr(function, "__name__", None) or type(function).__name__


def tell_error(error: BaseException) -> str:
    """What a person's function raised, in words that stand before a full stop."""
    try:
        text = str(error)
    except Exception as second:  # noqa: BLE001 - the exception's own `__str__` may raise
        text = f"<its text raised {type(second).__name__}>"
    text = tell_safely(text).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def tell_safely(text: str) -> str:
    """A text that a person's function brought about: bounded, without secrets and control characters."""
    return truncate(redact(strip_control(text)).strip(), _MAX_ERROR)  # half a secret is not known as one


def check_signature(what: str, function: Value, *, argument: str, keywords: Sequence[str]) -> None:
    """See that a function can be called with one argument, and with the keywords that it names.

    Raises:
        OptionError: It cannot; the text says how it should be written.
    """
    form = f"def {what}({argument}): …"
    if not callable(function):
        raise OptionError(
            f"{safe_repr(function, 200)} is no function, so it cannot serve as {what}. Write {form}"
        )
    name = name_of_function(function)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise OptionError(f"The {what} {name} is async, and nothing waits for it. Write {form}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # a built-in, such as `bool`
    given = {keyword: None for keyword in keywords if keyword in signature.parameters}
    try:
        signature.bind(None, **given)
    except TypeError as error:
        names = " and ".join(keywords)
        form_of_them = "keywords" if len(keywords) > 1 else "a keyword"
        also = f" It may also take {names} as {form_of_them}." if keywords else ""
        raise OptionError(
            f"The {what} {name}{signature} cannot be called with one argument: {error}. Write {form}{also}"
        ) from None


class Callbacks:
    """The callbacks of an agent, by the class of the step."""

    def __init__(self, given: StepCallbacks | None) -> None:
        self._by_class: list[tuple[type[MemoryStep], StepCallback, bool]] = []
        for step_class, callback in _pairs(given):
            if not (isinstance(step_class, type) and issubclass(step_class, MemoryStep)):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
                raise OptionError(
                    f"step_callbacks: {step_class!r} is no kind of step. "
                    "Give ActionStep, PlanningStep, TaskStep, FinalAnswerStep, or MemoryStep for all."
                )
            check_signature("callback", callback, argument="step", keywords=("agent",))
            self._by_class.append((step_class, callback, takes_keyword(callback, "agent")))

    def __len__(self) -> int:
        return len(self._by_class)

    def listen(self, callback: Callable[[MemoryStep], object]) -> Callable[[], None]:
        """Call `callback` with each step too, for whoever shows the agent; returns what ends it."""
        entry = (MemoryStep, callback, False)
        self._by_class = [*self._by_class, entry]

        def stop() -> None:
            self._by_class = [known for known in self._by_class if known is not entry]

        return stop

    def call(self, step: MemoryStep, agent: Value) -> Iterator[Failure]:
        """Tell the callbacks of a step that is in memory; yields what went wrong."""
        for step_class, callback, takes_agent in self._by_class:
            if not isinstance(step, step_class):
                continue
            try:
                callback(step, agent=agent) if takes_agent else callback(step)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the person's own function may raise anything
                name = name_of_function(callback)
                yield Failure(
                    message=f"The callback {name} raised {tell_error(error)}. The run goes on.",
                    about=f"the callback {name} raised {type(error).__name__}",
                )


def _pairs(given: StepCallbacks | None) -> Iterable[tuple[type[MemoryStep], StepCallback]]:
    if given is None:
        return
    if not isinstance(given, Mapping):
        if callable(given) or not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
            shown = name_of_function(given) if callable(given) else safe_repr(given, 200)
            raise OptionError(
                f"step_callbacks is a list or a mapping, and not {shown}. Write step_callbacks=[callback]."
            )
        yield from ((ActionStep, callback) for callback in given)
        return
    for step_class, callbacks in given.items():
        several = callbacks if isinstance(callbacks, list | tuple) else (callbacks,)
        yield from ((step_class, callback) for callback in cast("Sequence[StepCallback]", several))
