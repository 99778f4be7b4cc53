"""Code becomes something that runs, with its own lines in tracebacks; what cannot be read says why."""

from __future__ import annotations

import asyncio
import linecache
import traceback
import warnings

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import CodeRefused, ParsingError
from agent_magic.execution.guard.compiling import Compiled, compile_code
from agent_magic.execution.guard.imports import AuthorizedImports
from agent_magic.execution.guard.rules import Rules


def build(code: str, filename: str = "<analyst step 1>") -> Compiled:
    return compile_code(code, filename=filename, rules=Rules(imports=AuthorizedImports.of((), {})))


def run(code: str) -> tuple[dict[str, object], object]:
    compiled, ns = build(code), {}
    exec(compiled.code, ns)
    return ns, None if compiled.last is None else eval(compiled.last, ns)


def fault(code: str) -> str:
    with pytest.raises(ParsingError) as caught:
        build(code)
    return caught.value.message


def test_last_expression_is_split_off() -> None:
    assert run("x = 2\nx + 1") == ({"x": 2, "__builtins__": __builtins__}, 3)


@pytest.mark.parametrize(
    "code", ["x = 1", "", "# nothing", "for i in [1]:\n    i", "1;", "(1) ; # quiet", "(\n1\n) ;", "'é';"]
)
def test_code_without_a_last_expression_has_no_value(code: str) -> None:
    assert build(code).last is None


@pytest.mark.parametrize("code", ["1; 2", "x = 1; x", "'a;b'", "1  # a; b", "f';'", "(\n1  # ;\n)"])
def test_semicolon_elsewhere_leaves_the_last_expression(code: str) -> None:
    assert build(code).last is not None


def test_top_level_await_is_allowed_in_statements_and_in_the_last_expression() -> None:
    compiled = build(
        "import asyncio\nx = await asyncio.sleep(0, result=4)\nawait asyncio.sleep(0, result=x + 1)"
    )
    assert compiled.is_async

    async def go() -> object:
        ns: dict[str, object] = {}
        await eval(compiled.code, ns)
        assert compiled.last is not None
        return await eval(compiled.last, ns)

    assert asyncio.run(go()) == 5
    assert not build("async def f():\n    await x\nf").is_async


def test_traceback_shows_the_lines_of_the_code() -> None:
    compiled = build(
        "def f(n):\n    return 1 / n\n\ntry:\n    pass\nexcept:\n    pass\nf(0)", "<analyst step 7>"
    )
    linecache.checkcache()
    exec(compiled.code, ns := {})
    with pytest.raises(ZeroDivisionError) as caught:
        eval(compiled.last, ns)
    frames = traceback.extract_tb(caught.value.__traceback__)[1:]
    assert [(frame.filename, frame.lineno, frame.line) for frame in frames] == snapshot(
        [("<analyst step 7>", 8, "f(0)"), ("<analyst step 7>", 2, "return 1 / n")]
    )


def test_lines_are_those_of_the_tokenizer() -> None:
    compiled = build("x = 'a\u2028b\x0c'\n1 / 0", "<analyst step 8>")
    with pytest.raises(ZeroDivisionError) as caught:
        eval(compiled.last, {})
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "1 / 0"


def test_future_import_holds_for_the_whole_code_and_none_of_ours_does() -> None:
    ns, _ = run("def f(x: Unknown = 1): ...") if False else run("def f(x: int): ...")
    assert ns["f"].__annotations__ == {"x": int}
    ns, value = run(
        "from __future__ import annotations\ndef f(x: Unknown): ...\n(lambda: f.__annotations__)()"
    )
    assert value == {"x": "Unknown"}


def test_names_that_the_code_binds_are_told() -> None:
    code = "import math as m, os.path as p\nx, y = 1, 2\ndef f(a): b = a; global c; c = 1\n[z for z in 'a']\n(w := 1)\nfor k in 'a': pass"
    assert sorted(build(code).binds) == ["c", "f", "k", "m", "p", "w", "x", "y"]


def test_syntax_errors_name_the_line_and_one_thing_to_do() -> None:
    codes = (
        "x = = 3",
        "if True:\n\tx = 1\n        y = 2",
        "x = 1\n  y = 2",
        "if True:\nx = 1",
        "text = 'abc",
        "f(1,\n2",
        "print 'x'",
        "x = “quoted”",
        "return 5",
        "```python\nx = 1",
        ">>> x = 1",
        "def f():\n    nonlocal q",
        "a = 1\nb = " + "y" * 300 + " ?? " + "z" * 300,
    )
    assert {code: fault(code) for code in codes} == snapshot(
        {
            "x = = 3": """\
SyntaxError, line 1: invalid syntax. Nothing ran.
    x = = 3
        ^
Mend this line and send the whole code again.\
""",
            """\
if True:
	x = 1
        y = 2\
""": """\
TabError, line 3: inconsistent use of tabs and spaces in indentation. Nothing ran.
            y = 2
Indent each block with four spaces, and never with tabs.\
""",
            """\
x = 1
  y = 2\
""": """\
IndentationError, line 2: unexpected indent. Nothing ran.
      y = 2
Indent each block with four spaces, and never with tabs.\
""",
            """\
if True:
x = 1\
""": """\
IndentationError, line 2: expected an indented block after 'if' statement on line 1. Nothing ran.
    x = 1
Indent each block with four spaces, and never with tabs.\
""",
            "text = 'abc": """\
SyntaxError, line 1: unterminated string literal (detected at line 1). Nothing ran.
    text = 'abc
           ^
Close it; for text of several lines use triple quotes. Then send the whole code again.\
""",
            """\
f(1,
2\
""": """\
SyntaxError, line 1: '(' was never closed. Nothing ran.
    f(1,
     ^
Close it; for text of several lines use triple quotes. Then send the whole code again.\
""",
            "print 'x'": """\
SyntaxError, line 1: Missing parentheses in call to 'print'. Did you mean print(...)? Nothing ran.
    print 'x'
    ^
Write `print(...)`. Then send the whole code again.\
""",
            "x = “quoted”": """\
SyntaxError, line 1: invalid character '“' (U+201C). Nothing ran.
    x = “quoted”
        ^
Write plain ASCII quotes and signs. Then send the whole code again.\
""",
            "return 5": """\
SyntaxError, line 1: 'return' outside function. Nothing ran.
    return 5
    ^
`return` and `yield` belong in a function: to give the answer call `final_answer(value)`.\
""",
            """\
```python
x = 1\
""": """\
SyntaxError, line 1: invalid syntax. Nothing ran.
    ```python
    ^
Put the code between one `<code>` and one `</code>`, with nothing else there.\
""",
            ">>> x = 1": """\
SyntaxError, line 1: invalid syntax. Nothing ran.
    >>> x = 1
    ^
Write the statements alone, without the prompt signs.\
""",
            """\
def f():
    nonlocal q\
""": """\
SyntaxError, line 2: no binding for nonlocal 'q' found. Nothing ran.
        nonlocal q
        ^
Mend this line and send the whole code again.\
""",
            """\
a = 1
b = yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy ?? zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\
""": """\
SyntaxError, line 2: invalid syntax. Nothing ran.
    yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy ?? zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
                                                                                   ^
Mend this line and send the whole code again.\
""",
        }
    )


def test_code_nested_too_deep_is_told() -> None:
    assert {code[:3]: fault(code) for code in ("1" + "+1" * 40_000, "-" * 40_000 + "1")} == snapshot(
        {
            "1+1": """\
Python cannot read the code, and nothing ran: it is nested too deep.
Split it: bind the parts to names, one statement each.\
""",
            "---": """\
Python cannot read the code, and nothing ran: it is nested too deep.
Split it: bind the parts to names, one statement each.\
""",
        }
    )


def test_magics_are_refused_where_python_stopped() -> None:
    with pytest.raises(CodeRefused) as caught:
        build("x = 1\n%matplotlib inline\n!echo hi")
    assert caught.value.message == snapshot("""\
Line 2 is refused, and nothing ran: `%matplotlib inline`
Magics, shell lines and `?` are not Python, and only Python runs here. Leave the line out: figures are shown without it.\
""")


def test_warnings_of_the_code_do_not_stop_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ns, _ = run(
            r"x = '\d'"
            "\ny = x is 'a'\nassert (x, 'always')\ndef f():\n    try: pass\n    finally: return 1"
        )
    assert ns["x"] == "\\d"
