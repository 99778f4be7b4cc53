"""AgentSettings: read as attributes, changed together or not at all, from any thread."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.core.settings import AgentSettings, SettingChange

_PATIENCE_S = 20.0


def test_settings_are_read_as_attributes() -> None:
    settings = AgentSettings(max_steps=5, planning_interval=2)
    assert (settings.max_steps, settings.planning_interval, settings.summary_mode) == (5, 2, "plan")
    assert (settings.max_time_s, settings.max_cost_usd, settings.max_total_tokens) == (None, None, None)
    assert settings.is_paused is False
    assert settings.log == []  # what it was made with is no change


def test_settings_show_themselves() -> None:
    settings = AgentSettings(max_time_s=3)
    assert repr(settings) == snapshot(
        "AgentSettings(max_steps=20, planning_interval=None, summary_mode='plan', max_time_s=3.0, max_cost_usd=None, max_total_tokens=None, approve='never', is_paused=False)"
    )
    assert {"max_steps", "summary_mode", "update", "observe"} <= set(dir(settings))


def test_assigning_a_setting_says_how_it_is_changed() -> None:
    settings = AgentSettings()
    with pytest.raises(AttributeError) as error:
        settings.max_steps = 3
    assert str(error.value) == snapshot(
        "Settings are not assigned. Write agent.settings.update(max_steps=3): a run that goes on then says from when on it holds."
    )
    assert settings.max_steps == 20


@pytest.mark.parametrize("name", ["max_step", "colour", "_hidden"])
def test_reading_an_unknown_setting_names_the_nearest(name: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(AgentSettings(), name)
    assert (
        str(error.value)
        == {
            "max_step": "There is no setting 'max_step'. Nearest: 'max_steps'.",
            "colour": "There is no setting 'colour'.",
            "_hidden": "There is no setting '_hidden'.",
        }[name]
    )


_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": (
        {"sumary_mode": "all"},
        snapshot(
            "There is no setting 'sumary_mode'. Nearest: 'summary_mode'. Settings: max_steps, planning_interval, summary_mode, max_time_s, max_cost_usd, max_total_tokens, approve, is_paused."
        ),
    ),
    "interval 0": (
        {"planning_interval": 0},
        snapshot(
            "planning_interval=0 is not allowed. Give a whole number of at least 1 (1: a plan before every step), or None for no planning."
        ),
    ),
    "interval -2": (
        {"planning_interval": -2},
        snapshot(
            "planning_interval=-2 is not allowed. Give a whole number of at least 1 (1: a plan before every step), or None for no planning."
        ),
    ),
    "interval True": (
        {"planning_interval": True},
        snapshot(
            "planning_interval=True is not allowed. Give a whole number of at least 1 (1: a plan before every step), or None for no planning."
        ),
    ),
    "interval '3'": (
        {"planning_interval": "3"},
        snapshot(
            "planning_interval='3' is not allowed. Give a whole number of at least 1 (1: a plan before every step), or None for no planning."
        ),
    ),
    "interval 2.0": (
        {"planning_interval": 2.0},
        snapshot(
            "planning_interval=2.0 is not allowed. Give a whole number of at least 1 (1: a plan before every step), or None for no planning."
        ),
    ),
    "max_steps 0": (
        {"max_steps": 0},
        snapshot("max_steps=0 is not allowed. Give a whole number of at least 1."),
    ),
    "max_steps None": (
        {"max_steps": None},
        snapshot("max_steps=None is not allowed. Give a whole number of at least 1."),
    ),
    "mode near": (
        {"summary_mode": "plann"},
        snapshot("summary_mode='plann' is not allowed. Nearest: 'plan'. Give one of: 'plan', 'all', 'off'."),
    ),
    "mode of another kind": (
        {"summary_mode": ["plan"]},
        snapshot("summary_mode=['plan'] is not allowed. Give one of: 'plan', 'all', 'off'."),
    ),
    "tokens": (
        {"max_total_tokens": 1e3},
        snapshot("max_total_tokens=1000.0 is not allowed. Give a whole number of at least 1."),
    ),
    "time": (
        {"max_time_s": 0},
        snapshot("max_time_s=0 is not allowed. Give a number over 0, or None for no limit."),
    ),
    "cost": (
        {"max_cost_usd": float("nan")},
        snapshot("max_cost_usd=nan is not allowed. Give a number over 0, or None for no limit."),
    ),
    "time without end": (
        {"max_time_s": float("inf")},
        snapshot("max_time_s=inf is not allowed. Give a number over 0, or None for no limit."),
    ),
    "pause": ({"is_paused": "no"}, snapshot("is_paused='no' is not allowed. Give True or False.")),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_update_refuses_what_cannot_be(case: str) -> None:
    changes, text = _REFUSED[case]
    with pytest.raises(OptionError) as error:
        AgentSettings().update(**changes)
    assert error.value.message == text


def test_update_returns_what_is_different_now() -> None:
    settings = AgentSettings(planning_interval=2)
    changes = settings.update(planning_interval=None, summary_mode="plan", max_steps=7)
    assert changes == (
        SettingChange(name="planning_interval", old=2, new=None),
        SettingChange(name="max_steps", old=20, new=7),
    )
    assert settings.log == list(changes)
    assert settings.update(max_steps=7) == ()
    # for a run that has a limit of its own
    assert settings.log[-1] == SettingChange(name="max_steps", old=7, new=7)


def test_update_makes_all_changes_or_none() -> None:
    settings = AgentSettings()
    told: list[SettingChange] = []
    settings.observe(told.append)
    with pytest.raises(OptionError):
        settings.update(max_steps=7, planning_interval=0)
    assert settings.max_steps == 20
    assert told == settings.log == []


def test_values_taken_earlier_do_not_change() -> None:
    settings = AgentSettings()
    values = settings.values
    settings.update(summary_mode="all")
    assert (values.summary_mode, settings.values.summary_mode) == ("plan", "all")


def test_pause_holds_go_back() -> None:
    settings = AgentSettings()
    assert settings.go.is_set()
    settings.update(is_paused=True)
    assert not settings.go.is_set()
    settings.update(max_steps=3)
    assert not settings.go.is_set()
    settings.update(is_paused=False)
    assert settings.go.is_set()


def test_observers_are_told_of_each_change_until_they_end_it() -> None:
    settings = AgentSettings()
    told: list[tuple[str, str, Any]] = []
    stop = settings.observe(lambda change: told.append(("first", change.name, change.new)))
    settings.observe(lambda change: told.append(("second", change.name, change.new)))
    settings.update(max_steps=3, summary_mode="off")
    stop()
    stop()  # twice does no harm
    settings.note(SettingChange(name="replan_now", old=False, new=True))
    assert told == [
        ("first", "max_steps", 3),
        ("second", "max_steps", 3),
        ("first", "summary_mode", "off"),
        ("second", "summary_mode", "off"),
        ("second", "replan_now", True),
    ]


def test_observer_that_raises_keeps_no_other_from_being_told() -> None:
    settings = AgentSettings()
    told: list[SettingChange] = []

    def fail(change: SettingChange) -> None:
        raise ZeroDivisionError(change.name)

    settings.observe(fail)
    settings.observe(told.append)
    with pytest.raises(ZeroDivisionError, match="max_steps"):
        settings.update(max_steps=3, summary_mode="off")
    assert [change.name for change in told] == ["max_steps", "summary_mode"]
    assert (settings.max_steps, settings.summary_mode) == (3, "off")


def test_observer_may_wait_for_another_thread_that_changes_a_setting() -> None:
    settings = AgentSettings()

    def wait_for_another(change: SettingChange) -> None:
        if change.name == "max_steps":
            other = threading.Thread(target=settings.update, kwargs={"summary_mode": "all"}, daemon=True)
            other.start()
            other.join(_PATIENCE_S)
            assert not other.is_alive()

    settings.observe(wait_for_another)
    settings.update(max_steps=3)
    assert [change.name for change in settings.log] == ["max_steps", "summary_mode"]


def test_updates_from_many_threads_are_all_in_the_log_and_follow_one_another() -> None:
    settings = AgentSettings(max_steps=1)
    n_threads, n_each = 8, 200
    ready = threading.Barrier(n_threads)

    def change(first: int) -> None:
        ready.wait(_PATIENCE_S)
        for n in range(n_each):
            settings.update(max_steps=2 + first * n_each + n)

    threads = [threading.Thread(target=change, args=(n,)) for n in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_PATIENCE_S)
    log = settings.log
    assert len(log) == n_threads * n_each
    assert [change.old for change in log] == [1, *(change.new for change in log[:-1])]
    assert settings.max_steps == log[-1].new
