"""A block of code in a record, and the calls that it made."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from PIL import Image
from view.code_samples import CODE_1, code_call, code_run, code_step, failing_step, first_step
from view.samples import action, call, run

from agent_magic.core.messages import ImagePart
from agent_magic.core.steps import Fault, ToolResult
from agent_magic.record.call import finish_call, to_call_record, to_inner_call
from agent_magic.record.clean import stored_size
from agent_magic.record.lane import to_step_record
from agent_magic.record.limits import LOOSEST, Limits, pick_ends
from agent_magic.record.run import MAX_BYTES, to_record

SECRET = "sk-proj-abcdefghijklmnop0123456789"


def inner_of(*results: ToolResult, code: str = "look()", limits: Limits = LOOSEST) -> Any:
    return to_call_record(code_call(code, calls=results, observation="done"), limits, is_code=True)


def argument(value: Any) -> Any:
    return to_inner_call(call("look", {"at": value}))["arguments"]["at"]  # type: ignore[index] # a dict


# -- what stands in it ---------------------------------------------------------------------------


def test_code_stands_apart_from_arguments() -> None:
    record = to_step_record(first_step())
    (code,) = record["calls"]
    assert code["code"] == CODE_1
    assert [image[:22] for image in code.pop("images")] == ["data:image/png;base64,"]
    assert {**code, "code": "…"} == snapshot(
        {
            "id": "code_1",
            "name": "python",
            "arguments": {},
            "code": "…",
            "calls": [
                {
                    "id": "code_1.1",
                    "name": "mean_price",
                    "arguments": {"city": "Oslo", "listings": "<Table, 3 rows × 2 columns>"},
                    "observation": "4321.5",
                    "output": {"type": "float"},
                    "duration_s": 0.012,
                },
                {
                    "id": "code_1.2",
                    "name": "mean_price",
                    "arguments": {"city": "Bergen", "listings": "<Table, 3 rows × 2 columns>"},
                    "observation": "3900.0",
                    "output": {"type": "float"},
                    "notes": ["city read as Bergen"],
                    "duration_s": 0.013,
                },
            ],
            "observation": """\
Oslo: 4,321.5
Bergen: 3,900.0
(1 picture is shown.)
Value of the last line: 'Oslo'\
""",
            "output": {"type": "str", "preview": "'Oslo'"},
            "duration_s": 0.42,
        }
    )


def test_code_that_failed_keeps_what_it_had_printed() -> None:
    (code,) = to_step_record(failing_step())["calls"]
    assert {**code, "code": "…", "calls": []} == snapshot(
        {
            "id": "code_2",
            "name": "python",
            "arguments": {},
            "code": "…",
            "calls": [],
            "error": {
                "kind": "CodeExecutionError",
                "message": """\
KeyError: 'Oslo!'
  line 1: top = prices["Oslo" + "!"]
Use a key that is there: Oslo, Bergen.\
""",
            },
            "observation": "looking",
            "duration_s": 0.03,
        }
    )


def test_tool_named_python_is_no_code() -> None:
    (tool,) = to_step_record(action(1, call("python", {"code": "1"}, observation="1")))["calls"]
    assert tool == {"id": "call_1", "name": "python", "arguments": {"code": "1"}, "observation": "1"}


def test_run_says_that_it_was_one_of_code() -> None:
    assert to_record(code_run())["mode"] == "code"
    assert to_record(run())["mode"] == "tools"


def test_reply_without_code_is_its_thought() -> None:
    step = to_record(code_run())["steps"][2]
    assert step == snapshot(
        {
            "step_number": 3,
            "duration_s": 0.5,
            "thought": "Oslo, I would say.",
            "error": {
                "kind": "ParsingError",
                "message": "No code could be read in the reply. Write it between tags.",
            },
        }
    )


def test_pictures_of_code_are_shown_as_far_as_there_is_room() -> None:
    pictures = tuple(ImagePart(image=Image.new("RGB", (40, 30), colour)) for colour in ("red", "blue"))
    step = code_step(1, code_call("plot()", observation="shown", images=pictures))
    shown = to_step_record(step)["calls"][0]["images"]
    assert all(image.startswith("data:image/png;base64,") for image in shown)
    assert to_step_record(step, Limits(chars=8_000))["calls"][0]["images"] == ["image 40 × 30"] * 2


# -- live values ---------------------------------------------------------------------------------


class Frame:
    """Looks like a data frame; its `repr` would take long."""

    shape = (3, 2)
    columns = dtypes = head = ()

    def __repr__(self) -> str:
        raise AssertionError("nobody needs it")


class Point:
    def __repr__(self) -> str:
        return "Point(1, 2)"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Frame(), "<Frame, 3 rows × 2 columns>"),
        (pd.DataFrame({"a": [1, 2, 3]}), "<DataFrame, 3 rows × 1 column>"),
        (np.zeros((3, 2)), "<ndarray, (3, 2) float64>"),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (float("nan"), "nan"),
        (dt.date(2026, 1, 31), "2026-01-31"),
        (Point(), "Point(1, 2)"),
        ([Point(), {"x": np.int64(1)}], ["Point(1, 2)", {"x": 1}]),
        ((1, None), [1, None]),
        ("text", "text"),
    ],
)
def test_argument_that_code_gave_is_told_in_short(value: Any, told: Any) -> None:
    assert argument(value) == told


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (12.5, "12.5"),
        ("text", "text"),
        ({"a": [1]}, '{"a": [1]}'),
        (None, "None"),
        (Frame(), "<Frame, 3 rows × 2 columns>"),
    ],
)
def test_what_a_call_of_code_gave_is_told(output: Any, told: str) -> None:
    assert to_inner_call(call("look", {}, output=output)).get("observation") == told


def test_value_whose_class_does_anything_is_told() -> None:
    class Odd:
        @property  # type: ignore[misc] # it does what it likes
        def __class__(self) -> Any:
            raise RuntimeError

        def __repr__(self) -> str:
            raise RuntimeError

    assert to_inner_call(call("look", {"at": Odd()}))["arguments"] == snapshot(
        "{'at': <Odd whose repr raised RuntimeError>}"
    )


# -- how much ------------------------------------------------------------------------------------


def many(n: int, **fields: Any) -> tuple[ToolResult, ...]:
    fields.setdefault("observation", "x" * 600)
    return tuple(call("look", {"n": i, "text": "y" * 500}, f"inner_{i}", **fields) for i in range(n))


def test_of_very_many_calls_the_first_and_the_last_ones_are_kept() -> None:
    code = inner_of(*many(10_000))
    numbers = [inner["arguments"]["n"] for inner in code["calls"]]
    assert numbers == [*range(16), *range(9_966, 10_000)]
    assert code["calls_left_out"] == 9_950


def test_calls_that_a_result_does_not_hold_are_counted_too() -> None:
    code = code_call("look()", calls=many(60), n_calls_left_out=1_000)
    assert to_call_record(code, LOOSEST, is_code=True).get("calls_left_out") == 1_010


def test_calls_that_are_left_out_belong_after_the_first_third_however_often_it_is_cut() -> None:
    for n_kept in (50, 30, 20, 12, 8, 4, 2):
        code = inner_of(*many(200), limits=Limits(chars=200, inner=n_kept))
        numbers = [inner["arguments"]["n"] for inner in code["calls"]]
        at = n_kept // 3
        assert numbers == [*range(at), *range(200 - n_kept + at, 200)]
        assert code["calls_left_out"] == 200 - n_kept


def test_step_with_ten_thousand_calls_is_small() -> None:
    frame = pd.DataFrame(np.zeros((1_000, 20)))
    inner = tuple(
        call("look", {"n": i, "frame": frame}, f"inner_{i}", observation="x" * 600, output=frame)
        for i in range(10_000)
    )
    step = code_step(1, code_call("for n in range(10_000):\n    look(n)", observation="done", calls=inner))
    assert stored_size(to_step_record(step)) < 100_000


def test_run_of_code_with_very_many_calls_fits_into_a_notebook() -> None:
    code = "\n".join(f"look({n})" for n in range(2_000))
    steps = [code_step(n, code_call(code, observation="z" * 9_000, calls=many(500))) for n in range(1, 80)]
    record = to_record(run(*steps, mode="code"))
    assert stored_size(record) <= MAX_BYTES
    assert len(record["steps"]) == 79


def test_texts_of_calls_that_code_made_have_the_room_of_four() -> None:
    few, some = (inner_of(*many(n, observation="x" * 20_000)) for n in (2, 40))
    assert [len(inner["observation"]) for inner in few["calls"]] == [8_000, 8_000]
    assert {len(inner["observation"]) for inner in some["calls"]} == {800}


def test_long_code_keeps_head_and_tail() -> None:
    code = "\n".join(f"look({n})" for n in range(10_000))
    record = to_call_record(code_call(code), LOOSEST, is_code=True)
    assert len(record["code"]) <= 8_000
    assert record["code"].startswith("look(0)\n")
    assert record["code"].endswith("\nlook(9999)")


def test_pick_ends_takes_the_first_third_and_the_last_two() -> None:
    assert list(pick_ends(range(100), 9)) == [0, 1, 2, 94, 95, 96, 97, 98, 99]
    assert list(pick_ends(range(9), 9)) == list(range(9))


# -- secrets -------------------------------------------------------------------------------------


def test_secrets_are_in_no_part_of_code() -> None:
    said = f"say {SECRET} now"
    inner = call("look", {"key": said, SECRET: [said]}, "i", observation=said, notes=(said,), printed=said)
    failed = call("look", {}, "j", fault=Fault(kind="ToolError", message=said))
    kept = call("look", {}, "k", output=said, bound_to=SECRET)
    result = code_call(said, observation=said, notes=(said,), printed=said, calls=(inner, failed, kept))
    for step in (code_step(1, result, thought=said), code_step(1, code_call(said, output=said))):
        text = json.dumps(to_step_record(step))
        assert SECRET not in text
        assert "[redacted]" in text


def test_secret_in_a_call_that_is_being_made_is_taken_out() -> None:
    assert SECRET not in json.dumps(finish_call(to_inner_call(call(SECRET, {"key": SECRET})), LOOSEST))
