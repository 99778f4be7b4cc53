from __future__ import annotations

import base64
import gc
import io
import time
from typing import Any

import numpy as np
import pytest
from PIL import Image
from view.samples import action, call, plan, run

from agent_magic.core.events import RunStarted, StepEnded
from agent_magic.core.messages import ImagePart
from agent_magic.core.steps import TaskStep
from agent_magic.record import thumbnails
from agent_magic.record.clean import stored_size
from agent_magic.record.draft import RunDraft
from agent_magic.record.lane import to_step_record
from agent_magic.record.run import MAX_BYTES, fit_record, to_record
from agent_magic.record.thumbnails import is_shown, keep_images, to_words

KEY = "sk-proj-abcdefghijklmnop1234"


def noise(width: int, height: int, channels: int = 3) -> Image.Image:
    """What no encoder makes small."""
    pixels = np.random.default_rng(0).integers(0, 255, (height, width, channels), dtype="uint8")
    return Image.fromarray(pixels)


def step_with(*images: Any, number: int = 1) -> Any:
    parts = tuple(ImagePart(image=image) for image in images)
    return action(number, call("draw", {}, f"call_{number}", observation="drawn", images=parts))


def images_of(step: Any) -> list[str]:
    return to_step_record(step)["calls"][0]["images"]


def shown(image: Any) -> str:
    (one,) = images_of(step_with(image))
    return one


def decode(url: str) -> Image.Image:
    image = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    image.load()
    return image


def photo(width: int, height: int) -> Image.Image:
    """Colours that run into each other, and some noise."""
    across = np.linspace(0, 200, width)[None, :, None]
    down = np.linspace(0, 40, height)[:, None, None]
    grain = np.random.default_rng(0).integers(0, 12, (height, width, 3))
    return Image.fromarray((across + down + grain).astype("uint8"))


def test_image_is_shown_small_and_says_how_large_it_was() -> None:
    url = shown(photo(1_200, 800))
    assert url.startswith("data:image/jpeg;base64,")
    assert is_shown(url)
    assert decode(url).size == (640, 427)
    assert len(url) <= 60_000
    assert to_words(url) == "image 1200 × 800"


def test_image_that_is_too_rich_is_shown_smaller() -> None:
    url = shown(noise(1_200, 800))
    assert decode(url).size == (480, 320)
    assert len(url) <= 60_000


def test_drawing_of_few_colours_stays_as_sharp_as_it_is() -> None:
    image = Image.new("RGB", (300, 200), "white")
    image.paste((255, 0, 0), (10, 10, 40, 40))
    url = shown(image)
    assert url.startswith("data:image/png;base64,")
    assert decode(url).tobytes() == image.tobytes()
    assert to_words(url) == "image 300 × 200"


MODES = ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "HSV", "LAB", "I", "F"]


@pytest.mark.parametrize("mode", [*MODES, "I;16", "I;16B"])
def test_image_of_each_mode_is_shown(mode: str) -> None:
    assert decode(shown(Image.new(mode, (70, 50)))).size == (70, 50)


def test_image_of_16_bits_is_shown_from_its_darkest_to_its_lightest() -> None:
    image = Image.fromarray(np.array([[1_000, 2_000, 3_000]], dtype="uint16"))
    assert [decode(shown(image)).getpixel((x, 0)) for x in range(3)] == [0, 127, 255]


def test_transparency_is_kept() -> None:
    image = Image.new("RGBA", (20, 20), (255, 0, 0, 128))
    assert decode(shown(image)).getpixel((0, 0)) == (255, 0, 0, 128)


def test_of_an_animation_the_frame_that_it_shows_is_shown() -> None:
    file = io.BytesIO()
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue")]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    image = Image.open(file)
    image.seek(1)
    assert decode(shown(image)).convert("RGB").getpixel((0, 0)) == (0, 0, 255)
    assert image.tell() == 1


def test_nothing_that_a_file_tells_beside_its_pixels_is_in_it() -> None:
    image = Image.new("RGB", (300, 200))
    image.info = {"comment": KEY, "exif": KEY.encode(), "icc_profile": KEY.encode(), "Title": KEY}
    assert KEY.encode() not in base64.b64decode(shown(image).partition(",")[2])


class Broken(Image.Image):
    """Its methods raise."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names
        self._size = (30, 20)
        self._mode = "RGB"

    def __getattribute__(self, name: str) -> Any:
        if name in object.__getattribute__(self, "__dict__").get("names", ()):
            raise RuntimeError(name)
        return super().__getattribute__(name)


def cut_in_half() -> Image.Image:
    file = io.BytesIO()
    noise(300, 200).save(file, "PNG")
    return Image.open(io.BytesIO(file.getvalue()[: len(file.getvalue()) // 2]))


def closed() -> Image.Image:
    file = io.BytesIO()
    Image.new("RGB", (30, 20)).save(file, "PNG")
    image = Image.open(file)
    file.close()
    return image


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (Broken("load"), "image 30 × 20"),
        (Broken("copy", "reduce"), "image 30 × 20"),
        (Broken("mode"), "image 30 × 20"),
        (Broken("size"), "image"),
        (cut_in_half(), "image 300 × 200"),
        (closed(), "image 30 × 20"),
        (Image.new("L", (0, 5)), "image 0 × 5"),
        (None, "image"),
        ("<img src=x>", "image"),
        (np.zeros((3, 3, 3), dtype="uint8"), "image"),
    ],
)
def test_broken_image_stands_in_words(image: Any, words: str) -> None:
    assert shown(image) == words


def test_file_that_would_be_gigabytes_of_pixels_is_not_looked_at() -> None:
    bomb = Image.new("1", (8, 8))
    bomb._size = (60_000, 60_000)
    began = time.perf_counter()
    assert shown(bomb) == "image 60000 × 60000"
    assert time.perf_counter() - began < 2  # its pixels would take minutes


@pytest.mark.parametrize("size", [(30_000, 1), (1, 30_000), (6_000, 6_000)])
def test_image_of_any_shape_is_shown_within_bounds(size: tuple[int, int]) -> None:
    image = decode(shown(Image.new("RGB", size)))
    assert image.width <= 640
    assert image.height <= 960


def test_call_shows_four_images_and_counts_the_rest() -> None:
    images = [Image.new("L", (n, n)) for n in range(1, 8)]
    urls = images_of(step_with(*images))
    assert [decode(url).size for url in urls[:4]] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert urls[4:] == ["3 more images"]


def test_image_is_shown_as_it_was_when_the_call_ended() -> None:
    image = Image.new("RGB", (20, 20), "red")
    first, second = step_with(image), step_with(image, number=2)
    red = images_of(first)
    image.paste((0, 0, 255), (0, 0, 20, 20))
    assert images_of(first) == red
    assert images_of(second) != red


def test_thumbnail_goes_with_its_image() -> None:
    gc.collect()
    before = len(thumbnails._kept)
    image = Image.new("RGB", (20, 20))
    shown(image)
    assert len(thumbnails._kept) == before + 1
    del image
    gc.collect()
    assert len(thumbnails._kept) == before


def test_step_shows_images_within_200_kb() -> None:
    parts = tuple(ImagePart(image=noise(600, 500)) for _ in range(4))
    results = [call("draw", {}, f"call_{n}", observation="drawn", images=parts) for n in range(3)]
    images = [image for one in to_step_record(action(1, *results))["calls"] for image in one["images"]]
    assert sum(map(len, filter(is_shown, images))) <= 200_000
    assert {image for image in images if not is_shown(image)} == {"image 600 × 500"}
    assert is_shown(images[0])


def test_run_shows_the_images_of_its_last_steps_within_200_kb() -> None:
    steps = [step_with(noise(600, 500), number=n) for n in range(1, 31)]
    record = to_record(run(plan(1, "Draw."), *steps))
    images = [step["calls"][0]["images"][0] for step in record["steps"] if "plan" not in step]
    n_shown = sum(map(is_shown, images))
    assert sum(map(len, filter(is_shown, images))) <= 200_000
    assert n_shown >= 3
    assert all(map(is_shown, images[-n_shown:]))
    assert images[0] == "image 600 × 500"


def test_record_gives_up_images_before_it_cuts_texts() -> None:
    steps = [step_with(noise(600, 500), number=n) for n in range(1, 5)]
    texts = [action(n, thought_of(n), model_output="x" * 7_900) for n in range(5, 51)]
    record = to_record(run(*steps, *texts))
    assert stored_size(record) <= MAX_BYTES
    assert {step["thought"] for step in record["steps"][4:]} == {"x" * 7_900}
    assert not any(is_shown(step["calls"][0]["images"][0]) for step in record["steps"][:4])


def thought_of(n: int) -> Any:
    return call("think", {}, f"call_{n}", observation="")


def test_record_is_the_same_bytes_each_time_with_images() -> None:
    done = run(step_with(noise(600, 500)))
    assert to_record(done) == to_record(done)


def test_snapshot_and_memory_take_the_room_that_images_had() -> None:
    record = to_record(run(*[step_with(noise(600, 500), number=n) for n in range(1, 5)]))
    assert stored_size(record) > 100_000
    small = fit_record(record, 60_000)
    assert stored_size(small) <= 60_000
    assert [step["calls"][0]["images"] for step in small["steps"][:3]] == [["image 600 × 500"]] * 3
    assert is_shown(small["steps"][3]["calls"][0]["images"][0])


def test_words_of_a_record_that_was_edited_are_kept_short_and_its_urls_are_none() -> None:
    step = to_step_record(step_with(Image.new("L", (3, 3))))
    step["calls"][0]["images"] = [
        "x" * 1_000,
        "data:image/svg+xml;base64,AAAA",
        "data:text/html,<b>",
        "data:",
    ]
    (kept,) = keep_images([step], 100_000)
    words, *others = kept["calls"][0]["images"]
    assert len(words) <= 80
    assert others == ["image"] * 3


def test_draft_of_a_run_with_very_many_images_shows_the_first_ones() -> None:
    draft = RunDraft()
    draft.add(RunStarted(run_id="r", agent_name="a", model_id="m", max_steps=99, task=TaskStep(task="Draw.")))
    picture = noise(600, 500)
    for number in range(1, 40):
        draft.add(StepEnded(step=step_with(picture, number=number)))
    images = [step["calls"][0]["images"][0] for step in draft.to_record()["steps"]]
    assert sum(map(len, filter(is_shown, images))) <= 1_000_000
    assert is_shown(images[0])
    assert images[-1] == "image 600 × 500"
