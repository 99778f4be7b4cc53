"""An exception becomes a text for the model: what, where in its own code, and one thing to do."""

from __future__ import annotations

import linecache
import re

import pandas as pd
import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ToolError, ToolExecutionError
from agent_magic.execution.guard.compiling import compile_code
from agent_magic.execution.guard.imports import AuthorizedImports
from agent_magic.execution.guard.rules import Rules
from agent_magic.execution.telling.explaining import MAX_CHARS, explain


def told(code: str, **names: object) -> str:
    filename = "<analyst step 3 #1>"
    ns = names
    try:
        compiled = compile_code(
            code, filename=filename, rules=Rules(imports=AuthorizedImports.of(("*",), {}))
        )
        exec(compiled.code, ns)
        if compiled.last is not None:
            eval(compiled.last, ns)
    except BaseException as error:
        return explain(error, filename, code)
    raise AssertionError("nothing was raised")


def test_error_has_its_line_and_one_thing_to_do() -> None:
    assert told("x = 1\ny = x / 0") == snapshot("""\
ZeroDivisionError: division by zero
  line 2: `y = x / 0`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_frames_of_the_code_are_shown_and_those_of_a_library_folded() -> None:
    assert told("import json\ndef read(text):\n    return json.loads(text)\nread('{')") == snapshot("""\
JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)
  line 4: `read('{')`
  line 3 in read: `return json.loads(text)`
  in the library json
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_frame_of_the_persons_own_function_is_shown() -> None:
    source = "def rate(row):\n    return row['price'] * 2\n"
    filename = "/kernel/ipykernel_1/123.py"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    ns: dict[str, object] = {}
    exec(compile(source, filename, "exec"), ns)
    assert told("rate({})", **ns) == snapshot("""\
KeyError: 'price'
  line 1: `rate({})`
  line 2 of the person's own rate: `return row['price'] * 2`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_names_that_were_perhaps_meant_are_told() -> None:
    df = pd.DataFrame({"colour": [1], "size": [2]})
    codes = (
        "df['color']",
        "df.groupby('sise').mean()",
        "d = {'alpha': 1}\nprint(d['alpah'])",
        "totals = 1\nprint(totls)",
        "import math\nmath.sqroot(2)",
        "'a'.uper()",
        "for k in [1]:\n    if df['nothing like it']:\n        pass",
        "import no_such_module_at_all",
    )
    assert {code: told(code, df=df.copy()) for code in codes} == snapshot(
        {
            "df['color']": """\
KeyError: 'color'
  line 1: `df['color']`
  in the library pandas
The columns of `df`: 'colour', 'size'. Did you mean 'colour'?
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""",
            "df.groupby('sise').mean()": """\
KeyError: 'sise'
  line 1: `df.groupby('sise').mean()`
  in the library pandas
The columns of `df`: 'colour', 'size'. Did you mean 'size'?
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""",
            """\
d = {'alpha': 1}
print(d['alpah'])\
""": """\
KeyError: 'alpah'
  line 2: `print(d['alpah'])`
The keys of `d`: 'alpha'. Did you mean 'alpha'?
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""",
            """\
totals = 1
print(totls)\
""": """\
NameError: name 'totls' is not defined
  line 2: `print(totls)`
Did you mean 'totals'?
Bind the name before you use it; names of earlier steps are still there.\
""",
            """\
import math
math.sqroot(2)\
""": """\
AttributeError: module 'math' has no attribute 'sqroot'
  line 2: `math.sqroot(2)`
Did you mean 'sqrt' or 'isqrt'?
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""",
            "'a'.uper()": """\
AttributeError: 'str' object has no attribute 'uper'
  line 1: `'a'.uper()`
Did you mean 'upper' or 'isupper'?
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""",
            """\
for k in [1]:
    if df['nothing like it']:
        pass\
""": """\
KeyError: 'nothing like it'
  line 2: `if df['nothing like it']:`
  in the library pandas
The columns of `df`: 'colour', 'size'.
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""",
            "import no_such_module_at_all": """\
ModuleNotFoundError: No module named 'no_such_module_at_all'
  line 1: `import no_such_module_at_all`
It is not installed: use what is there, or say in the final answer what is missing.\
""",
        }
    )


def test_recursion_is_folded() -> None:
    text = told("def f(n):\n    return f(n + 1)\nf(0)")
    assert re.sub(r"\d{3,}", "N", text) == snapshot("""\
RecursionError: maximum recursion depth exceeded
  line 3: `f(0)`
  line 2 in f: `return f(n + 1)` (N times)
Give the recursion an end that every call comes nearer to, or write a loop.\
""")
    mutual = told("def g(n):\n    return h(n)\ndef h(n):\n    return g(n)\ng(1)")
    assert mutual.count("\n") < 12


def test_kinds_of_errors_have_their_own_advice() -> None:
    codes = (
        "raise SystemExit(3)",
        "raise KeyboardInterrupt",
        "raise GeneratorExit",
        "raise MemoryError",
        "open('nofile')",
    )
    assert {code: told(code).split("\n")[-1] for code in codes} == snapshot(
        {
            "raise SystemExit(3)": "Code cannot end the kernel: to end the run call `final_answer(value)`.",
            "raise KeyboardInterrupt": "Nobody pressed a key: the code raised it. Raise an ordinary exception, or none.",
            "raise GeneratorExit": "Raise an ordinary exception, or none: to end the run call `final_answer(value)`.",
            "raise MemoryError": "Work on parts of the data, or on fewer columns and smaller types.",
            "open('nofile')": 'See which files there are: `list(pathlib.Path(".").iterdir())`.',
        }
    )


def test_chain_of_errors_is_told() -> None:
    code = "try:\n    {}['x']\nexcept KeyError as e:\n    raise ValueError('no x') from e"
    assert told(code) == snapshot("""\
ValueError: no x
  line 4: `raise ValueError('no x') from e`
Caused by KeyError: 'x' (line 2)
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")
    assert "While handling" in told("try:\n    {}['x']\nexcept KeyError:\n    1 / 0")
    assert "KeyError" not in told("try:\n    {}['x']\nexcept KeyError:\n    raise ValueError('q') from None")


def test_exception_group_is_told_with_its_parts() -> None:
    code = "def bad(n):\n    raise ValueError(n)\nerrors = []\nfor n in range(6):\n    try:\n        bad(n)\n    except ValueError as e:\n        errors.append(e)\nraise ExceptionGroup('six', errors)"
    assert told(code) == snapshot("""\
ExceptionGroup: six (6 sub-exceptions)
  line 9: `raise ExceptionGroup('six', errors)`
1. ValueError: 0
    line 6: `bad(n)`
    line 2 in bad: `raise ValueError(n)`
2. ValueError: 1
    line 6: `bad(n)`
    line 2 in bad: `raise ValueError(n)`
3. ValueError: 2
    line 6: `bad(n)`
    line 2 in bad: `raise ValueError(n)`
4. ValueError: 3
    line 6: `bad(n)`
    line 2 in bad: `raise ValueError(n)`
… and 2 more
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_error_whose_text_raises_is_told() -> None:
    assert told(
        "class E(Exception):\n    def __str__(self):\n        raise RuntimeError('no text')\nraise E()"
    ) == snapshot("""\
E: <its text cannot be shown: RuntimeError>
  line 4: `raise E()`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")
    assert "E" in told("class E(Exception):\n    def __str__(self):\n        raise SystemExit\nraise E()")


@pytest.mark.parametrize(
    "code",
    [
        "raise ValueError('z' * 5_000_000)",
        "raise ValueError('\\n' * 5_000_000)",
        "x = '" + "y" * 9_000 + "'; 1 / 0",
        "e = ValueError('a')\nfor n in range(50):\n    e.add_note('n' * 9_000)\nraise e",
        "raise ExceptionGroup('g' * 9_000, [ValueError('v' * 9_000) for _ in range(90)])",
        "raise KeyError('k' * 9_000)",
        "class " + "E" * 5_000 + "(Exception): pass\nraise " + "E" * 5_000,
        "e = ValueError(1)\nfor n in range(2_000):\n    new = ValueError('v' * 900)\n    new.__cause__ = e\n    e = new\nraise e",
    ],
)
def test_text_is_bounded_and_still_says_what_to_do(code: str) -> None:
    text = told(code)
    assert len(text) <= MAX_CHARS
    assert text.endswith("do not repeat the rest.")


def test_text_holds_no_secret_and_no_control_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "abcdef-canary-42")
    code = "raise ValueError('key abcdef-canary-42 \\x1b[2J \\ud800 ' + 'sk-canary-5d1c0e7f9a2b4c6d')"
    text = told(code)
    assert "canary" not in text
    assert "\x1b" not in text
    text.encode()
    edge = told("raise ValueError('a' * 1_000 + ' sk-canary-5d1c0e7f9a2b4c6d' * 200_000)")
    assert "5d1c0e7f" not in edge


def test_error_meant_for_the_model_is_its_text_alone() -> None:
    def tool() -> None:
        raise ToolError("No such city: 'Olso'. Cities: Oslo, Rome.")

    def crashing() -> None:
        text = "The tool 'div' raised ZeroDivisionError: division by zero."
        raise ToolExecutionError(text) from ZeroDivisionError("division by zero")

    assert told("tool()", tool=tool) == snapshot("""\
No such city: 'Olso'. Cities: Oslo, Rome.
  line 1: `tool()`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")
    assert told("x = 1\ndiv()", div=crashing) == snapshot("""\
The tool 'div' raised ZeroDivisionError: division by zero.
  line 2: `div()`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_hint_that_cannot_be_found_is_no_fault() -> None:
    class Odd:
        def __dir__(self):
            raise RuntimeError

    assert "has no attribute 'x'" in told("odd.x", odd=Odd())


def test_error_without_a_frame_of_the_code_is_told() -> None:
    assert explain(ValueError("from nowhere"), "<x>", "") == snapshot("""\
ValueError: from nowhere
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")
