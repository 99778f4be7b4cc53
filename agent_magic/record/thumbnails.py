"""Images as a record holds them: small, in a `data:` URL; or in words, where that is too much.

It must not change an image, nor raise or wait for one that is broken or huge.
"""

from __future__ import annotations

import base64
import io
import re
import weakref
from collections.abc import Sequence

from agent_magic.core.messages import ImagePart
from agent_magic.core.picture import is_picture
from agent_magic.core.steps import ActionStep
from agent_magic.core.values import Value
from agent_magic.record.clean import cut_text
from agent_magic.record.schema import AnyStepRecord, StepRecord

MAX_IMAGES = 4
"""The most images of a call that are shown; the rest is counted."""
_MAX_OF_STEP = 24
_BOUNDS = ((640, 960, 80), (480, 720, 70), (320, 480, 60))
"""Pixels of width and height, and the quality of a JPEG; tried one after the other."""
_MAX_CHARS = 60_000
_SMALL_CHARS = 12_000
"""A PNG of so many is not worth a JPEG."""
_LEAST_CHARS = 2_000
"""Where less is left, none is made."""
_WORDS_CHARS = 80
_JPEG_GAIN = 0.6
_MAX_PIXELS = 40_000_000
"""A larger one is not looked at: a file of some kB may hold as many as it likes."""
_URL = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/]+={0,2}")
_SIZE_MARK = b"agent-magic original "
_SIZE = re.compile(_SIZE_MARK + rb"([0-9]{1,9})x([0-9]{1,9})")
_HEAD_CHARS = 400
"""Of base64; in them stands the mark."""

_kept: dict[tuple[int, str], tuple[weakref.ref[Value], str]] = {}
"""Thumbnails by image and call, as the image looked when the call had ended."""


def say_images(images: Sequence[ImagePart]) -> list[str]:
    """Images of a call in words."""
    n_more = len(images) - MAX_IMAGES
    rest = [f"{n_more} more image{'s' if n_more > 1 else ''}"] if n_more > 0 else []
    return [*(_words_of(part.image) for part in images[:MAX_IMAGES]), *rest]


def show_images(record: StepRecord, step: ActionStep, max_chars: int) -> int:
    """Put `data:` URLs into the record of a step, in which its images stand in words.

    Args:
        max_chars: Of all URLs together; an image for which nothing is left stays in words.

    Returns:
        How many of these are used up.
    """
    n_chars = n_looked_at = 0
    for call, result in zip(record.get("calls", ()), step.tool_results, strict=False):
        for place, part in enumerate(result.images[:MAX_IMAGES]):
            if n_chars + _LEAST_CHARS > max_chars or n_looked_at >= _MAX_OF_STEP:
                return n_chars
            n_looked_at += 1
            shown = _show(part.image, result.call.id)
            if not is_shown(shown):
                continue
            if n_chars + len(shown) > max_chars:
                return max_chars  # to look for one that fits would mean to make them all
            call.setdefault("images", [])[place] = shown
            n_chars += len(shown)
    return n_chars


def keep_images(steps: Sequence[AnyStepRecord], max_chars: int) -> list[AnyStepRecord]:
    """The steps with `data:` URLs of so many characters, the last ones first; the others become words."""
    kept: list[AnyStepRecord] = []
    left = max_chars
    for step in reversed(steps):
        if "plan" in step or not any("images" in call for call in step.get("calls", ())):
            kept.append(step)
            continue
        shorter, left = _keep(step, left)
        kept.append(shorter)
    return kept[::-1]


def n_chars_of_images(step: AnyStepRecord) -> int:
    """How many characters the `data:` URLs in the record of a step have."""
    calls = () if "plan" in step else step.get("calls", ())
    return sum(len(image) for call in calls for image in call.get("images", ()) if is_shown(image))


def is_shown(image: str) -> bool:
    """Whether it is a `data:` URL of ours, and no words."""
    return len(image) <= _MAX_CHARS and _URL.fullmatch(image) is not None


def to_words(image: str) -> str:
    """Words for what `show_images` gave: `image 1200 × 800`."""
    if not image.startswith("data:"):
        return image
    head = image[: image.find(",") + 1 + _HEAD_CHARS].partition(",")[2]
    try:
        size = _SIZE.search(base64.b64decode(head[: len(head) // 4 * 4]))
    except ValueError:
        size = None
    return f"image {int(size[1])} × {int(size[2])}" if size else "image"


def _keep(step: StepRecord, left: int) -> tuple[StepRecord, int]:
    kept = step.copy()
    kept["calls"] = calls = [call.copy() for call in step.get("calls", ())]
    for call in calls:
        images: list[str] = []
        for image in call.get("images", ()):
            fits = is_shown(image) and len(image) <= left
            left -= len(image) if fits else 0
            images.append(image if fits else cut_text(to_words(image), _WORDS_CHARS))
        if images:
            call["images"] = images
    return kept, left


def _show(image: Value, call_id: str) -> str:
    key = (id(image), call_id)
    kept = _kept.get(key)
    if kept is not None and kept[0]() is image:
        return kept[1]
    try:
        shown = _encode(image) or _words_of(image)
    except Exception:  # noqa: BLE001 - a broken file, or a class of the person's
        shown = _words_of(image)
    try:
        _kept[key] = (weakref.ref(image, lambda _: _kept.pop(key, None)), shown)
    except TypeError:  # cannot be referred to weakly
        return shown
    return shown


def _words_of(image: Value) -> str:
    size = _size_of(image)
    return "image" if size is None else f"image {size[0]} × {size[1]}"


def _size_of(image: Value) -> tuple[int, int] | None:
    try:
        width, height = image.size
        return (int(width), int(height)) if 0 <= width < 10**9 and 0 <= height < 10**9 else None
    except Exception:  # noqa: BLE001 - it may be anything at all
        return None


def _encode(image: Value) -> str | None:
    size = _size_of(image)
    if not is_picture(image) or size is None or not 0 < size[0] * size[1] <= _MAX_PIXELS:
        return None
    small = _reduce(image, size, *_BOUNDS[0][:2])
    for width, height, quality in _BOUNDS:
        small.thumbnail((width, height))
        url = _write(small, size, quality)
        if len(url) <= _MAX_CHARS:
            return url
    return None


def _reduce(image: Value, size: tuple[int, int], width: int, height: int) -> Value:
    """A copy in a mode that is written, not much larger than these bounds."""
    plain = _to_plain_mode(image)
    factor = min(max(size[0] // (2 * width), size[1] // (2 * height), 1), *size)
    return plain.reduce(factor) if factor > 1 else plain.copy()


def _to_plain_mode(image: Value) -> Value:
    """The image in L, RGB or RGBA; of another depth from its darkest to its lightest."""
    mode = image.mode
    if mode in ("L", "RGB", "RGBA"):
        return image
    if mode[0] in "IF":
        wide = image.convert("F")
        low, high = wide.getextrema()
        scale = 255 / (high - low) if high > low else 0.0
        return wide.point(lambda value: value * scale - low * scale).convert("L")
    if mode in ("LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return image.convert("RGBA")
    return image.convert("L" if mode == "1" else "RGB")


def _write(image: Value, size: tuple[int, int], quality: int) -> str:
    """As a PNG, or as a JPEG where that is much smaller."""
    from PIL.PngImagePlugin import PngInfo  # noqa: PLC0415 - slow, and only a run with images needs it

    mark = _SIZE_MARK + f"{size[0]}x{size[1]}".encode()
    info = PngInfo()
    info.add_text("Comment", mark.decode())
    bare = image.copy()
    bare.info = {}  # neither a profile nor a camera's notes go into a notebook
    file = io.BytesIO()
    bare.save(file, "PNG", pnginfo=info)
    png = _to_url("png", file)
    if len(png) <= _SMALL_CHARS:
        return png
    file = io.BytesIO()
    _on_white(bare).save(file, "JPEG", quality=quality, comment=mark)
    jpeg = _to_url("jpeg", file)
    return jpeg if len(png) > _MAX_CHARS or len(jpeg) < _JPEG_GAIN * len(png) else png


def _on_white(image: Value) -> Value:
    if image.mode != "RGBA":
        return image
    from PIL import Image  # noqa: PLC0415 - slow, and only a run with images needs it

    white = Image.new("RGB", image.size, "white")
    white.paste(image, mask=image.getchannel("A"))
    return white


def _to_url(kind: str, file: io.BytesIO) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
