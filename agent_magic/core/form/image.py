"""Images as plain JSON and back, with no pixel lost.

It must not import pillow to write: where it is not loaded, there is no image. Only reading one does.
"""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Sequence
from typing import cast, overload

from agent_magic.core.values import Value

_PNG_MODES = frozenset({"1", "L", "LA", "RGB", "RGBA"})
"""Those that come back from a PNG as they were. It keeps 16 of the 32 bits of `I`, and trims palettes."""
_KEPT_INFO = ("icc_profile", "transparency")
"""What decides how pixels look, beside the pixels; a PNG holds both itself."""


def is_image(value: Value) -> bool:
    """Whether the value is a `PIL.Image.Image`."""
    module = sys.modules.get("PIL.Image")
    return module is not None and issubclass(cast("type[Value]", type(value)), module.Image)


def write_image(image: Value) -> dict[str, Value]:
    """The image as a PNG in base64, or as mode, size and raw bytes if its mode needs them.

    Of several frames, the one that it shows now.

    Raises:
        Exception: Of any kind, if its file turns out broken or gone only now.
    """
    if image.mode in _PNG_MODES:
        png = _write_png(image)
        if png is not None:
            return {"png": _write_bytes(png)}
    form: dict[str, Value] = {
        "mode": image.mode,
        "size": list(image.size),
        "data": _write_bytes(image.tobytes()),
    }
    if image.palette is not None:
        palette = image.palette.mode
        form["palette"] = {"mode": palette, "data": _write_bytes(bytes(image.getpalette(palette)))}
    for name in _KEPT_INFO:
        info = image.info.get(name)
        if type(info) is int:
            form[name] = info
        elif type(info) is bytes:
            form[name] = _write_bytes(info)
    return form


def read_image(form: dict[str, Value]) -> Value:
    """The image that `write_image` wrote.

    Raises:
        Exception: Of any kind, as pillow gives it, if this is no such form.
    """
    from PIL import Image  # noqa: PLC0415 - slow, and only a memory with images needs it

    if "png" in form:
        with Image.open(io.BytesIO(_read_bytes(form["png"])), formats=("PNG",)) as file:
            return file.copy()
    width, height = form["size"]
    image = Image.frombytes(form["mode"], (width, height), _read_bytes(form["data"]))
    if "palette" in form:
        image.putpalette(_read_bytes(form["palette"]["data"]), form["palette"]["mode"])
    for name in _KEPT_INFO:
        if name in form:
            info = form[name]
            image.info[name] = info if type(info) is int else _read_bytes(info)
    return image


class LazyImages(Sequence[Value]):
    """Written images, each read when it is asked for."""

    def __init__(self, forms: Sequence[Value]) -> None:
        self._forms = forms
        self._images: dict[int, Value] = {}

    def __len__(self) -> int:
        return len(self._forms)

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Value]: ...
    def __getitem__(self, index: int | slice) -> Value:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if index not in self._images:
            self._images[index] = read_image(self._forms[index])
        return self._images[index]


def _write_png(image: Value) -> bytes | None:
    file = io.BytesIO()
    try:
        image.save(file, "PNG", compress_level=1)
    except Exception:  # noqa: BLE001 - empty images, and transparency that a PNG cannot hold, are written raw
        return None
    return file.getvalue()


def _write_bytes(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _read_bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
