from __future__ import annotations

from typing import Any

import ipywidgets
import pytest
from view.open_widgets import close_widgets

from agent_magic.record.cards import to_agent_record
from agent_magic.view.agent_widget import AgentWidget
from agent_magic.view.protocol import AgentSnapshot, SettingsRecord


@pytest.fixture(autouse=True)
def no_widget_is_left_open():
    yield
    close_widgets()


def snapshot_of(**parts: Any) -> AgentSnapshot:
    empty = AgentSnapshot(
        v=1,
        id="agent-1",
        agent=to_agent_record(name="analyst", model_id="scripted"),
        settings=SettingsRecord(
            summary_mode="plan",
            planning_interval=None,
            is_paused=False,
            max_steps=20,
            approve="never",
            pending={},
        ),
        is_running=False,
        runs=[],
        steps_left_out=0,
        scope="named",
        names=[],
        names_left_out=0,
        tools=[],
        tools_left_out=0,
        tools_missing=[],
    )
    return empty | parts  # pyright: ignore[reportReturnType] - the parts are of a test's choice


def test_panel_is_a_widget_that_goes_into_a_box():
    shown = AgentWidget(snapshot_of(), nonce="n", is_live=True)
    assert isinstance(shown, ipywidgets.DOMWidget)
    assert ipywidgets.VBox([shown]).children == (shown,)
    state = shown.get_state()
    assert (state["kind"], state["nonce"], state["is_live"]) == ("agent", "n", True)
    assert state["snapshot"] == snapshot_of()


def test_panel_that_is_closed_says_so_once():
    closed = []
    shown = AgentWidget(snapshot_of(), on_close=closed.append)
    shown.close()
    shown.close()
    assert closed == [shown]


def test_panel_told_the_same_again_sends_nothing():
    shown = AgentWidget(snapshot_of())
    sent = []
    shown.observe(sent.append, "snapshot")
    shown.snapshot = snapshot_of()
    assert sent == []
    shown.snapshot = snapshot_of(is_running=True)
    assert len(sent) == 1
