from __future__ import annotations

import gc
import threading
import weakref

import ipywidgets
import pytest
import traitlets
from inline_snapshot import snapshot
from threads import join

from agent_magic import ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.view import traits


@pytest.fixture
def agent():
    return ToolCallingAgent(name="analyst", max_steps=8, planning_interval=3)


def test_traits_begin_as_the_settings_are(agent):
    values = traits(agent).trait_values()
    assert values == snapshot(
        {
            "approve": "never",
            "is_paused": False,
            "max_cost_usd": None,
            "max_steps": 8,
            "max_time_s": None,
            "max_total_tokens": None,
            "planning_interval": 3,
            "replanning": True,
            "summary_mode": "plan",
        }
    )


def test_traits_are_the_same_object_each_time(agent):
    assert traits(agent) is traits(agent)
    assert traits(agent) is not traits(ToolCallingAgent())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_steps", 3),
        ("planning_interval", None),
        ("planning_interval", 1),
        ("summary_mode", "all"),
        ("approve", "tools"),
        ("is_paused", True),
        ("max_time_s", 2.5),
        ("max_cost_usd", 0.5),
        ("max_total_tokens", 1_000),
    ],
)
def test_trait_sets_the_setting_and_follows_it(agent, name, value):
    mirror = traits(agent)
    setattr(mirror, name, value)
    assert getattr(agent.settings.values, name) == value
    other = ToolCallingAgent()
    agent.settings.update(**{name: getattr(other.settings.values, name)})
    assert getattr(mirror, name) == getattr(other.settings.values, name)


def test_number_becomes_what_the_setting_makes_of_it(agent):
    traits(agent).max_time_s = 5
    assert repr(traits(agent).max_time_s) == "5.0"


def test_replanning_turns_plans_off_and_back_to_the_interval_before(agent):
    mirror = traits(agent)
    mirror.replanning = False
    assert agent.planning_interval is None
    assert mirror.planning_interval is None
    mirror.replanning = True
    assert agent.planning_interval == 3
    agent.planning_interval = None
    assert mirror.replanning is False


def test_replanning_of_an_agent_that_never_planned_plans_before_every_step():
    agent = ToolCallingAgent()
    traits(agent).replanning = True
    assert agent.planning_interval == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_steps", 0),
        ("max_steps", True),
        ("max_steps", None),
        ("planning_interval", "often"),
        ("summary_mode", "plans"),
        ("approve", None),
        ("is_paused", 1),
        ("replanning", "yes"),
        ("max_time_s", -1),
    ],
)
def test_bad_value_is_refused_and_the_trait_stays(agent, name, value):
    mirror, before, told = traits(agent), traits(agent).trait_values(), []
    mirror.observe(told.append)
    with pytest.raises(traitlets.TraitError):
        setattr(mirror, name, value)
    assert mirror.trait_values() == before
    assert agent.settings.log == []
    assert told == []


def test_bad_values_say_what_would_be_right(agent):
    errors = []
    for name, value in [("max_steps", 0), ("summary_mode", "plans"), ("replanning", "yes")]:
        with pytest.raises(traitlets.TraitError) as raised:
            setattr(traits(agent), name, value)
        errors.append(str(raised.value))
    assert errors == snapshot(
        [
            "max_steps=0 is not allowed. Give a whole number of at least 1.",
            "summary_mode='plans' is not allowed. Nearest: 'plan'. Give one of: 'plan', 'all', 'off'.",
            "replanning='yes' is not allowed. Give True or False.",
        ]
    )


def test_slider_and_box_are_linked_in_both_directions(agent):
    mirror = traits(agent)
    slider, box = ipywidgets.IntSlider(min=1, max=50), ipywidgets.Checkbox()
    ipywidgets.link((mirror, "max_steps"), (slider, "value"))
    ipywidgets.link((mirror, "replanning"), (box, "value"))
    assert (slider.value, box.value) == (8, True)
    slider.value, box.value = 12, False
    assert (agent.max_steps, agent.planning_interval) == (12, None)
    agent.settings.update(max_steps=30, planning_interval=2)
    assert (slider.value, box.value) == (30, True)


def test_linked_widget_causes_one_change(agent):
    slider = ipywidgets.IntSlider(min=1, max=50)
    ipywidgets.link((traits(agent), "max_steps"), (slider, "value"))
    slider.value = 12
    agent.settings.update(max_steps=13)
    assert [(change.name, change.new) for change in agent.settings.log] == [
        ("max_steps", 12),
        ("max_steps", 13),
    ]


def test_interact_turns_a_setting(agent):
    def turn(max_steps: int) -> None:
        traits(agent).max_steps = max_steps

    turned = ipywidgets.interactive(turn, max_steps=(1, 50))
    turned.children[0].value = 17
    turned.update()
    assert agent.max_steps == 17


def test_observer_hears_of_a_change_once_and_may_make_another(agent):
    mirror, told = traits(agent), []

    def follow(change):
        told.append((change.old, change.new))
        mirror.planning_interval = change.new // 2

    mirror.observe(follow, "max_steps")
    agent.settings.update(max_steps=10)
    assert told == [(8, 10)]
    assert agent.planning_interval == 5


def test_two_threads_that_set_one_setting_leave_trait_and_setting_alike(agent):
    mirror = traits(agent)

    def turn(first: int) -> None:
        for value in range(first, first + 300):
            agent.settings.update(max_steps=value)

    threads = [threading.Thread(target=turn, args=(first,)) for first in (1, 1_000, 2_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert mirror.max_steps == agent.max_steps
    assert len(agent.settings.log) == 900


def test_traits_keep_no_agent_alive():
    agent = ToolCallingAgent()
    agent.settings.observe(lambda change, agent=agent: None)
    mirror, gone = weakref.ref(traits(agent)), weakref.ref(agent)
    del agent
    gc.collect()
    assert (gone(), mirror()) == (None, None)


def test_traits_of_what_is_no_agent():
    with pytest.raises(OptionError) as raised:
        traits("analyst")
    assert raised.value.message == snapshot(
        "'analyst' has no settings to show. Give an agent: agent_magic.view.traits(analyst)."
    )
