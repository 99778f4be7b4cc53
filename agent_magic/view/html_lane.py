"""The run of a managed agent as HTML, under the call that it was made for.

It must not write a tag by itself: that is the business of `elements`, which escapes every text.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_magic.record.schema import AnyStepRecord, LaneRecord
from agent_magic.view import words
from agent_magic.view.chips import run_chips
from agent_magic.view.elements import FINE, LABEL, LINE, escape, fold, panel, titled, wrap
from agent_magic.view.words import Detail

DrawStep = Callable[[AnyStepRecord, Detail], str]


def lane_html(lane: LaneRecord, detail: Detail, draw_step: DrawStep) -> str:
    """The run as a line that opens, and its steps under it; it is open at the beginning.

    Args:
        lane: The run.
        detail: Of the run around it.
        draw_step: Draws a step with a detail.
    """
    inner = detail.of_lane()
    shown = words.pick_ends(lane["steps"], detail.lane_steps)
    n_missing = lane["steps_left_out"] + len(lane["steps"]) - len(shown)
    steps = [draw_step(step, inner) for step in shown]
    if n_missing:
        steps.insert(len(shown) // 3, gap_html(n_missing))
    return fold(lane_line(lane), panel(LINE, "".join(steps)), is_open=True, style="margin:4px 0")


def lane_line(lane: LaneRecord) -> str:
    """Agent, status and figures, on one line."""
    figures = f" {wrap('span', FINE, escape(' · '.join(words.lane_figures(lane))))}"
    return f"{titled(lane['agent'], run_chips(lane), '')}{figures}"


def gap_html(n_missing: int, noun: str = "step") -> str:
    """Said where steps or messages are left out."""
    return wrap(
        "div",
        f"{LABEL};border-top:1px solid {LINE};padding:3px 0 3px 1.5em",
        words.gap_words(n_missing, noun),
    )
