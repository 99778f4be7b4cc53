"""Images that tools returned, in each form of a run."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot
from PIL import Image
from view.markup import ATTACKS, ATTRIBUTES, ELEMENTS, Page
from view.samples import action, call, run

from agent_magic.core.messages import ImagePart
from agent_magic.record.run import to_record
from agent_magic.record.schema import RUN_MIME, RunRecord
from agent_magic.view.bundle import step_to_bundle, to_bundle, to_live_bundle
from agent_magic.view.html import to_html
from agent_magic.view.markdown import to_markdown
from agent_magic.view.plain import to_text


def noise(seed: int) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 255, (500, 600, 3), dtype="uint8")
    return Image.fromarray(pixels)


def drawn(*images: Any, n_steps: int = 1) -> RunRecord:
    parts = tuple(ImagePart(image=image) for image in images)
    return to_record(
        run(
            *(
                action(n, call("draw", {}, f"call_{n}", observation="drawn", images=parts))
                for n in range(1, n_steps + 1)
            )
        )
    )


def with_images(*images: str) -> RunRecord:
    """A record in which somebody wrote other images."""
    record = drawn(Image.new("L", (3, 3)))
    record["steps"][0]["calls"][0]["images"] = list(images)  # type: ignore[typeddict-item] # of an action
    return record


def test_html_shows_an_image_with_words_for_those_who_do_not_see_it() -> None:
    record = drawn(Image.new("RGB", (30, 20), "red"))
    page = Page(to_html(record))
    (url,) = record["steps"][0]["calls"][0]["images"]  # type: ignore[typeddict-item] # of an action
    assert page.elements.count("img") == 1
    assert ("src", url) in page.attributes
    assert ("alt", "image 30 × 20") in page.attributes


def test_text_forms_tell_of_an_image() -> None:
    record = drawn(Image.new("RGB", (1_200, 800)), Image.new("L", (0, 5)))
    assert to_text(record).split("drawn\n")[-1] == snapshot("""\
        image 1200 × 800
        image 0 × 5

Answer
    Biscoe.\
""")
    assert to_markdown(record).split("drawn\n")[-1] == snapshot("""\
```

- `image 1200 × 800`

- `image 0 × 5`

**Answer**

```text
Biscoe.
```
""")


def test_step_alone_shows_its_image() -> None:
    (step,) = drawn(Image.new("L", (3, 3)))["steps"]
    bundle = step_to_bundle(step)
    assert bundle["text/html"].count("<img ") == 1
    assert "image 3 × 3" in bundle["text/plain"]


def test_bundle_that_is_drawn_again_and_again_has_no_images() -> None:
    html = to_live_bundle(drawn(Image.new("L", (3, 3))))["text/html"]
    assert "<img" not in html
    assert "image 3 × 3" in html


@pytest.mark.parametrize(
    "image",
    [
        *ATTACKS,
        "data:image/svg+xml;base64,PHN2Zz4=",
        'data:image/png;base64,AAAA" onerror="window.hit=1',
        "data:image/png;base64,AAAA\n",
        "data:image/png;base64,",
        "data:text/html;base64,AAAA",
        "https://127.0.0.1/x.png",
        "data:image/png;base64," + "A" * 200_000,
    ],
)
def test_html_makes_no_image_of_what_our_encoder_did_not_write(image: str) -> None:
    page = Page(to_html(with_images(image)))
    assert page.is_balanced
    assert set(page.elements) <= ELEMENTS - {"img"}
    assert {name for name, _ in page.attributes} <= ATTRIBUTES - {"src", "alt"}


@pytest.mark.parametrize("n_steps", [3, 60, 150])
def test_bundle_is_under_800_kilobytes_with_images_in_every_step(n_steps: int) -> None:
    record = drawn(*map(noise, range(4)), n_steps=n_steps)
    bundle = to_bundle(record)
    assert len(json.dumps(bundle, indent=1)) < 800_000
    assert len(json.dumps(bundle[RUN_MIME])) < 400_000
    assert "image 600 × 500" in bundle["text/markdown"] or n_steps > 100
