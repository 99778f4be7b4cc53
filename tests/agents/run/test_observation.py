"""What the model is told of an output, and where the rest goes."""

from __future__ import annotations

import enum
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from matplotlib.figure import Figure
from PIL import Image

from agent_magic import CodeAgent, ScriptedModel, ToolCallingAgent
from agent_magic.agents.run.observation import observation_budget
from agent_magic.agents.run.observation import observe as observe_whole
from agent_magic.core.errors import OptionError
from agent_magic.core.state import AgentState, DictState
from agent_magic.models.model import Capabilities


def observe(output: Any, tool_name: str, state: AgentState, budget: int) -> tuple[str, str | None]:
    """What is told, and the variable that holds the output."""
    seen = observe_whole(output, tool_name, state, budget)
    return seen.text, seen.bound_to


class _Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("window", "budget"),
    [(None, 8_000), (200_000, 8_000), (16_000, 8_000), (2_048, 1_024), (100, 80), (0, 80)],
)
def test_budget_is_half_the_window_within_bounds(window: int | None, budget: int) -> None:
    assert observation_budget(window) == budget


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        (None, "None"),
        (3, "3"),
        ([1, {"a": None}], '[1, {"a": null}]'),
        ((1, 2), "[1, 2]"),
        (np.float64(0.5), "0.5"),
        (_Colour.RED, "red"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("", ""),
    ],
)
def test_text_like_output_is_told_as_text_and_bound_to_nothing(output: Any, text: str) -> None:
    state = AgentState()
    assert observe(output, "look", state, 8_000) == (text, None)
    assert list(state) == []


def test_output_over_the_budget_is_cut_and_kept_whole() -> None:
    state = AgentState(DictState(obs_1="the person's"))
    text, name = observe("a" * 300, "look", state, 200)
    assert text == snapshot("""\
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
… 173 characters cut; the whole is obs_1: peek(name="obs_1", start=0) …
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\
""")
    assert name is None
    assert state.lookup("obs_1") == "a" * 300
    assert state.base["obs_1"] == "the person's"


def test_output_of_exactly_the_budget_is_not_cut() -> None:
    state = AgentState()
    assert observe("a" * 200, "look", state, 200) == ("a" * 200, None)
    assert not state.has_kept


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(pd.DataFrame({"n": [1, 2]}), id="frame"),
        pytest.param(np.arange(3), id="array"),
        pytest.param(object(), id="object"),
        pytest.param({1, 2}, id="set"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param([object()], id="list of objects"),
        pytest.param(print, id="function"),
    ],
)
def test_object_is_bound_by_reference_and_described(output: Any) -> None:
    state = AgentState()
    text, name = observe(output, "look", state, 8_000)
    assert name == "look_1"
    assert state.base["look_1"] is output
    assert text.startswith(
        f'The result is in the variable look_1; refer to it as "@look_1".\n{type(output).__name__}'
    )


def test_object_that_cannot_be_described_is_bound_all_the_same() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    text, name = observe(Broken(), "look", AgentState(), 8_000)
    assert (text, name) == snapshot(
        (
            """\
The result is in the variable look_1; refer to it as "@look_1".
Broken: <Broken whose repr raised RuntimeError>\
""",
            "look_1",
        )
    )


def test_output_is_not_changed() -> None:
    output = {"a": [1, 2]}
    observe(output, "look", AgentState(), 8_000)
    assert output == {"a": [1, 2]}


def test_number_too_long_to_print_is_bound() -> None:
    assert observe(10**5_000, "power", AgentState(), 8_000) == snapshot(
        (
            """\
The result is in the variable power_1; refer to it as "@power_1".
int: <int of about 5,000 digits>\
""",
            "power_1",
        )
    )


def test_cut_output_is_known_by_the_name_that_holds_the_whole() -> None:
    assert observe_whole("a" * 300, "look", AgentState(), 200).kept_as == "obs_1"
    assert observe_whole("a" * 200, "look", AgentState(), 200).kept_as is None


def test_picture_is_shown_beside_its_description() -> None:
    image = Image.new("RGBA", (3, 2), "red")
    seen = observe_whole(image, "draw", AgentState(), 8_000)
    assert (seen.bound_to, [(part.image is image, part.name) for part in seen.images]) == (
        "draw_1",
        [(True, "draw_1")],
    )
    assert observe_whole({"image": 1}, "draw", AgentState(), 8_000).images == ()


def _figure() -> Any:
    drawn = Figure(figsize=(2, 1), dpi=50)
    drawn.subplots().plot([1, 2, 3])
    return drawn


def _png() -> bytes:
    file = io.BytesIO()
    Image.new("L", (1, 1), 7).save(file, "PNG")
    return file.getvalue()


def test_picture_is_shown_itself() -> None:
    image = Image.new("RGB", (4, 3))
    (part,) = observe_whole(image, "draw", AgentState(), 8_000).images
    assert (part.image, part.name) == (image, "draw_1")


@pytest.mark.parametrize(
    ("output", "size"), [(_figure(), (100, 50)), (np.zeros((5, 4, 3), dtype="uint8"), (4, 5))]
)
def test_figure_and_array_are_shown_as_they_look(output: Any, size: tuple[int, int]) -> None:
    seen = observe_whole(output, "draw", AgentState(), 8_000)
    assert [(part.image.size, part.name) for part in seen.images] == [(size, "draw_1")]
    assert seen.bound_to == "draw_1"


def test_axes_are_shown_as_their_figure() -> None:
    drawn = _figure()
    (part,) = observe_whole(drawn.axes[0], "draw", AgentState(), 8_000).images
    assert part.image.size == (100, 50)


@pytest.mark.parametrize(
    ("output", "pixels"),
    [
        (np.array([[0, 255]], "uint8"), [0, 255]),
        (np.array([[[0], [255]]], "uint8"), [0, 255]),
        (np.array([[0.0, 1.0, 0.5]]), [0, 255, 127]),
        (np.array([[-1.0, 3.0]]), [0, 255]),
        (np.array([[True, False]]), [255, 0]),
        (np.array([[[0.0, 0.5, 1.0]]]), [(0, 127, 255)]),
        (_png(), [7]),
    ],
    ids=["grey", "one channel", "floats", "any floats", "bools", "colours", "file"],
)
def test_array_and_file_are_shown_where_the_author_says_that_they_are_images(
    output: Any, pixels: list[Any]
) -> None:
    (part,) = observe_whole(output, "draw", AgentState(), 8_000, is_image=True).images
    assert [part.image.getpixel((x, 0)) for x in range(part.image.width)] == pixels
    assert observe_whole(output, "draw", AgentState(), 8_000).images == ()


class _Unwilling:
    def savefig(self, file: Any, **options: str) -> None:
        raise RuntimeError(options)


class _FarAway:
    """Does something for each name that it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        raise AttributeError(name)


@pytest.mark.parametrize(
    "output",
    [
        _Unwilling(),
        Figure(figsize=(1_000, 1_000), dpi=100),
        np.zeros((0, 4, 3), dtype="uint8"),
        np.zeros((5, 4, 3)),
        object(),
    ],
    ids=["raises", "huge", "empty", "floats", "object"],
)
def test_what_cannot_be_drawn_is_told_without_an_image(output: Any) -> None:
    seen = observe_whole(output, "draw", AgentState(), 8_000)
    assert seen.images == ()
    assert seen.bound_to == "draw_1"


def test_object_is_not_asked_whether_it_is_a_picture() -> None:
    output = _FarAway()
    observe_whole(output, "draw", AgentState(), 8_000)
    assert {"savefig", "__array_interface__"} & set(output.asked) == set()


def test_array_of_very_many_pixels_is_shown_small() -> None:
    (part,) = observe_whole(
        np.broadcast_to(np.zeros(3, dtype="uint8"), (60_000, 60_000, 3)), "draw", AgentState(), 8_000
    ).images
    assert max(part.image.size) <= 1_568


# -- broken images -------------------------------------------------------------------------------


def _truncated() -> Image.Image:
    whole = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(whole, "PNG")
    return Image.open(io.BytesIO(whole.getvalue()[:-200]))


def _closed() -> Image.Image:
    file = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(file, "PNG")
    with Image.open(file) as image:
        return image


@pytest.mark.parametrize("make", [_truncated, _closed, lambda: Image.new("RGB", (0, 5))])
@pytest.mark.parametrize("kind", [ToolCallingAgent, CodeAgent])
def test_broken_image_of_a_tool_is_told_and_the_run_goes_on(make: Any, kind: Any) -> None:
    def photo() -> Image.Image:
        """Take a photo."""
        return make()

    act = "<code>photo()</code>" if kind is CodeAgent else ScriptedModel.calls(("photo", {}))
    end = "<code>final_answer(1)</code>" if kind is CodeAgent else ScriptedModel.final(1)
    model = ScriptedModel([act, end, end], capabilities=Capabilities(images=True))
    agent = kind([photo], model)
    result = agent.run("Take one.")
    assert (result.status, result.value) == ("answered", 1)
    assert agent.run("Again.", reset=False).status == "answered"
    if kind is ToolCallingAgent:
        assert "Its pixels cannot be read: " in (result.actions[0].observations or "")


def test_broken_image_beside_a_task_is_refused_before_anything() -> None:
    agent = ToolCallingAgent([], ScriptedModel([]))
    with pytest.raises(OptionError, match=r"cannot be read: .*Give a whole image"):
        agent.run("Look.", images=[_truncated()])
