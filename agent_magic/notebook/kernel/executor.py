"""KernelExecutor: code of an agent on the notebook's own variables, its displays and figures taken into its step.

It must not guard or stop code: that is what executors have in common.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from agent_magic.core.picture import is_picture
from agent_magic.core.values import Value
from agent_magic.execution.displaying import Show, to_picture
from agent_magic.execution.executor import NamespaceExecutor
from agent_magic.execution.prints.sinks import CURRENT_SINK
from agent_magic.execution.request import CodeOutcome, CodeStep, Picture
from agent_magic.execution.step.course import QUIET
from agent_magic.execution.step.running import current_step
from agent_magic.execution.stop.stopping import TimeLimitReached, limited
from agent_magic.notebook.kernel.code_displays import CodeDisplays, is_drawn, is_figure
from agent_magic.notebook.kernel.shell import Shell
from agent_magic.notebook.kernel.state import is_kernel_internal

_PYPLOT = "matplotlib.pyplot"
_DRAWING = (_PYPLOT, "from matplotlib import", "import seaborn")
"""Code with one of these may call `plt.show()`; what a library draws for it is found at its end."""


@dataclass(slots=True)
class _Shown:
    """The pictures of one step that were shown; their values live as long as it does."""

    values: list[Value] = field(default_factory=list[Value])

    def has(self, value: Value) -> bool:
        return any(value is each for each in self.values)


_SHOWN: ContextVar[_Shown | None] = ContextVar("agent_magic_shown", default=None)


class KernelExecutor(NamespaceExecutor):
    """Runs code where the cells of a notebook run.

    Args:
        shell: IPython's, in a kernel or in a terminal.
    """

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell.user_ns)
        self._shell: Any = shell

    def is_internal(self, name: str) -> bool:
        """Whether the kernel itself binds this name."""
        return is_kernel_internal(name)

    def execute(self, step: CodeStep) -> CodeOutcome:
        """Run it; a picture that the code ends in is shown as a notebook would."""
        shown = _Shown()
        token = _SHOWN.set(shown)
        try:
            outcome = super().execute(step)
        finally:
            _SHOWN.reset(token)
        value = outcome.value
        if not is_drawn(value) or shown.has(value):
            return outcome
        try:
            with limited(step.guard.timeout_s):
                drawn = self._draw(value)
        except TimeLimitReached:
            return outcome
        return (
            replace(outcome, pictures=(*outcome.pictures, drawn)) if isinstance(drawn, Picture) else outcome
        )

    @contextlib.contextmanager
    def capturing(self, code: str, show: Show) -> Generator[None]:
        """Displays and figures are shown in the step, each figure once, and closed; none of them on the page."""
        sink, shown = CURRENT_SINK.get(), _SHOWN.get() or _Shown()

        def is_ours() -> bool:
            step = current_step()
            return step is not None and step.sink is sink

        def show_drawn(value: Value) -> None:
            if not shown.has(value):
                shown.values.append(value)
                show(self._draw(value))
            _close(value)

        plt = _pyplot_for(code)
        was_there = _open_figures()

        def show_open() -> None:
            for number, figure in _open_figures().items():
                if was_there.get(number) is not figure:
                    show_drawn(figure)

        with contextlib.ExitStack() as stack:
            stack.callback(_close_all_but, was_there)
            stack.enter_context(CodeDisplays(self._shell, is_ours=is_ours, tell=show, show=show_drawn))
            if plt is not None:
                stack.enter_context(_shown_by(plt, is_ours, show_open))
            try:
                yield
            finally:
                show_open()

    def _draw(self, value: Value) -> Picture | str:
        if is_figure(value):
            return to_picture(value, self.namespace)
        names = list(self.namespace.items())
        name = next((name for name, each in names if each is value and not is_kernel_internal(name)), None)
        return Picture(image=value.copy() if is_picture(value) else value, name=name)


def _pyplot_for(code: str) -> Any:
    """pyplot, if it is there or the code says that it is going to be; imported before the code is."""
    if _PYPLOT not in sys.modules and not any(word in code for word in _DRAWING):
        return None
    try:
        return importlib.import_module(_PYPLOT)
    except Exception:  # noqa: BLE001 - the code's own import is going to tell
        return None


@contextlib.contextmanager
def _shown_by(plt: Any, is_ours: Callable[[], bool], show_open: Callable[[], None]) -> Generator[None]:
    """Let `plt.show()` of the code show what it has drawn, whatever the backend does for others."""
    before: Callable[..., Value] = plt.show

    def show(*args: Value, **options: Value) -> Value:
        return show_open() if is_ours() else before(*args, **options)

    plt.show = show
    try:
        yield
    finally:
        if plt.show is show:
            plt.show = before


def _open_figures() -> dict[int, Value]:
    """The figures of pyplot that are open now, by number; none if nobody has imported it."""
    plt = sys.modules.get(_PYPLOT)
    numbers: list[int] = plt.get_fignums() if plt is not None else []
    helpers: Any = sys.modules.get("matplotlib._pylab_helpers")
    return {number: helpers.Gcf.figs[number].canvas.figure for number in numbers}


def _close(figure: Value) -> None:
    plt: Any = sys.modules.get(_PYPLOT)
    if plt is not None and is_figure(figure):
        plt.close(figure)


def _close_all_but(kept: dict[int, Value]) -> None:
    plt: Any = sys.modules.get(_PYPLOT)
    for number, figure in _open_figures().items():
        if kept.get(number) is not figure:
            plt.close(number)


# What is put before the shell must be taken off again.
QUIET.add(__name__)
