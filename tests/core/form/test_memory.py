"""A memory to JSON and back: the same record, the same messages, the same past."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from inline_snapshot import snapshot
from memories import PROJECTIONS, Walk
from PIL import Image

from agent_magic.core.errors import OptionError
from agent_magic.core.form.value import RecordedValue
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ImagePart, ToolCall
from agent_magic.core.request import ACT
from agent_magic.core.steps import ActionStep, FinalAnswerStep, TaskStep, Timing, ToolResult


def _to_json(memory: AgentMemory) -> dict[str, Any]:
    """The form of a memory after JSON, which loses nothing."""
    form = memory.to_dict()
    again = json.loads(json.dumps(form, allow_nan=False))
    assert again == form
    return again


def _there_and_back(memory: AgentMemory) -> AgentMemory:
    form = _to_json(memory)
    again = AgentMemory.from_dict(form)
    assert again.to_dict() == form
    return again


def _to_laid_upon(memory: AgentMemory) -> list[tuple[Any, ...]]:
    """All steps, dropped ones too, with everything that stands beside them."""
    return [(e.step, e.view, e.is_pinned, e.is_dropped, e.form, e.kept) for e in memory.entries]


def _action(**fields: Any) -> ActionStep:
    return ActionStep(step_number=1, timing=Timing(start=0.0, end=1.0), **fields)


def _result(output: Any = None, **fields: Any) -> ToolResult:
    return ToolResult(call=ToolCall(id="call_1", name="look", arguments={}), output=output, **fields)


# -- there and back --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(300))
def test_memory_comes_back_whole(seed: int) -> None:
    walk = Walk(seed)
    walk.go(40)
    again = _there_and_back(walk.memory)
    assert _to_laid_upon(again) == _to_laid_upon(walk.memory)
    assert again.steps == walk.memory.steps
    assert again.edits == walk.memory.edits
    assert again.requests == walk.memory.requests
    assert (again.revision, again.system_prompt) == (walk.memory.revision, walk.memory.system_prompt)
    for projection in PROJECTIONS:
        assert again.project(projection) == walk.memory.project(projection)
    for request, messages in zip(again.requests, [sent for _, sent in walk.sent], strict=True):
        assert again.rebuild(request) == messages
        assert again.is_rebuilt_exactly(request)


@pytest.mark.parametrize("seed", range(100))
def test_memory_that_came_back_goes_on_as_the_one_that_was_written(seed: int) -> None:
    walk, other = Walk(seed), Walk(seed)
    walk.go(25)
    other.go(25)
    other.memory = AgentMemory.from_dict(_to_json(other.memory))
    walk.go(25)
    other.go(25)
    assert other.memory.steps == walk.memory.steps
    for projection in PROJECTIONS:
        assert other.memory.project(projection) == walk.memory.project(projection)
    for request, messages in other.sent:
        found = next(one for one in other.memory.requests if one == request)
        assert other.memory.rebuild(found) == messages
        assert other.memory.is_rebuilt_exactly(found)


@pytest.mark.parametrize("seed", range(100))
def test_undo_works_in_a_memory_that_came_back(seed: int) -> None:
    walk = Walk(seed)
    walk.go(40)
    again = _there_and_back(walk.memory)
    n_undone = 0
    while walk.memory.undo():
        again.undo()
        n_undone += 1
        assert again.steps == walk.memory.steps
        assert again.to_messages() == walk.memory.to_messages()
    assert again.undo() == ()
    by = {change.by for change in walk.memory.edits}
    assert n_undone or "undo" in by or by <= {"window"}  # the walk may have taken all back itself


def test_empty_memory_comes_back() -> None:
    assert _to_json(AgentMemory()) == snapshot(
        {
            "format": "agent_magic.memory",
            "version": 2,
            "revision": 0,
            "system_prompts": [{"revision": 0, "text": ""}],
            "steps": [],
            "entries": [],
            "changes": [],
            "undoable": [],
            "request_columns": ["run_id", "step_number", "kind", "revision", "n_steps", "tools", "digest"],
            "requests": [],
            "messages": [],
            "schemas": [],
            "tools": [],
            "images": [],
        }
    )
    assert len(_there_and_back(AgentMemory("Be brief."))) == 0


def test_image_of_an_observation_comes_back() -> None:
    image = Image.new("RGBA", (3, 2))
    image.putdata([(i, 2 * i, 3 * i, 40 * i) for i in range(6)])
    memory = AgentMemory("", [_action(tool_results=(_result(image, images=(ImagePart(image=image),)),))])
    memory = AgentMemory.from_dict(json.loads(json.dumps(memory.to_dict())))
    (step,) = memory.steps
    assert isinstance(step, ActionStep)
    (part,) = step.observations_images
    assert (part.image.size, part.image.mode) == ((3, 2), "RGBA")
    assert part.image.tobytes() == image.tobytes()
    assert step.action_output is part.image


def test_object_comes_back_by_type_repr_and_name() -> None:
    lock = threading.Lock()
    steps = [_action(tool_results=(_result(lock, bound_to="look_1"),)), FinalAnswerStep(answer=lock)]
    action, answer = _there_and_back(AgentMemory("", steps)).steps
    assert isinstance(action, ActionStep)
    assert action.action_output == RecordedValue(type_name="lock", preview=repr(lock), name="look_1")
    assert answer == FinalAnswerStep(answer=RecordedValue(type_name="lock", preview=repr(lock)))


def test_step_that_stands_in_several_places_comes_back_as_one() -> None:
    memory = AgentMemory("", [TaskStep(task="count")])
    original = memory.steps[0]
    memory.edit(0, task="count all")
    memory.undo()
    assert memory.steps[0] is original
    form = _to_json(memory)
    assert [step["task"] for step in form["steps"]] == ["count", "count all"]
    again = AgentMemory.from_dict(form)
    assert again.edits[0].old is again.steps[0]
    again.set_view(again.edits[0].new, "hidden")
    assert again.view_of(0) == "hidden"


def test_memory_that_came_back_shares_nothing_with_its_form() -> None:
    output = {"a": [1]}
    memory = AgentMemory("", [_action(tool_results=(_result(output),))])
    form = memory.to_dict()
    output["a"].append(2)
    again = AgentMemory.from_dict(form)
    form["steps"][0]["tool_results"][0]["output"]["a"].append(3)
    assert again.steps == (_action(tool_results=(_result({"a": [1]}),)),)


def test_memory_is_written_while_another_thread_goes_on() -> None:
    walk = Walk(1)
    walk.go(20)
    done = threading.Event()

    def go_on() -> None:
        for _ in range(300):
            walk.go(1)
        done.set()

    thread = threading.Thread(target=go_on)
    thread.start()
    n_written = 0
    while not done.is_set() or not n_written:
        _there_and_back(walk.memory)
        n_written += 1
    thread.join()


# -- size ------------------------------------------------------------------------------------


def _chars(n_steps: int, schemas: Any) -> int:
    memory = AgentMemory("Be brief." * 100, [TaskStep(task="count")])
    for _ in range(n_steps):
        memory.take_request(run_id="run", step_number=1, kind="act", projection=ACT, schemas=tuple(schemas))
        memory.append(_action(model_output="I count.", tool_results=(_result(3, observation="3"),)))
    return len(json.dumps(memory.to_dict()))


def test_size_grows_with_the_steps_alone() -> None:
    schemas = Walk(1)._schemas
    first, second, third = _chars(100, schemas), _chars(200, schemas), _chars(300, schemas)
    assert abs((third - second) - (second - first)) <= 100  # places and revisions have more digits
    assert (second - first) / 100 < 600


def test_equal_schemas_are_written_once_however_often_they_were_made() -> None:
    memory = AgentMemory("", [TaskStep(task="count")])
    for seed in range(10):
        memory.take_request(
            run_id="run", step_number=1, kind="act", projection=ACT, schemas=Walk(seed)._schemas
        )
    form = _to_json(memory)
    assert [schema["name"] for schema in form["schemas"]] == ["look", "count"]
    assert form["tools"] == [[0, 1]]


def test_equal_texts_around_the_history_are_written_once() -> None:
    memory = AgentMemory("", [TaskStep(task="count")])
    for seed in range(10):
        walk = Walk(seed)
        walk.memory = memory
        for _ in range(10):
            walk.take_request()
    assert _to_json(memory)["messages"][0] == {"role": "system", "content": "Make a plan."}
    assert len([m for m in _to_json(memory)["messages"] if m["role"] == "system"]) == 1


def test_system_prompt_that_stays_is_written_once() -> None:
    memory = AgentMemory("Be brief.", [TaskStep(task="count")])
    for _ in range(3):
        memory.join(memory.fork(), 1, with_edits=False)
    assert _to_json(memory)["system_prompts"] == [
        {"revision": 0, "text": "Be brief."},
        *({"revision": revision} for revision in (1, 2, 3)),
    ]


# -- what cannot be read ---------------------------------------------------------------------


def _broken(**changes: Any) -> dict[str, Any]:
    walk = Walk(3)
    walk.go(30)
    return {**_to_json(walk.memory), **changes}


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (
            "{}",
            snapshot("""\
A memory is read from a dict, and not from '{}'.
Give AgentMemory.from_dict what to_dict made; a JSON text goes through json.loads first.\
"""),
        ),
        (
            {},
            snapshot("""\
This dict holds no memory: its key 'format' is None, and not 'agent_magic.memory'.
Give AgentMemory.from_dict what to_dict made.\
"""),
        ),
        (
            {"format": "agent_magic.run"},
            snapshot("""\
This dict holds no memory: its key 'format' is 'agent_magic.run', and not 'agent_magic.memory'.
Give AgentMemory.from_dict what to_dict made.\
"""),
        ),
        (
            _broken(version=3),
            snapshot("""\
This memory was written by a newer agent_magic: its key 'version' is 3, and this one reads up to 2.
Upgrade: pip install -U agent-magic\
"""),
        ),
        (
            _broken(version="2"),
            snapshot("""\
This memory cannot be read: its key 'version' is '2', and not 2.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(version=1),
            snapshot("""\
This memory cannot be read: its key 'version' is 1, and not 2.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(version=True),
            snapshot("""\
This memory cannot be read: its key 'version' is True, and not 2.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(extra=1),
            snapshot("""\
This memory cannot be read: extra is 1, and not one of the keys changes, entries, format, images, messages, request_columns, requests, revision, schemas, steps, system_prompts, tools, undoable, version.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(steps=None),
            snapshot("""\
This memory cannot be read: steps is None, and not a list.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(steps=[{"kind": "task", "task": 3}]),
            snapshot("""\
This memory cannot be read: steps[0].task is 3, and not text.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(entries=[-1]),
            snapshot("""\
This memory cannot be read: entries[0] is -1, and not a whole number from 0 to 11.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(entries=[99_999]),
            snapshot("""\
This memory cannot be read: entries[0] is 99999, and not a whole number from 0 to 11.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(entries=[{"step": 0, "view": "short"}]),
            snapshot("""\
This memory cannot be read: entries[0].view is 'short', and not one of full, summary, hidden.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(entries=[{"step": 0, "kept": {"call_1": 1}}]),
            snapshot("""\
This memory cannot be read: entries[0].kept is {'call_1': 1}, and not the names of whole observations by the ids of their calls.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(system_prompts=[]),
            snapshot("""\
This memory cannot be read: system_prompts is [], and not a list that begins with revision 0.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(system_prompts=[{"revision": 1, "text": ""}]),
            snapshot("""\
This memory cannot be read: system_prompts is [{'revision': 1, 'text': ''}], and not a list that begins with revision 0.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(system_prompts=[{"revision": 0}]),
            snapshot("""\
This memory cannot be read: system_prompts[0].text is None, and not text.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(changes=[{"field": "code"}]),
            snapshot("""\
This memory cannot be read: changes[0].field is 'code', and not one of step, view, is_pinned, form, kept, is_dropped.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(
                changes=[
                    {"field": "step", "index": 0, "revision": 1, "old": 0, "new": -1, "by": "a", "at": 0}
                ]
            ),
            snapshot("""\
This memory cannot be read: changes[0].new is -1, and not a whole number from 0 to 11.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(undoable=["1"]),
            snapshot("""\
This memory cannot be read: undoable[0] is '1', and not a whole number from 0 on.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(request_columns=["run_id"]),
            snapshot("""\
This memory cannot be read: request_columns is ['run_id'], and not the list of run_id, step_number, kind, revision, n_steps, tools, digest.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        *(
            (
                _broken(requests=[row]),
                f"""\
This memory cannot be read: requests[0]{wrong}.
Give AgentMemory.from_dict what to_dict made, unchanged.\
""",
            )
            for row, wrong in (
                ([1, 1, "act", 0, 0, 0, "00"], ".run_id is 1, and not text"),
                (["a", True, "act", 0, 0, 0, "00"], ".step_number is True, and not a whole number from 0 on"),
                (["a", 1, "look", 0, 0, 0, "00"], ".kind is 'look', and not one of act, plan, final"),
                (["a", 1, "act", -1, 0, 0, "00"], ".revision is -1, and not a whole number from 0 on"),
                (["a", 1, "act", 0, 99, 0, "00"], ".n_steps is 99, and not a whole number from 0 to 11"),
                (["a", 1, "act", 0, 0, 9, "00"], ".tools is 9, and not a whole number from 0 to 2"),
                (["a", 1, "act", 0, 0, 0, None], ".digest is None, and not text"),
                (["a", 1, "act", 0, 0, 0, "00", []], " is [], and not a dict"),
                (
                    ["a", 1, "act", 0, 0, 0, "00", {"tail": [7]}],
                    ".tail[0] is 7, and not a whole number from 0 to 4",
                ),
                (
                    ["a", 1],
                    " is ['a', 1], and not a list of run_id, step_number, kind, revision, n_steps, tools, digest, and a dict of the rest",
                ),
            )
        ),
        (
            _broken(requests=[{}]),
            snapshot("""\
This memory cannot be read: requests[0] is {}, and not a list.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(tools=[[7]]),
            snapshot("""\
This memory cannot be read: tools[0] is 7, and not a whole number from 0 to 1.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
        (
            _broken(images=[{"png": "AAAA"}]),
            snapshot("""\
This memory cannot be read: images[0] is {'png': 'AAAA'}, and not an image.
Give AgentMemory.from_dict what to_dict made, unchanged.\
"""),
        ),
    ],
)
def test_reading_says_which_key_cannot_be_read(form: Any, message: str) -> None:
    with pytest.raises(OptionError) as refusal:
        AgentMemory.from_dict(form)
    assert refusal.value.message == message


def test_reading_says_which_key_is_missing() -> None:
    for key in _broken():
        form = _broken()
        del form[key]
        with pytest.raises(OptionError, match=f"key '{key}' is (missing|None)"):
            AgentMemory.from_dict(form)


def test_reading_refuses_what_is_nested_without_end() -> None:
    value: Any = []
    for _ in range(5_000):
        value = [value]
    with pytest.raises(OptionError) as refusal:
        AgentMemory.from_dict(_broken(steps=[{"kind": "answer", "answer": value}]))
    assert refusal.value.message == snapshot("""\
This memory cannot be read: something in it is nested too deeply.
Give AgentMemory.from_dict what to_dict made, unchanged.\
""")


def _replace(form: Any, path: list[Any], value: Any) -> Any:
    for key in path[:-1]:
        form = form[key]
    form[path[-1]] = value


def _all_paths(form: Any) -> list[list[Any]]:
    pairs = form.items() if isinstance(form, dict) else enumerate(form) if isinstance(form, list) else ()
    return [path for key, part in pairs for path in ([key], *([key, *rest] for rest in _all_paths(part)))]


@pytest.mark.parametrize("seed", range(60))
def test_reading_a_damaged_memory_gives_a_memory_or_the_error(seed: int) -> None:
    walk = Walk(seed)
    walk.go(15)
    text = json.dumps(walk.memory.to_dict())
    paths = _all_paths(json.loads(text))
    for junk in (None, -1, 1e9, "junk", [], {}, {"$": "object"}, {"$": "date", "text": "x"}, [[]], True):
        form = json.loads(text)
        _replace(form, walk.random.choice(paths), junk)
        try:
            memory = AgentMemory.from_dict(form)
        except OptionError:
            continue
        json.dumps(memory.to_dict(), allow_nan=False)
        memory.to_messages()
        for request in memory.requests:
            memory.rebuild(request)
