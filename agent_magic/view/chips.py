"""Words framed in their colour: how a run stands.

It must not write a tag by itself: that is the business of `elements`, which escapes every text.
"""

from __future__ import annotations

from agent_magic.record.schema import LaneRecord, RunRecord, Status
from agent_magic.view import words
from agent_magic.view.elements import AMBER, BLUE, GREEN, GREY, RED, span

_STATUS_COLOURS: dict[Status, str] = {
    "answered": GREEN,
    "failed": RED,
    "max_steps": AMBER,
    "interrupted": AMBER,
    "budget": AMBER,
    "running": BLUE,
}


def run_chips(record: RunRecord | LaneRecord) -> str:
    """How a run ended, and what its checks said if there were any."""
    chips = status_chip(record["status"], words.status_words(record))
    if verified := words.verified_words(record):
        chips += chip(GREEN if record.get("verified") == "yes" else AMBER, verified)
    return chips


def status_chip(status: Status | None, text: str) -> str:
    """The status in words, framed in its colour."""
    return chip(GREY if status is None else _STATUS_COLOURS[status], text)


def chip(colour: str, text: str) -> str:
    """Words framed in their colour."""
    style = (
        f"color:{colour};border:1px solid {colour};border-radius:10px;padding:0 8px;margin:0 4px;font-size:11px;"
        "white-space:nowrap"
    )
    return span(style, text)
