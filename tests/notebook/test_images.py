from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from cells import final
from matplotlib.figure import Figure
from PIL import Image

from agent_magic.agents.run.pictures import to_image
from agent_magic.models.model import Capabilities

SEES = Capabilities(images=True)


def figure() -> Figure:
    drawn = Figure(figsize=(2, 1), dpi=50)
    drawn.subplots().plot([1, 2, 3])
    return drawn


def test_pillow_image_is_taken_as_it_is():
    image = Image.new("RGB", (30, 20), "red")
    assert to_image(image) is image


def test_figure_is_drawn():
    assert to_image(figure()).size == (100, 50)


@pytest.mark.parametrize("channels", [3, 4])
def test_array_of_bytes_is_a_picture(channels):
    pixels = np.zeros((20, 30, channels), dtype="uint8")
    pixels[0, 0] = 255
    image = to_image(pixels)
    assert image.size == (30, 20)
    assert image.getpixel((0, 0)) == (255,) * channels
    assert image.getpixel((1, 0)) == (0,) * channels


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((20, 30, 3)),
        np.zeros((20, 30), dtype="uint8"),
        np.zeros((20, 30, 5), dtype="uint8"),
        [[1, 2]],
        "picture.png",
        None,
    ],
    ids=["floats", "two dimensions", "five channels", "list", "text", "None"],
)
def test_other_values_are_no_pictures(value):
    assert to_image(value) is None


def test_large_picture_is_scaled_and_the_person_s_own_is_left():
    image = Image.new("RGB", (4_000, 1_000))
    assert to_image(image).size == (1_568, 392)
    assert image.size == (4_000, 1_000)


# -- in a cell ----------------------------------------------------------------------------------


@pytest.fixture
def drawn(cells):
    """Cells with a picture of each kind."""
    cells.shell.user_ns.update(
        photo=Image.new("RGB", (30, 20), "red"),
        chart=figure(),
        pixels=np.zeros((5, 4, 3), dtype="uint8"),
        table=np.zeros((5, 4)),
    )
    return cells


def sent_images(request):
    parts = [
        part
        for message in request.messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]
    data = [part["image_url"]["url"].partition("base64,")[2] for part in parts]
    return [Image.open(io.BytesIO(base64.b64decode(each))).size for each in data]


def test_mentioned_pictures_are_sent_to_a_model_that_sees(drawn):
    model = drawn.model(final("x"), capabilities=SEES)
    done = drawn.run("%%agent bot --model @m\nWhat do @photo, @chart, @pixels and @table show?")
    assert sent_images(model.requests[0]) == [(30, 20), (100, 50), (4, 5)]
    assert [part.name for part in drawn.agent().result.steps[0].images] == ["photo", "chart", "pixels"]
    assert all(f"    @{name}" in done.text for name in ("photo", "chart", "pixels"))


def test_mentioned_picture_is_told_as_a_variable_too(drawn):
    model = drawn.model(final("photo"), capabilities=SEES)
    assert drawn.run("%%agent bot --model @m\nGive @photo.").value is drawn["photo"]
    assert "- @photo: Image, 30 × 20 pixels, mode RGB" in str(model.requests[0].messages)


def test_pictures_are_not_sent_to_a_model_that_does_not_see(drawn):
    model = drawn.model(final("x"))
    drawn.run("%%agent bot --model @m\nWhat does @photo show?")
    assert sent_images(model.requests[0]) == []
    assert drawn.agent().result.steps[0].images == ()


def test_images_none_stops_them_and_stays(drawn):
    model = drawn.model(final("x"), final("y"), final("z"), capabilities=SEES)
    drawn.run("%%agent bot --model @m --images none\nWhat does @photo show?")
    drawn.run("%%agent bot\nAnd @chart?")
    assert sent_images(model.requests[1]) == []
    drawn.run("%%agent bot --images auto\nAnd @pixels?")
    assert sent_images(model.requests[2]) == [(4, 5)]


def test_images_of_the_magics_hold_for_new_agents(drawn):
    drawn.define("%config AgentMagics.images = 'none'")
    model = drawn.model(final("x"), capabilities=SEES)
    drawn.run("%%agent bot --model @m\nWhat does @photo show?")
    assert sent_images(model.requests[0]) == []


def test_state_all_sends_only_the_pictures_that_are_mentioned(drawn):
    model = drawn.model(final("x"), capabilities=SEES)
    drawn.run("%%agent bot --model @m --state all\nWhat does @photo show?")
    assert sent_images(model.requests[0]) == [(30, 20)]
