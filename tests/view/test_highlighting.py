from __future__ import annotations

import subprocess
import sys
import time

import pytest
from inline_snapshot import snapshot
from view.code_samples import CODE_1
from view.markup import ATTACKS

from agent_magic.view.highlighting import to_pieces


def test_pieces_of_code_say_what_each_is() -> None:
    code = '@cache\ndef f(x: int = 2) -> str:\n    # why\n    return not f"{x!r} {len(y)}" or None\n'
    assert [piece for piece in to_pieces(code) if piece[0]] == snapshot(
        [
            ("definition", "@cache"),
            ("keyword", "def"),
            ("definition", "f"),
            ("builtin", "int"),
            ("number", "2"),
            ("builtin", "str"),
            ("comment", "# why"),
            ("keyword", "return"),
            ("keyword", "not"),
            ("string", 'f"{'),
            ("string", "!r} {"),
            ("builtin", "len"),
            ("string", '}"'),
            ("keyword", "or"),
            ("keyword", "None"),
        ]
    )


@pytest.mark.parametrize("code", [*ATTACKS, CODE_1, "", "\n\n  x = (", "\tx\r\ny", "def f(:\n  '''"])
def test_pieces_are_the_code_itself(code: str) -> None:
    assert "".join(text for _, text in to_pieces(code)) == code


@pytest.mark.parametrize("code", ["(" * 8_000, "a." * 4_000, "\ud800" * 8_000, "'%" * 4_000, "f'{" * 2_600])
def test_code_that_is_none_is_read_soon(code: str) -> None:
    start = time.perf_counter()
    assert "".join(text for _, text in to_pieces(code)) == code
    assert time.perf_counter() - start < 10


def test_very_long_code_is_one_piece() -> None:
    code = "x = 1\n" * 10_000
    assert to_pieces(code) == ((None, code),)


def test_drawing_a_run_without_code_imports_no_lexer() -> None:
    program = "import sys, agent_magic.view.html; print([m for m in sys.modules if m.startswith('pygments')])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "[]\n"
