"""Magics, shell lines and `?` are refused with what to write instead; Python is left alone."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.execution.reply.notebook_syntax import refuse_notebook_syntax


def test_notebook_syntax_is_refused_with_what_to_write_instead() -> None:
    lines = (
        "%matplotlib inline",
        "!echo hi",
        "!pip install seaborn",
        "%%time",
        "files = !ls",
        "x = %timeit f()",
        "df?",
        "?df.head",
    )
    refusals = {line: refuse_notebook_syntax(f"x = 1\n{line}\n", 2) for line in lines}
    assert {line: refusal and refusal.message for line, refusal in refusals.items()} == snapshot(
        {
            "%matplotlib inline": """\
Line 2 is refused, and nothing ran: `%matplotlib inline`
Magics, shell lines and `?` are not Python, and only Python runs here. Leave the line out: figures are shown without it.\
""",
            "!echo hi": """\
Line 2 is refused, and nothing ran: `!echo hi`
Magics, shell lines and `?` are not Python, and only Python runs here. Leave the line out, or write in Python what it was to do.\
""",
            "!pip install seaborn": """\
Line 2 is refused, and nothing ran: `!pip install seaborn`
Magics, shell lines and `?` are not Python, and only Python runs here. Packages cannot be installed from code: use what is there, or say in the final answer what is missing.\
""",
            "%%time": """\
Line 2 is refused, and nothing ran: `%%time`
Magics, shell lines and `?` are not Python, and only Python runs here. Measure with `time.perf_counter()` before and after.\
""",
            "files = !ls": """\
Line 2 is refused, and nothing ran: `files = !ls`
Magics, shell lines and `?` are not Python, and only Python runs here. List files with `pathlib.Path(".").iterdir()`, read one with `open(path).read()`.\
""",
            "x = %timeit f()": """\
Line 2 is refused, and nothing ran: `x = %timeit f()`
Magics, shell lines and `?` are not Python, and only Python runs here. Measure with `time.perf_counter()` before and after.\
""",
            "df?": """\
Line 2 is refused, and nothing ran: `df?`
Magics, shell lines and `?` are not Python, and only Python runs here. To see what something is, use `print(x.__doc__)` or `dir(x)`.\
""",
            "?df.head": """\
Line 2 is refused, and nothing ran: `?df.head`
Magics, shell lines and `?` are not Python, and only Python runs here. To see what something is, use `print(x.__doc__)` or `dir(x)`.\
""",
        }
    )


@pytest.mark.parametrize(
    "line", ["x = = 3", "if a != b", "y = a % b c", "# what?", "print('!'", "'%d' % 3 4"]
)
def test_wrong_python_is_no_notebook_syntax(line: str) -> None:
    assert refuse_notebook_syntax(line, 1) is None
