"""The bridge to `logging`: which records a run makes, what they carry, and what they keep to themselves."""

from __future__ import annotations

import logging
from collections.abc import Generator

import pytest
from agents.checking import Busy, add, agent_of
from agents.steering import Steering
from inline_snapshot import snapshot

from agent_magic.agents.run.log import LOGGER, logged
from agent_magic.core.errors import GenerationError
from agent_magic.core.events import Event, Notice, RunStarted, StepStarted
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final
_SECRET = "hunter2"
_USAGE = {"input_tokens": 1_200, "output_tokens": 34}


class _Records(logging.Handler):
    """Keeps what it is handed."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    @property
    def lines(self) -> list[str]:
        return [f"{record.levelname} {record.getMessage()}" for record in self.records]


@pytest.fixture
def records() -> Generator[_Records]:
    """Listens to the runs alone, at every level."""
    handler = _Records()
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    LOGGER.propagate = False
    yield handler
    LOGGER.removeHandler(handler)
    LOGGER.setLevel(logging.NOTSET)
    LOGGER.propagate = True


def _timeless(line: str, run_id: str) -> str:
    words = line.replace(run_id, "<id>").split(" ")
    return " ".join([*words[:-2], "<time>", "s"] if words[-1] == "s" and "ended:" in words else words)


def test_run_is_logged_in_these_words(records: _Records) -> None:
    steering = Steering()

    def fail(step: ActionStep) -> None:
        raise ValueError(f"{_SECRET} {step.observations}")

    def is_long(answer: str) -> bool:
        return len(answer) > 12

    agent = agent_of(
        [
            {"content": f"Plan {_SECRET}", "reasoning": f"I know {_SECRET}.", "usage": _USAGE},
            calls(("tick", {"n": 1}), ("add", {"a": 1, "b": _SECRET})) | {"usage": _USAGE},
            calls((f"no tool of mine, {_SECRET}", {"text": _SECRET})),
            Busy(_SECRET),
            f"I only say {_SECRET}.",
            final(_SECRET),
            final(f"The word is {_SECRET}."),
        ],
        steering.tick,
        add,
        stream_pieces=1,
        planning_interval=9,
        step_callbacks=[fail],
        final_answer_checks=[is_long],
    )
    with steering.doing({1: lambda: agent.settings.update(summary_mode="all")}):
        agent.run(f"Say {_SECRET}.")
    assert agent.result is not None
    assert agent.result.status == "answered"
    run_id = agent.result.run_id
    assert [_timeless(line, run_id) for line in records.lines] == snapshot(
        [
            "INFO agent: run <id> started with scripted, 20 steps at most",
            "INFO agent: planning before step 1",
            "DEBUG agent: 15 characters of reasoning",
            "DEBUG agent: 12 characters of text",
            "INFO agent: the model replied, 1,200 tokens in, 34 out",
            "INFO agent: plan before step 1 made",
            "INFO agent: step 1 started",
            "DEBUG agent: 0 characters of arguments",
            "DEBUG agent: 8 characters of arguments",
            "DEBUG agent: 0 characters of arguments",
            "DEBUG agent: 24 characters of arguments",
            "INFO agent: the model replied, 1,200 tokens in, 34 out",
            "INFO agent: a call was refused: ToolCallError",
            "INFO agent: calls tick",
            "INFO agent: tick returned",
            "WARNING agent: notice at step 1: the callback fail raised ValueError; see the record's event",
            "INFO agent: step 1 ended: 2 calls, 1 failed",
            "INFO agent: summary_mode is 'all' from the next call",
            "INFO agent: step 2 started",
            "DEBUG agent: 0 characters of arguments",
            "DEBUG agent: 19 characters of arguments",
            "INFO agent: the model replied, tokens unknown",
            "INFO agent: a call was refused: ToolCallError",
            "WARNING agent: notice at step 2: the callback fail raised ValueError; see the record's event",
            "INFO agent: step 2 ended: 1 call, 1 failed",
            "INFO agent: step 3 started",
            "WARNING agent: waits 0.0 s after attempt 1",
            "DEBUG agent: 19 characters of text",
            "INFO agent: the model replied, tokens unknown",
            "WARNING agent: notice at step 3: the callback fail raised ValueError; see the record's event",
            "INFO agent: step 3 ended: 0 calls, 1 failed",
            "INFO agent: step 4 started",
            "DEBUG agent: 0 characters of arguments",
            "DEBUG agent: 21 characters of arguments",
            "INFO agent: the model replied, tokens unknown",
            "WARNING agent: notice at step 4: the callback fail raised ValueError; see the record's event",
            "INFO agent: step 4 ended: 1 call, 1 failed",
            "INFO agent: step 5 started",
            "DEBUG agent: 0 characters of arguments",
            "DEBUG agent: 34 characters of arguments",
            "INFO agent: the model replied, tokens unknown",
            "WARNING agent: notice at step 5: the callback fail raised ValueError; see the record's event",
            "INFO agent: step 5 ended: 1 call",
            "INFO agent: an answer was given",
            "INFO agent: run <id> ended: answered, tokens unknown, <time> s",
        ]
    )
    assert {
        (record.name, vars(record)["run_id"], vars(record)["agent_name"]) for record in records.records
    } == {("agent_magic.run", run_id, "agent")}
    assert all(_SECRET not in line for line in records.lines)


def test_notice_is_logged_with_what_failed_and_how_but_not_with_its_words(records: _Records) -> None:
    def fail(_of: object) -> bool:
        raise ValueError(_SECRET)

    for approve_call in (fail, lambda _call: _SECRET.encode(), lambda _call: {"a": _SECRET}):
        replies = [f"Plan {_SECRET}", calls(("add", {"a": 1, "b": 2})), final(3)]
        agent_of(replies, approve_call=approve_call, approve_plan=fail, planning_interval=9).run("go")
    agent_of(["Plan", final(3)], approve_plan=lambda _plan: 7, planning_interval=9).run("go")
    lines = [line for line in records.lines if "notice" in line]
    assert list(dict.fromkeys(lines)) == snapshot(
        [
            "WARNING agent: notice at step 1: approve_plan raised ValueError; see the record's event",
            "WARNING agent: notice at step 1: approve_call raised ValueError; see the record's event",
            "WARNING agent: notice at step 1: approve_call returned bytes; see the record's event",
            "WARNING agent: notice at step 1: approve_call returned arguments that do not fit; see the record's event",
            "WARNING agent: notice at step 1: approve_plan returned int; see the record's event",
        ]
    )
    assert all(_SECRET not in line for line in records.lines)


def test_end_without_an_answer_is_a_warning(records: _Records) -> None:
    agent = agent_of([GenerationError(f"No model of that name, {_SECRET}.")])
    agent.run("go")
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), "best guess"], max_steps=1)
    agent.run("go")
    ends = [line for line in records.lines if "ended:" in line and " run " in line]
    assert [line.split("ended:")[1].split(",")[0].strip() for line in ends] == ["failed", "max_steps"]
    assert all(line.startswith("WARNING") for line in ends)
    assert all(_SECRET not in line for line in records.lines)


def test_record_carries_its_event(records: _Records) -> None:
    agent = agent_of([final(3)], stream_pieces=2)
    events = list(agent.stream("go"))
    assert [vars(record)["event"] for record in records.records] == events


def test_pause_is_a_warning(records: _Records) -> None:
    agent = agent_of([final(3)])
    agent.pause()
    for event in agent.stream("go"):
        if type(event).__name__ == "Waiting":
            agent.unpause()
    assert "WARNING agent: paused" in records.lines


def test_level_of_the_logger_decides_what_is_made(records: _Records) -> None:
    LOGGER.setLevel(logging.WARNING)
    agent_of([final(3)], stream_pieces=3).run("go")
    assert records.lines == []


def _two_events() -> Generator[Event, None, RunResult]:
    yield StepStarted(step_number=1)
    yield Notice(step_number=1, message=_SECRET)
    raise ZeroDivisionError


def test_error_of_a_run_passes_through(records: _Records) -> None:
    events = logged("run", "agent", _two_events())
    assert isinstance(next(events), StepStarted)
    assert isinstance(next(events), Notice)
    with pytest.raises(ZeroDivisionError):
        next(events)
    assert records.lines == snapshot(
        ["INFO agent: step 1 started", "WARNING agent: notice at step 1: see the record's event"]
    )


def test_closing_the_events_closes_the_run(records: _Records) -> None:
    agent = agent_of([final(3)])
    events = agent.stream("go")
    assert isinstance(next(events), RunStarted)
    events.close()
    assert agent.result is not None
    assert agent.result.status == "interrupted"


def test_nothing_is_printed_where_nobody_set_logging_up(capfd: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    handlers = list(root.handlers)  # those of the test's own machinery
    for handler in handlers:
        root.removeHandler(handler)
    try:
        agent_of([GenerationError("gone")]).run("go")
    finally:
        for handler in handlers:
            root.addHandler(handler)
    assert capfd.readouterr() == ("", "")


class _Counting(logging.Filter):
    """Counts the records that the logger is asked to make."""

    n_seen = 0

    def filter(self, record: logging.LogRecord) -> bool:
        self.n_seen += 1
        return True


def test_no_record_is_made_where_nobody_listens() -> None:
    counting = _Counting()
    LOGGER.addFilter(counting)
    LOGGER.propagate = False
    LOGGER.setLevel(logging.DEBUG)
    try:
        agent_of([final(3)], stream_pieces=5).run("go")
    finally:
        LOGGER.removeFilter(counting)
        LOGGER.propagate = True
        LOGGER.setLevel(logging.NOTSET)
    assert counting.n_seen == 0
