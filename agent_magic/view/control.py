"""The board where pages ask for things: who may ask, for what, and of which run.

A request is never a command: it names a verb of the list, a view that the kernel knows, and values
that are looked at before anything is touched. It must not know agents: a `Steered` does what is asked.
It is called from other threads than the run's, so it only sets what the run takes up.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from typing import Protocol, cast

from agent_magic.core.edits import StepView
from agent_magic.core.errors import AgentError
from agent_magic.core.messages import RequestKind
from agent_magic.core.result import RunResult
from agent_magic.core.values import Value, safe_repr
from agent_magic.record.clean import clean_text
from agent_magic.record.schema import Json, LaidOnRecord
from agent_magic.view.protocol import VERBS, VERSION, HelloData, Reply, SettingsRecord, accept, refuse

_MAX_RUNS = 200
"""Runs that can be asked about; of older ones the static form stands."""
_MAX_VIEWS = 5_000
_ERROR_CHARS = 600
_SETTINGS = ("summary_mode", "planning_interval", "max_steps", "approve")
_KINDS: tuple[RequestKind, ...] = ("act", "plan", "final")


class Steered(Protocol):
    """A run that can be looked at and steered; every method says from when on it holds.

    Raises:
        AgentError: What was asked cannot be; the text is shown to the person.
    """

    @property
    def settings(self) -> SettingsRecord | None:
        """The settings and when they hold; None if there is no agent any more."""
        ...

    def greet(self, *, wants_snapshot: bool, wants_bundle: bool) -> HelloData:
        """What a view is told that found its kernel; its nonce is put in."""
        ...

    def as_it_counts(self, result: RunResult) -> tuple[RunResult, dict[int, LaidOnRecord | None]]:
        """A result with its steps as they were edited, and what is laid upon them by their place in it."""
        ...

    def stop(self) -> str: ...  # noqa: D102 - the class says it
    def pause(self) -> str: ...  # noqa: D102
    def go_on(self) -> str: ...  # noqa: D102
    def replan_now(self) -> str: ...  # noqa: D102
    def set(self, name: str, value: Value) -> str: ...  # noqa: D102
    def set_view(self, place: int, view: StepView | None) -> str: ...  # noqa: D102
    def set_pinned(self, place: int, *, is_pinned: bool) -> str: ...  # noqa: D102
    def edit_step(self, place: int, changes: dict[str, Value]) -> str: ...  # noqa: D102
    def undo(self) -> str: ...  # noqa: D102
    def decide(self, verdict: str, item: str, digest: str, request: dict[str, Value]) -> str: ...  # noqa: D102
    def lens(self, place: int | None, kind: RequestKind) -> Json: ...  # noqa: D102


class _Refused(Exception):  # noqa: N818 - it is an answer, not a fault
    """Carries the text of a refusal."""


class Board:
    """The runs of this process that pages can ask about, and the views that may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, Steered] = OrderedDict()
        self._nonces: OrderedDict[str, str] = OrderedDict()

    def put(self, run_id: str, steered: Steered) -> str:
        """Let pages ask about a run; returns the nonce of its first view."""
        with self._lock:
            self._runs[run_id] = steered
            self._runs.move_to_end(run_id)
            while len(self._runs) > _MAX_RUNS:
                self._runs.popitem(last=False)
            return self._new_nonce(run_id)

    def find(self, run_id: str) -> Steered | None:
        """What does what is asked of a run; None if nobody does any more."""
        with self._lock:
            return self._runs.get(run_id)

    def open(self, run_id: str) -> str | None:
        """The nonce of one more view of a run; None if the run is not known."""
        with self._lock:
            return self._new_nonce(run_id) if run_id in self._runs else None

    def drop(self, run_id: str) -> None:
        """Forget a run and all its views."""
        with self._lock:
            self._runs.pop(run_id, None)
            for nonce in [nonce for nonce, known in self._nonces.items() if known == run_id]:
                del self._nonces[nonce]

    def handle(self, request: Value) -> Reply:
        """Do what a page asks, or say why not; whatever comes in, nothing is raised."""
        try:
            return self._handle(request)
        except _Refused as refused:
            return refuse(str(refused))
        except AgentError as error:
            return refuse(clean_text(error.message, _ERROR_CHARS))
        except Exception as error:  # noqa: BLE001 - the kernel's control thread must live on
            return refuse(clean_text(f"The kernel could not do this: {error!r}", _ERROR_CHARS))

    def _handle(self, request: Value) -> Reply:
        if not isinstance(request, dict):
            raise _Refused("A request is a JSON object.")
        asked = cast("dict[str, Value]", request)
        if asked.get("v") != VERSION:
            raise _Refused("This page speaks another version of agent_magic. Reload the page.")
        verb, run_id = asked.get("verb"), asked.get("run_id")
        if verb not in VERBS:
            raise _Refused(f"{safe_repr(verb, 40)} cannot be asked for. Verbs: {', '.join(VERBS)}.")
        with self._lock:
            steered = self._runs.get(run_id) if isinstance(run_id, str) else None
        if steered is None:
            raise _Refused(
                "This kernel does not know the run: it was restarted since, or another one ran it."
            )
        if verb == "hello":
            return self._greet(cast("str", run_id), steered, asked)
        nonce = asked.get("nonce")
        with self._lock:
            is_known = isinstance(nonce, str) and self._nonces.get(nonce) == run_id
        if not is_known:
            raise _Refused("The kernel does not know this view. Reload the page.")
        return _do(verb, steered, asked)

    def _greet(self, run_id: str, steered: Steered, asked: dict[str, Value]) -> Reply:
        data = steered.greet(
            wants_snapshot=asked.get("snapshot") is True, wants_bundle=asked.get("bundle") is True
        )
        with self._lock:
            data["nonce"] = self._new_nonce(run_id)
        return accept(data=data)

    def _new_nonce(self, run_id: str) -> str:
        nonce = secrets.token_urlsafe(16)
        self._nonces[nonce] = run_id
        while len(self._nonces) > _MAX_VIEWS:
            self._nonces.popitem(last=False)
        return nonce


BOARD = Board()
"""Of this process."""


def _do(verb: str, steered: Steered, asked: dict[str, Value]) -> Reply:  # noqa: C901 - one case for each verb
    match verb:
        case "stop":
            return accept(steered.stop())
        case "pause":
            return accept(steered.pause())
        case "go_on":
            return accept(steered.go_on())
        case "replan_now":
            return accept(steered.replan_now())
        case "undo":
            return accept(steered.undo())
        case "set":
            name = _one_of("name", asked.get("name"), _SETTINGS)
            return accept(steered.set(name, asked.get("value")))
        case "set_view":
            view = asked.get("view")
            if view is not None:
                view = _one_of("view", view, ("full", "summary", "hidden"))
            return accept(steered.set_view(_place(asked), cast("StepView | None", view)))
        case "set_pinned":
            value = asked.get("value")
            if not isinstance(value, bool):
                raise _Refused("value is true or false.")
            return accept(steered.set_pinned(_place(asked), is_pinned=value))
        case "edit_step":
            changes = asked.get("changes")
            if not isinstance(changes, dict):
                raise _Refused("changes is an object of the parts that are edited.")
            return accept(steered.edit_step(_place(asked), cast("dict[str, Value]", changes)))
        case "lens":
            kind = cast("RequestKind", _one_of("kind", asked.get("kind", "act"), _KINDS))
            place = None if asked.get("place") is None else _place(asked)
            return accept(data=steered.lens(place, kind))
        case _:  # approve, edit, reject
            item, digest = asked.get("item"), asked.get("digest")
            if not isinstance(item, str) or not isinstance(digest, str):
                raise _Refused("An answer names the item and the digest of what was shown.")
            return accept(steered.decide(verb, item, digest, asked))


def _one_of(what: str, value: Value, choices: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise _Refused(f"{what} is {safe_repr(value, 40)}. It is one of: {', '.join(choices)}.")
    return value


def _place(asked: dict[str, Value]) -> int:
    place = asked.get("place")
    if isinstance(place, bool) or not isinstance(place, int) or place < 0:
        raise _Refused(f"place is {safe_repr(place, 40)}. It is the place of a step, from 0.")
    return place
