"""Figures of matplotlib that code leaves open or shows, as pictures, where no notebook does it.

It must not import the library unless the code is about to, nor touch figures that were open before.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Callable, Generator, Mapping
from typing import Any

from agent_magic.core.values import Value
from agent_magic.execution.request import Picture
from agent_magic.execution.step.course import BOUNDARIES

Show = Callable[[str | Picture], None]
"""Takes what code shows, in order."""

_LIBRARY = "matplotlib.pyplot"


@contextlib.contextmanager
def figures_shown(code: str, namespace: Mapping[str, Value], show: Show) -> Generator[None]:
    """Within it, figures that are shown, or new at its end, are given to `show` and closed.

    Args:
        code: What is going to run: it tells whether the library is going to be wanted.
        namespace: Where the names of figures stand.
    """
    plt = _pyplot(code)
    if plt is None:
        yield
        return
    figures = _Figures(plt, namespace, show)
    show_before = plt.show

    # A function: the library writes attributes on it.
    def show_figures(*_args: Value, **_options: Value) -> None:
        figures.show()

    plt.show = show_figures
    try:
        yield
        figures.show_new()
    finally:
        plt.show = show_before
        figures.close_new()


class _Figures:
    """Those that are open, told apart by whether they were before the code ran."""

    def __init__(self, plt: Any, namespace: Mapping[str, Value], show: Show) -> None:
        self._plt = plt
        self._namespace = namespace
        self._show = show
        self._before = set(plt.get_fignums())

    def show(self) -> None:
        """What `plt.show` does meanwhile: new figures, and others that were drawn on."""
        for number in self._plt.get_fignums():
            figure = self._plt.figure(number)
            if number in self._before and not figure.stale:
                continue
            self._show(to_picture(figure, self._namespace))
            if number not in self._before:
                self._plt.close(figure)

    def show_new(self) -> None:
        for number in self._new():
            self._show(to_picture(self._plt.figure(number), self._namespace))

    def close_new(self) -> None:
        for number in self._new():
            self._plt.close(number)

    def _new(self) -> list[int]:
        return [number for number in self._plt.get_fignums() if number not in self._before]


def to_picture(figure: Value, namespace: Mapping[str, Value]) -> Picture | str:
    """A figure as a picture with the name that it has in the namespace; a text if it cannot be drawn."""
    try:
        image = _draw(figure)
    except Exception as error:  # noqa: BLE001 - drawing runs whatever the code has put into the figure
        return f"A figure could not be drawn: {type(error).__name__}: {error}\n"
    name = next(
        (name for name, value in list(namespace.items()) if value is figure and name[:1] != "_"), None
    )
    return Picture(image=image, name=name)


def _draw(figure: Value) -> Value:
    from PIL import Image  # noqa: PLC0415 - slow, and only a picture needs it

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", bbox_inches="tight")
    drawn.seek(0)
    image = Image.open(drawn)
    image.load()
    return image


def _pyplot(code: str) -> Any:
    if _LIBRARY not in sys.modules and not any(
        word in code for word in (_LIBRARY, "from matplotlib import", "import seaborn")
    ):
        return None
    try:
        return importlib.import_module(_LIBRARY)
    except Exception:  # noqa: BLE001 - the code's own import is going to tell
        return None


# Drawing takes its time, and is stopped as code is.
BOUNDARIES.add(_draw.__code__)
