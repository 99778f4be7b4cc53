"""Values that are pictures, as pillow images for a model that sees.

It must not change a value, nor import a plotting library: figures draw themselves.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from agent_magic.core.picture import is_picture
from agent_magic.core.values import Value

if TYPE_CHECKING:
    from PIL import Image

_MAX_SIDE = 1568
"""Pixels; larger pictures are scaled down by every provider anyway, at the person's cost."""
_MAX_FIGURE_PIXELS = 30_000_000


def to_image(value: Value, *, is_sure: bool = False) -> Image.Image | None:
    """A picture for a model, or None if the value is no picture.

    Pictures are pillow images, figures (whatever has a method `savefig`), the axes of a figure, and
    `uint8` arrays of shape (height, width, 3 or 4).

    Args:
        value: Of any kind.
        is_sure: It is known to be a picture, so arrays of other numbers or without colours are too, and
            the bytes of an image file.

    Raises:
        Exception: Of any kind, if the picture is broken.
    """
    if is_picture(value):
        return _bounded(value)
    # Of the class: to ask a value itself for a name may do anything, as with a proxy of something far away.
    kind: Value = type(value)
    if callable(getattr(kind, "savefig", None)):
        return _draw(value)
    if callable(getattr(kind, "get_figure", None)) and callable(getattr(kind, "get_xlim", None)):
        return _draw(value.get_figure())
    if hasattr(kind, "__array_interface__") and (_has_colours(value) or (is_sure and _has_pixels(value))):
        return _of_pixels(value)
    return _of_file(value) if is_sure and kind is bytes else None


def _draw(figure: Value) -> Image.Image | None:
    from PIL import Image  # noqa: PLC0415 - slow, and only a picture needs it

    if _n_pixels(figure) > _MAX_FIGURE_PIXELS:
        return None
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    drawn.seek(0)
    return _bounded(Image.open(drawn))


def _n_pixels(figure: Value) -> float:
    """How many a figure is drawn with; 0 if it does not say."""
    try:
        width, height = figure.get_size_inches()
        return float(width * height * figure.dpi**2)
    except Exception:  # noqa: BLE001 - not every figure is one of matplotlib's
        return 0.0


def _has_colours(array: Value) -> bool:
    return str(array.dtype) == "uint8" and _has_pixels(array) and len(array.shape) == 3 and array.shape[2] > 1


def _has_pixels(array: Value) -> bool:
    shape = array.shape
    is_flat = len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3, 4))
    return is_flat and 0 not in shape and array.dtype.kind in "biuf"


def _of_pixels(array: Value) -> Image.Image:
    from PIL import Image  # noqa: PLC0415 - slow, and only a picture needs it

    height, width = array.shape[:2]
    every = max(1, max(height, width) // (2 * _MAX_SIDE))
    pixels = array[::every, ::every]
    if len(pixels.shape) == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if str(pixels.dtype) != "uint8":  # from black to white, or else from the least to the most
        pixels = pixels.astype("float64")
        low, high = float(pixels.min()), float(pixels.max())
        low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
        pixels = ((pixels - low) / ((high - low) or 1.0) * 255).astype("uint8")
    return _bounded(Image.fromarray(pixels))


def _of_file(data: bytes) -> Image.Image:
    from PIL import Image  # noqa: PLC0415 - slow, and only a picture needs it

    return _bounded(Image.open(io.BytesIO(data)))


def _bounded(image: Image.Image) -> Image.Image:
    if max(image.size) <= _MAX_SIDE:
        return image
    small = image.copy()
    small.thumbnail((_MAX_SIDE, _MAX_SIDE))
    return small
