"""Images to JSON and back: size, mode and pixels are the same."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest
from PIL import Image

from agent_magic.core.form.image import is_image, read_image, write_image


def _noise(mode: str, size: tuple[int, int] = (7, 5)) -> Image.Image:
    """An image of any mode, with all its bytes in use."""
    if mode == "1":
        return _noise("L", size).point(lambda level: 255 * (level % 3 == 0)).convert("1")
    n_bytes = len(Image.new(mode, size).tobytes())
    image = Image.frombytes(mode, size, bytes((17 * i * i + 3 * i) % 251 for i in range(n_bytes)))
    if mode in ("P", "PA"):
        image.putpalette([(5 * i) % 256 for i in range(768)])
    return image


def _there_and_back(image: Image.Image) -> Any:
    form = write_image(image)
    again = read_image(json.loads(json.dumps(form, allow_nan=False)))
    assert write_image(again) == form
    return again


@pytest.mark.parametrize(
    "mode",
    [
        *("1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBX", "RGBa"),
        *("CMYK", "YCbCr", "LAB", "HSV", "I", "F", "I;16", "I;16B"),
    ],
)
def test_image_of_any_mode_comes_back_with_equal_pixels(mode: str) -> None:
    image = _noise(mode)
    again = _there_and_back(image)
    assert (again.mode, again.size, again.tobytes()) == (image.mode, image.size, image.tobytes())
    assert again.getpalette() == image.getpalette()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA"])
def test_image_is_a_png_that_others_can_read_where_a_png_holds_its_mode(mode: str) -> None:
    assert list(write_image(_noise(mode))) == ["png"]


@pytest.mark.parametrize("size", [(0, 0), (0, 4), (3, 0)])
def test_image_without_pixels_comes_back(size: tuple[int, int]) -> None:
    again = _there_and_back(Image.new("RGB", size))
    assert (again.mode, again.size) == ("RGB", size)


def test_palette_with_its_own_transparency_comes_back() -> None:
    image = _noise("P")
    image.putpalette([i % 256 for i in range(1024)], "RGBA")
    again = _there_and_back(image)
    assert again.convert("RGBA").tobytes() == image.convert("RGBA").tobytes()


@pytest.mark.parametrize("transparency", [3, bytes(range(256))])
def test_transparency_of_a_palette_image_comes_back(transparency: Any) -> None:
    image = _noise("P")
    image.info["transparency"] = transparency
    again = _there_and_back(image)
    assert again.convert("RGBA").tobytes() == image.convert("RGBA").tobytes()


def test_image_with_transparency_that_a_png_cannot_hold_comes_back() -> None:
    image = _noise("RGB")
    image.info["transparency"] = b"of another mode"
    again = _there_and_back(image)
    assert (again.mode, again.tobytes()) == ("RGB", image.tobytes())


def test_image_from_a_file_comes_back_as_an_image_in_memory() -> None:
    file = io.BytesIO()
    _noise("RGB", (20, 20)).save(file, "JPEG", icc_profile=b"a profile", dpi=(72, 72))
    image = Image.open(file)
    again = _there_and_back(image)
    assert type(again) is Image.Image
    assert again.tobytes() == image.tobytes()
    assert again.info["icc_profile"] == b"a profile"


def test_writing_an_image_leaves_it_as_it_is() -> None:
    image = _noise("P")
    image.info["note"] = "mine"
    before = (image.mode, image.tobytes(), dict(image.info))
    write_image(image)
    assert (image.mode, image.tobytes(), image.info) == before


def test_is_image_knows_images_and_runs_no_code_of_others() -> None:
    class Sly:
        @property
        def __class__(self) -> Any:
            raise RuntimeError("asked")

    assert is_image(_noise("L"))
    assert not is_image(Sly())
    assert not is_image("L")


def test_writing_does_not_import_pillow() -> None:
    script = (
        "import sys; from agent_magic.core.memory import AgentMemory; "
        "AgentMemory.from_dict(AgentMemory('x').to_dict()); sys.exit('PIL' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    "form",
    [{"png": "no base64!"}, {"png": "AAAA"}, {"mode": "RGB", "size": [9, 9], "data": "AAAA"}, {}, None],
)
def test_reading_refuses_what_is_no_image(form: Any) -> None:
    with pytest.raises(Exception):  # noqa: B017 - whatever pillow says of it; the reader of the memory tells it
        read_image(form)
