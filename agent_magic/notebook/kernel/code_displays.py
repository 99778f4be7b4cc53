"""What code of an agent displays, taken out of the shell's stream of displays: its text and its pictures.

It must not touch what anybody else displays meanwhile: tools, the live view, other threads. HTML and
scripts of the code are never let through.
"""

from __future__ import annotations

import base64
import binascii
import io
import threading
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, cast

from agent_magic.core.picture import is_picture
from agent_magic.core.values import Value, safe_repr

_PICTURE = "application/vnd.agent-magic.picture"
"""Under this key a picture itself goes from the formatter to the publisher of one display."""
_IMAGE_TYPES = ("image/png", "image/jpeg")
_OBJECT_OF_IPYTHON = "<IPython.core.display."
_READABLE = ("text/markdown", "text/latex")
"""Told in the place of a text that only names the class."""

_lock = threading.RLock()
_routers: weakref.WeakKeyDictionary[Any, _Router] = weakref.WeakKeyDictionary()


class CodeDisplays:
    """Context manager of one step: what its code displays goes to `tell` and `show`.

    Args:
        shell: IPython's.
        is_ours: Whether what is displayed here and now is the code's.
        tell: Takes the text of a display.
        show: Takes a picture: a Pillow image, or a figure.
    """

    def __init__(
        self,
        shell: Any,
        *,
        is_ours: Callable[[], bool],
        tell: Callable[[str], object],
        show: Callable[[Value], object],
    ) -> None:
        self._shell = shell
        self.is_ours = is_ours
        self._tell = tell
        self._show = show

    def __enter__(self) -> Self:
        with _lock:
            router = _routers.get(self._shell)
            if router is None:
                router = _routers[self._shell] = _Router(self._shell)
            router.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        del kind, error, traceback
        with _lock:
            router = _routers[self._shell]
            router.remove(self)
            if router.is_empty:
                del _routers[self._shell]

    def take(self, data: Mapping[str, Value]) -> None:
        """One display, by MIME type."""
        picture = data.get(_PICTURE)
        if picture is None:
            picture = next((image for mime in _IMAGE_TYPES if (image := _decoded(data.get(mime)))), None)
        if text := _text_of(data):
            self._tell(f"{text}\n")
        if picture is not None:
            self._show(picture)


class _Router:
    """Stands before a shell's publisher and formatter while code runs, and asks of each display whose it is."""

    def __init__(self, shell: Any) -> None:
        self._displays: list[CodeDisplays] = []
        self._publisher, self._formatter = shell.display_pub, shell.display_formatter
        self._publish, self._clear = self._publisher.publish, self._publisher.clear_output
        self._format = self._formatter.format
        # Of these objects alone: their classes, and what else has a publisher, stay as they are.
        self._publisher.publish = self._route
        self._publisher.clear_output = self._route_clear
        self._formatter.format = self._route_format

    @property
    def is_empty(self) -> bool:
        """No step is left."""
        return not self._displays

    def add(self, displays: CodeDisplays) -> None:
        """Ask for a step too."""
        self._displays.append(displays)

    def remove(self, displays: CodeDisplays) -> None:
        """Ask for it no more; with the last one, the shell is as it was."""
        self._displays.remove(displays)
        if not self._displays:
            for owner, name in (
                (self._publisher, "publish"),
                (self._publisher, "clear_output"),
                (self._formatter, "format"),
            ):
                owner.__dict__.pop(name, None)

    def _owner(self) -> CodeDisplays | None:
        return next((each for each in reversed(self._displays) if each.is_ours()), None)

    def _route(self, data: Value, metadata: Value = None, *args: Value, **options: Value) -> Value:
        owner = self._owner()
        if owner is None or not isinstance(data, Mapping):
            return self._publish(data, metadata, *args, **options)
        owner.take(cast("Mapping[str, Value]", data))
        return None

    def _route_clear(self, wait: bool = False) -> Value:
        # What the code has shown is its record: nothing of it is taken away, nor of the cell's output.
        return None if self._owner() is not None else self._clear(wait)

    def _route_format(self, value: Value, *args: Value, **options: Value) -> Value:
        if self._owner() is None or not is_drawn(value):
            return self._format(value, *args, **options)
        return {"text/plain": safe_repr(value, 200), _PICTURE: value}, {}


def is_drawn(value: Value) -> bool:
    """Whether a value is a Pillow image or a figure of matplotlib."""
    return is_picture(value) or is_figure(value)


def is_figure(value: Value) -> bool:
    """Whether a value is a figure of matplotlib; known by its class, which need not be imported."""
    return any(
        kind.__module__ == "matplotlib.figure" and kind.__name__ == "Figure" for kind in type(value).__mro__
    )


def _text_of(data: Mapping[str, Value]) -> str:
    text = data.get("text/plain")
    text = text if isinstance(text, str) else ""
    if text.startswith(_OBJECT_OF_IPYTHON):
        return next((told for mime in _READABLE if isinstance(told := data.get(mime), str)), text)
    return text


def _decoded(data: Value) -> Value:
    """A Pillow image of what a display says is one; None if it is none."""
    from PIL import Image  # noqa: PLC0415 - slow, and only a picture needs it

    if isinstance(data, str):
        try:
            data = base64.b64decode(data)
        except (binascii.Error, ValueError):
            return None
    if not isinstance(data, bytes):
        return None
    try:
        image = Image.open(io.BytesIO(data))
        image.load()
    except Exception:  # noqa: BLE001 - whatever is in it, it is the code's
        return None
    return image
