"""A memory written bit by bit is the memory written at once."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from inline_snapshot import snapshot
from memories import PROJECTIONS, Walk

from agent_magic.core.form.increments import MemoryRows, MemoryWriter
from agent_magic.core.form.memory import FORMAT, VERSION
from agent_magic.core.form.value import UnreadableError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.steps import TaskStep


def _again(rows: MemoryRows) -> AgentMemory:
    form = json.loads(json.dumps(rows.to_form(), allow_nan=False))
    return AgentMemory.from_dict({**form, "format": FORMAT, "version": VERSION})


def _is_same(one: AgentMemory, other: AgentMemory) -> bool:
    laid_on = [
        [(e.step, e.view, e.is_pinned, e.is_dropped, e.form, dict(e.kept)) for e in memory.entries]
        for memory in (one, other)
    ]
    return (
        laid_on[0] == laid_on[1]
        and one.edits == other.edits
        and one.requests == other.requests
        and one.to_dict()["undoable"] == other.to_dict()["undoable"]
        and (one.revision, one.system_prompt) == (other.revision, other.system_prompt)
        and all(one.project(projection) == other.project(projection) for projection in PROJECTIONS)
    )


@pytest.mark.parametrize("seed", range(60))
def test_bits_are_the_whole_whenever_they_are_taken(seed: int) -> None:
    walk, chance = Walk(seed), random.Random(seed)
    writer, rows = MemoryWriter(), MemoryRows()
    for _ in range(25):
        walk.go(chance.randrange(5))
        bit = json.loads(json.dumps(writer.take(walk.memory)))
        if chance.random() < 0.8:  # else it was not kept, whether it reached the disk or not
            rows.add(bit)
            writer.confirm()
        elif chance.random() < 0.5:
            rows.add(bit)
    rows.add(writer.take(walk.memory))
    again = _again(rows)
    assert _is_same(again, walk.memory)
    assert all(again.is_rebuilt_exactly(request) for request in again.requests)


@pytest.mark.parametrize("seed", range(30))
def test_memory_that_was_forked_follows_in_the_same_bits(seed: int) -> None:
    walk = Walk(seed)
    walk.go(20)
    writer, rows = MemoryWriter(), MemoryRows()
    rows.add(writer.take(walk.memory))
    writer.confirm()
    before, walk.memory = walk.memory, walk.memory.fork()
    walk.go(20)
    assert writer.goes_on(before, walk.memory)
    rows.add(writer.take(walk.memory))
    assert _is_same(_again(rows), walk.memory)


def test_memory_that_is_another_does_not_follow() -> None:
    writer = MemoryWriter()
    memory = AgentMemory("", [TaskStep(task="count")])
    writer.take(memory)
    writer.confirm()
    assert not writer.goes_on(memory, AgentMemory("", [TaskStep(task="count")]))
    assert not writer.goes_on(memory, AgentMemory())


def test_bits_hold_what_is_new_alone() -> None:
    memory = AgentMemory("Be brief.", [TaskStep(task="count")])
    writer = MemoryWriter()
    assert writer.take(memory) == snapshot(
        {
            "system_prompts": [0, [{"revision": 0, "text": "Be brief."}]],
            "entries": [0, [0]],
            "revision": 0,
            "steps": [0, [{"kind": "task", "task": "count"}]],
        }
    )
    writer.confirm()
    assert writer.take(memory) == {}
    memory.set_view(0, "hidden")
    memory.append(TaskStep(task="more"))
    bit = writer.take(memory)
    bit["changes"][1][0]["at"] = 0.0
    assert bit == snapshot(
        {
            "entries": [1, [1]],
            "changes": [
                0,
                [
                    {
                        "revision": 1,
                        "index": 0,
                        "field": "view",
                        "old": None,
                        "new": "hidden",
                        "by": "person",
                        "at": 0.0,
                    }
                ],
            ],
            "changed": [[0, {"step": 0, "view": "hidden"}]],
            "undoable": [0, [1]],
            "revision": 1,
            "steps": [1, [{"kind": "task", "task": "more"}]],
        }
    )


def test_size_of_a_bit_does_not_grow_with_the_memory() -> None:
    walk = Walk(3)
    writer = MemoryWriter()
    sizes: list[int] = []
    for _ in range(300):
        walk.append()
        sizes.append(len(json.dumps(writer.take(walk.memory))))
        writer.confirm()
    assert sum(sizes[200:]) < 1.5 * sum(sizes[:100])


@pytest.mark.parametrize(
    "bit",
    [
        [],
        {"steps": 3},
        {"steps": [1]},
        {"steps": ["0", []]},
        {"steps": [-1, []]},
        {"steps": [10**9, [{}]]},
        {"steps": [0, {}]},
        {"changed": 3},
        {"changed": [[0, 0]]},
        {"others": [0, []]},
    ],
)
def test_bit_that_nobody_wrote_is_refused(bit: Any) -> None:
    with pytest.raises(UnreadableError):
        MemoryRows().add(bit)


def test_rows_that_no_bit_held_are_counted() -> None:
    rows = MemoryRows()
    rows.add({"steps": [2, [{"kind": "task"}]]})
    assert rows.n_missing == 2
    assert rows.to_form()["steps"] == [None, None, {"kind": "task"}]
