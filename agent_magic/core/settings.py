"""AgentSettings: what of an agent can be turned while a run goes on.

It must not know a run: each run reads the log of changes at its own boundaries and says from when
on a change holds.
"""

from __future__ import annotations

import dataclasses
import difflib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn, get_args

from agent_magic.core.approval import APPROVAL_POLICIES, ApprovalPolicy
from agent_magic.core.errors import OptionError
from agent_magic.core.flag import Flag
from agent_magic.core.values import Value

SummaryMode = Literal["plan", "all", "off"]
"""Which requests read the summary view: `plan`, only those for a new plan; `all`, those for the next
action too; `off`, none."""
SUMMARY_MODES: tuple[SummaryMode, ...] = get_args(SummaryMode)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingValues:
    """All settings at one moment."""

    max_steps: int = 20
    """Action steps that a run may make, at least 1."""
    planning_interval: int | None = None
    """A plan before steps 1, n + 1, 2 n + 1, …; None for none."""
    summary_mode: SummaryMode = "plan"
    max_time_s: float | None = None
    """A run ends before the call that would pass this time, in seconds; None for no limit."""
    max_cost_usd: float | None = None
    """Likewise in US dollars."""
    max_total_tokens: int | None = None
    """Likewise input and output tokens together."""
    approve: ApprovalPolicy = "never"
    """What waits for a person's word: see `ApprovalPolicy`."""
    is_paused: bool = False
    """Runs wait before their next call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChange:
    """One change; `replan_now` and a step's view are told as changes too."""

    name: str
    old: Value
    new: Value


class AgentSettings:
    """The settings as they are now: `settings.summary_mode` and so on, changed by `update`.

    Safe to use from any thread. A run that goes on takes a change up at its next step or call, and
    says so by an event.
    """

    __slots__ = ("_go", "_lock", "_log", "_observers", "_values")
    _go: Flag
    _lock: threading.RLock
    _log: list[SettingChange]
    _observers: list[Callable[[SettingChange], None]]
    _values: SettingValues

    def __init__(self, **values: Value) -> None:
        put = object.__setattr__
        put(self, "_lock", threading.RLock())
        put(self, "_values", SettingValues())
        put(self, "_log", [])
        put(self, "_observers", [])
        put(self, "_go", Flag())
        self._go.set()
        self.update(**values)
        self._log.clear()

    @property
    def values(self) -> SettingValues:
        """All settings at this moment; the object does not change."""
        return self._values

    @property
    def log(self) -> list[SettingChange]:
        """All changes so far, oldest first."""
        return self._log

    @property
    def go(self) -> Flag:
        """Set as long as runs are not paused."""
        return self._go

    def update(self, **changes: Value) -> tuple[SettingChange, ...]:
        """Change settings, all of them or none.

        Returns:
            What is different now.

        Raises:
            OptionError: There is no such setting, or a value that cannot be.
        """
        checked = {name: _checked(name, value) for name, value in changes.items()}
        with self._lock:
            old = self._values
            made = tuple(
                SettingChange(name=name, old=getattr(old, name), new=value)
                for name, value in checked.items()
                if getattr(old, name) != value
            )
            if checked.get("max_steps") == old.max_steps:
                # A run may have a limit of its own: saying the agent's anew is for that run.
                self._log.append(SettingChange(name="max_steps", old=old.max_steps, new=old.max_steps))
            if not made:
                return ()
            object.__setattr__(self, "_values", dataclasses.replace(old, **checked))
            self._log.extend(made)
            if self._values.is_paused:
                self._go.clear()
            else:
                self._go.set()
        self._tell(made)
        return made

    def note(self, *changes: SettingChange) -> None:
        """Enter changes into the log and tell those who observe."""
        with self._lock:
            self._log.extend(changes)
        self._tell(changes)

    def observe(self, callback: Callable[[SettingChange], None]) -> Callable[[], None]:
        """Call `callback` with each change from now on, in the thread that makes it.

        The change holds by then, and no lock is held. All who observe are told; then the first
        error of theirs is raised where the change was made.

        Returns:
            What ends it.
        """
        with self._lock:
            self._observers.append(callback)

        def unobserve() -> None:
            with self._lock:
                if callback in self._observers:
                    self._observers.remove(callback)

        return unobserve

    def _tell(self, changes: tuple[SettingChange, ...]) -> None:
        # Not under the lock: an observer may wait for a thread that is about to change a setting.
        errors: list[Exception] = []
        for change in changes:
            for observer in tuple(self._observers):
                try:
                    observer(change)
                except Exception as error:  # noqa: BLE001 - whatever it is: the others are told, then it is raised
                    errors.append(error)
        if errors:
            raise errors[0]

    def __getattr__(self, name: str) -> Value:
        if name in _NAMES:
            return getattr(self._values, name)
        raise AttributeError(f"There is no setting {name!r}.{_nearest(name)}")

    def __setattr__(self, name: str, value: Value) -> NoReturn:
        raise AttributeError(
            f"Settings are not assigned. Write agent.settings.update({name}={value!r}): "
            "a run that goes on then says from when on it holds."
        )

    def __dir__(self) -> list[str]:
        return [*_NAMES, "values", "update", "observe"]

    def __repr__(self) -> str:
        return repr(self._values).replace("SettingValues", "AgentSettings")


_NAMES: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(SettingValues))


def _checked(name: str, value: Value) -> Value:
    match name:
        case "max_steps":
            return _whole(name, value)
        case "planning_interval":
            return None if value is None else _interval(value)
        case "max_total_tokens":
            return None if value is None else _whole(name, value)
        case "max_time_s" | "max_cost_usd":
            return None if value is None else _positive(name, value)
        case "summary_mode":
            return _choice(name, value, SUMMARY_MODES)
        case "approve":
            return _choice(name, value, APPROVAL_POLICIES)
        case "is_paused":
            return _yes_or_no(name, value)
        case _:
            raise OptionError(f"There is no setting {name!r}.{_nearest(name)} Settings: {', '.join(_NAMES)}.")


def _whole(name: str, value: Value) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OptionError(f"{name}={value!r} is not allowed. Give a whole number of at least 1.")
    return value


def _interval(value: Value) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OptionError(
            f"planning_interval={value!r} is not allowed. Give a whole number of at least 1 "
            "(1: a plan before every step), or None for no planning."
        )
    return value


def _positive(name: str, value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise OptionError(f"{name}={value!r} is not allowed. Give a number over 0, or None for no limit.")
    return float(value)


def _yes_or_no(name: str, value: Value) -> bool:
    if not isinstance(value, bool):
        raise OptionError(f"{name}={value!r} is not allowed. Give True or False.")
    return value


def _choice(name: str, value: Value, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise OptionError(
            f"{name}={value!r} is not allowed.{_nearest(value, choices)} "
            f"Give one of: {', '.join(map(repr, choices))}."
        )
    return value


def _nearest(name: Value, known: tuple[str, ...] = _NAMES) -> str:
    near = difflib.get_close_matches(name, known, n=1) if isinstance(name, str) else []
    return f" Nearest: {near[0]!r}." if near else ""
