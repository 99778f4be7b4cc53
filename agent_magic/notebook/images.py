"""Notebook values that are pictures, as pillow images for a model that sees.

It must not change a value, nor import a plotting library: figures draw themselves.
"""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

_MAX_SIDE = 1568
"""Pixels; larger pictures are scaled down by every provider anyway, at the person's cost."""


def to_image(value: Any) -> Image.Image | None:
    """A picture for a model, or None if the value is no picture.

    Pictures are pillow images, figures (anything with `savefig`), and `uint8` arrays of shape
    (height, width, 3 or 4).
    """
    if isinstance(value, Image.Image):
        return _bounded(value)
    if callable(getattr(value, "savefig", None)):
        drawn = io.BytesIO()
        value.savefig(drawn, format="png")
        drawn.seek(0)
        return _bounded(Image.open(drawn))
    shape = getattr(value, "shape", None)
    if (
        str(getattr(value, "dtype", "")) == "uint8"
        and isinstance(shape, tuple)
        and len(shape) == 3
        and shape[2] in (3, 4)
    ):
        return _bounded(Image.fromarray(value))
    return None


def _bounded(image: Image.Image) -> Image.Image:
    if max(image.size) <= _MAX_SIDE:
        return image
    small = image.copy()
    small.thumbnail((_MAX_SIDE, _MAX_SIDE))
    return small
