from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.notebook.looking.code_lines import lines_about

CODE = """
import pandas as pd

rows = [1, 2]
for top in rows:
    rows.append(top)
def total(x):
    return sum(x)

best, *others = rows
if (found := total(rows)):
    del best
with open("a") as file:
    pass
match rows:
    case [first, *rest]:
        pass
    case {"a": 1, **more}:
        pass
try:
    pass
except ValueError as error:
    pass
class Row: ...
"""


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("pd", ["line 2: import pandas as pd"]),
        ("rows", ["line 4: rows = [1, 2]"]),
        ("top", ["line 5: for top in rows:"]),
        ("total", ["line 7: def total(x):"]),
        ("best", ["line 10: best, *others = rows", "line 12: del best"]),
        ("others", ["line 10: best, *others = rows"]),
        ("found", ["line 11: if (found := total(rows)):"]),
        ("file", ['line 13: with open("a") as file:']),
        ("first", ["line 16: case [first, *rest]:"]),
        ("rest", ["line 16: case [first, *rest]:"]),
        ("more", ['line 18: case {"a": 1, **more}:']),
        ("error", ["line 22: except ValueError as error:"]),
        ("Row", ["line 24: class Row: ..."]),
    ],
)
def test_lines_that_bind_a_name(name, lines):
    assert lines_about(CODE, name) == lines


def test_lines_that_use_a_name_where_none_binds_it():
    assert lines_about("import math\ndf['x'] = 1\ndf.sort_values('x', inplace=True)", "df") == snapshot(
        ["line 2: df['x'] = 1", "line 3: df.sort_values('x', inplace=True)"]
    )


def test_lines_are_the_first_where_none_has_the_name():
    code = "a = 1\n\nb = 2\nc = 3\nd = 4"
    assert lines_about(code, "df") == snapshot(
        ["line 1: a = 1", "line 3: b = 2", "line 4: c = 3", "… and 1 more"]
    )


@pytest.mark.parametrize("code", ["x = (", "x = 1\0", "(" * 1000])
def test_lines_of_code_that_cannot_be_read_are_the_first(code):
    (line,) = lines_about(code, "x")
    assert line.startswith("line 1: ")
    assert len(line) < 200


def test_line_is_shown_on_one_line_and_short():
    (line,) = lines_about(f"x = [\n{'1, ' * 500}]", "x")
    assert line == "line 1: x = ["
    (line,) = lines_about(f"x = [{'1, ' * 500}]", "x")
    assert len(line) < 200
