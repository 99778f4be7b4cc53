"""`traits(agent)`: an agent's settings as traits, to link with sliders, boxes and other widgets.

It must not know an agent beyond its settings, nor check a value itself: the settings do.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Protocol

import traitlets

from agent_magic.core.approval import APPROVAL_POLICIES
from agent_magic.core.errors import OptionError
from agent_magic.core.settings import SUMMARY_MODES, AgentSettings, SettingChange
from agent_magic.core.values import Value, safe_repr


class HasSettings(Protocol):
    """An agent, as far as this module knows it."""

    @property
    def settings(self) -> AgentSettings:
        """What can be turned."""
        ...


class _Checked:
    """Lets the settings check a value, None too, take it, and say what is wrong with it.

    A refused value never becomes the trait's: it stays as it was.
    """

    name: str | None

    def validate(self, obj: SettingsTraits, value: Value) -> Value:
        assert self.name is not None
        try:
            return obj._put(self.name, value)
        except OptionError as error:
            raise traitlets.TraitError(error.message) from None


class _Whole(_Checked, traitlets.Int[Any, Any]):
    """A whole number, or None."""


class _Number(_Checked, traitlets.Float[Any, Any]):
    """A number, or None."""


class _Choice(_Checked, traitlets.Enum[Any]):
    """One of a few words."""


class _YesOrNo(_Checked, traitlets.Bool[Any, Any]):
    """True or False."""


class SettingsTraits(traitlets.HasTraits):
    """The settings of one agent, in both directions.

    Setting a trait changes the agent's setting: a run that goes on takes it up at its next step or
    call. A value that cannot be raises a `TraitError` that says why, and the trait stays. A setting
    that is changed elsewhere changes its trait, in the thread in which it is changed.
    """

    max_steps = _Whole(20, help="Steps that a run may make.")
    planning_interval = _Whole(
        None, help="A plan before step 1 and again every so many steps; None: no plans."
    )
    replanning = _YesOrNo(
        False,
        help="Whether plans are made: False sets planning_interval to None, True to the interval before, or to 1.",
    )
    summary_mode = _Choice(
        SUMMARY_MODES, "plan", help="Which calls read the history without old plans and thoughts."
    )
    approve = _Choice(APPROVAL_POLICIES, "never", help="What waits for the person's word.")
    is_paused = _YesOrNo(False, help="Runs wait before their next call.")
    max_time_s = _Number(None, help="Seconds that a run may take; None: no limit.")
    max_cost_usd = _Number(None, help="US dollars that a run may cost; None: no limit.")
    max_total_tokens = _Whole(None, help="Tokens that a run may use; None: no limit.")

    def __init__(self, settings: AgentSettings) -> None:
        self._settings = settings
        self._last_interval = settings.values.planning_interval or 1
        self._told = threading.local()
        super().__init__(**{name: self._current(name) for name in self.trait_names()})
        settings.observe(self._take)

    def _current(self, name: str) -> Value:
        values = self._settings.values
        return values.planning_interval is not None if name == "replanning" else getattr(values, name)

    def _put(self, name: str, value: Value) -> Value:
        """Let the settings have a value; gives what holds from then on."""
        if getattr(self._told, "name", None) == name:  # it comes from them
            self._told.name = None
            return value
        current = self._current(name)
        # What a widget sends back that was just told of it is not set anew.
        if type(value) is not type(current) or value != current:
            if name != "replanning":
                self._settings.update(**{name: value})
            elif isinstance(value, bool):
                self._settings.update(planning_interval=self._last_interval if value else None)
            else:
                raise OptionError(f"replanning={safe_repr(value, 80)} is not allowed. Give True or False.")
        return self._current(name)

    def _take(self, change: SettingChange) -> None:
        """A setting was changed, here or elsewhere."""
        if change.name == "planning_interval":
            self._last_interval = change.new or change.old or self._last_interval
            self._sync("replanning")
        if self.has_trait(change.name):
            self._sync(change.name)

    def _sync(self, name: str) -> None:
        # Two threads may change a setting at once and be told in another order: the settings decide.
        while getattr(self, name) != (current := self._current(name)):
            self._told.name = name
            setattr(self, name, current)


_made: weakref.WeakValueDictionary[int, SettingsTraits] = weakref.WeakValueDictionary()
"""By the id of the settings. They tell their traits of changes, and so keep them as long as they live."""


def traits(agent: HasSettings) -> SettingsTraits:
    """The settings of an agent as traits; the same object each time.

    `ipywidgets.link((traits(agent), "max_steps"), (slider, "value"))` and the like. Widgets of your
    own reach the kernel between cells: while a cell runs, what they send waits until its end. The
    controls of a run and of an agent do not.

    Raises:
        OptionError: `agent` is no agent.
    """
    settings: Value = getattr(agent, "settings", None)
    if not isinstance(settings, AgentSettings):
        raise OptionError(
            f"{safe_repr(agent, 80)} has no settings to show. Give an agent: agent_magic.view.traits(analyst)."
        )
    made = _made.get(id(settings))
    if made is None:
        made = _made[id(settings)] = SettingsTraits(settings)
    return made
