"""The text of an error for the model: what was raised, at which of its own lines, and one thing to do.

It must not raise, whatever the exception is, and must not show our own frames.
"""

from __future__ import annotations

import linecache
import os
import sysconfig
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from traceback import walk_tb
from types import FrameType, TracebackType

from agent_magic.core.errors import StepError
from agent_magic.core.redact import redact
from agent_magic.core.text import replace_surrogates, strip_control, truncate
from agent_magic.execution.telling.hints import advise, suggest

MAX_CHARS = 4_000
_MAX_MESSAGE_CHARS = 1_600
_MAX_LINE_CHARS = 160
_MAX_FRAMES = 12
_MAX_CHAINED = 2
_MAX_LINKS = 20
_MAX_IN_GROUP = 4
# What is redacted before it is cut, so that no half of a secret is left at the edge.
_WINDOW = 20_000

_OURS = f"{Path(__file__).parents[2]}{os.sep}"
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def explain(error: BaseException, filename: str, code: str) -> str:
    """What the model is told of an exception that its code raised.

    Args:
        filename: Of the code, as it was compiled.
        code: Its source.

    Returns:
        At most 4,000 characters, redacted, with no control characters.
    """
    frames = _from_own(list(_frames(error.__traceback__)), filename)
    own = code.split("\n")
    # An error that is meant for the model says all; where in a tool it was raised is nothing to it.
    shown = [
        place
        for place in frames
        if place[0].f_code.co_filename == filename or not isinstance(error, StepError)
    ]
    parts = [_head(error), *_places(shown, filename, own)]
    if isinstance(error, BaseExceptionGroup):
        parts += _of_group(error, filename, own)
    parts += _chained(error, filename)
    # The last frame of the code's own knows the names that the line could have meant.
    here = next((frame for frame, _ in reversed(frames) if frame.f_code.co_filename == filename), None)
    line = next((number for frame, number in reversed(frames) if frame is here), 0)
    source = own[line - 1] if 0 < line <= len(own) else ""
    hint = suggest(error, here, source)
    tail = "\n".join(part for part in (hint, advise(error)) if part)
    tail = _cleaned(tail, 1_200)
    return f"{truncate(_cleaned(chr(10).join(parts), MAX_CHARS), MAX_CHARS - len(tail) - 1)}\n{tail}"


def _head(error: BaseException) -> str:
    """The type and the message; an error that is meant for the model is its message alone."""
    message = _message(error)
    if isinstance(error, StepError):
        return message
    name = type(error).__name__
    return f"{name}: {message}" if message else name


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as fault:  # noqa: BLE001 - the text of an exception is anybody's code and may raise anything
        return f"<its text cannot be shown: {type(fault).__name__}>"
    try:
        notes = [str(note) for note in getattr(error, "__notes__", ())][:3]
    except BaseException:  # noqa: BLE001 - as above
        notes = []
    return "\n".join([_cleaned(text, _MAX_MESSAGE_CHARS), *[_cleaned(note, 300) for note in notes]])


def _cleaned(text: str, max_chars: int) -> str:
    if len(text) > 2 * _WINDOW:
        dropped = len(text) - 2 * _WINDOW
        text = f"{text[:_WINDOW]}\n… {dropped:,} characters cut …\n{text[-_WINDOW:]}"
    return truncate(redact(strip_control(replace_surrogates(text), is_screen=False)), max_chars)


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    """All frames but ours, the outermost first, each with its line."""
    for frame, line in walk_tb(traceback):
        if not frame.f_code.co_filename.startswith(_OURS):
            yield frame, line


def _from_own(frames: list[tuple[FrameType, int]], filename: str) -> list[tuple[FrameType, int]]:
    """Without what called the code: that is not the code's affair."""
    first = next((i for i, (frame, _) in enumerate(frames) if frame.f_code.co_filename == filename), 0)
    return frames[first:]


def _places(frames: list[tuple[FrameType, int]], filename: str, own: list[str]) -> list[str]:
    """A line for each frame of the code's and of the person's, one for all of a library, in the order of the calls."""
    lines: list[str] = []
    for place, group in groupby(_place(frame, number, filename, own) for frame, number in frames):
        times = len(list(group))
        again = f" ({times:,} times)" if times > 1 and not place.startswith("  in the library") else ""
        lines.append(place + again)
    lines = _without_repeats(lines)
    if len(lines) > _MAX_FRAMES:
        half = _MAX_FRAMES // 2
        lines = [*lines[:half], f"  … {len(lines) - _MAX_FRAMES:,} more …", *lines[-half:]]
    return lines


def _without_repeats(lines: list[str]) -> list[str]:
    """Functions that call each other without end, told once."""
    kept: list[str] = []
    seen: dict[str, int] = {}
    n_dropped = 0
    for line in lines:
        seen[line] = seen.get(line, 0) + 1
        if seen[line] > 3:
            n_dropped += 1
        else:
            kept.append(line)
    return [*kept, f"  … and the same {n_dropped:,} more times"] if n_dropped else kept


def _place(frame: FrameType, number: int, filename: str, own: list[str]) -> str:
    code = frame.f_code
    inside = "" if code.co_name == "<module>" else f" in {code.co_name}"
    if code.co_filename == filename:
        return f"  line {number}{inside}{_shown(own[number - 1] if 0 < number <= len(own) else '')}"
    if _is_library(code.co_filename):
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0] or "Python"
        return f"  in the library {module}"
    source = linecache.getline(code.co_filename, number)
    if _is_earlier_step(code.co_filename):
        return f"  line {number}{inside} of {code.co_filename.strip('<>')}{_shown(source)}"
    return f"  line {number} of the person's own {code.co_name}{_shown(source)}"


def _shown(source: str) -> str:
    line = source.strip()
    return (
        f": `{line if len(line) <= _MAX_LINE_CHARS else line[: _MAX_LINE_CHARS - 1] + '…'}`" if line else ""
    )


def _is_library(path: str) -> bool:
    if path.startswith("<"):
        return not _is_earlier_step(path) and not path.startswith("<ipython-input")
    return path.startswith(_LIBRARIES) or "site-packages" in path or "dist-packages" in path


def _is_earlier_step(path: str) -> bool:
    """Code of another step: its lines are known by a name in angle brackets with a number."""
    return path.startswith("<") and path in linecache.cache and " " in path


def _of_group(group: BaseExceptionGroup[BaseException], filename: str, own: list[str]) -> list[str]:
    lines: list[str] = []
    for number, error in enumerate(group.exceptions[:_MAX_IN_GROUP], 1):
        lines.append(f"{number}. {_cleaned(_head(error), 400)}")
        frames = _from_own(list(_frames(error.__traceback__)), filename)
        lines += [f"  {place}" for place in _places(frames, filename, own)[-2:]]
        if isinstance(error, BaseExceptionGroup):
            lines.append(f"     a group of {len(error.exceptions):,}")
    left = len(group.exceptions) - _MAX_IN_GROUP
    return [*lines, f"… and {left:,} more"] if left > 0 else lines


def _chained(error: BaseException, filename: str) -> list[str]:
    """The exceptions that led to this one."""
    lines: list[str] = []
    seen = {id(error)}
    while len(lines) < _MAX_CHAINED and len(seen) < _MAX_LINKS:
        is_cause = error.__cause__ is not None
        before = error.__cause__ if is_cause else None if error.__suppress_context__ else error.__context__
        if before is None or id(before) in seen:
            break
        seen.add(id(before))
        places = [
            number for frame, number in _frames(before.__traceback__) if frame.f_code.co_filename == filename
        ]
        where = f" (line {places[-1]})" if places else ""
        head = _cleaned(_head(before), 300)
        # A library that raises the same again, and a tool's error that holds its cause's text, say it already.
        if head not in _head(error):
            lines.append(f"{'Caused by' if is_cause else 'While handling'} {head}{where}")
        error = before
    return lines
