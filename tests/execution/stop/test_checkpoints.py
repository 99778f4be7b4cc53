"""Code that would swallow the end of its step meets a check, and all other code stays as it is."""

from __future__ import annotations

import ast
import asyncio
import copyreg
import dis
import io
import pickle
import textwrap
import traceback
from collections.abc import Iterator
from types import CodeType

import pytest

from agent_magic.execution.reply.source import parse_module
from agent_magic.execution.stop import checkpoints
from agent_magic.execution.stop.checkpoints import STOP, instrument, seal


class Over(BaseException):
    """What ends the step in these tests."""


class Step:
    """A step that is over once `end` was called; from then on each check raises."""

    def __init__(self) -> None:
        self.is_over = False
        self.n_asked = 0

    def end(self, *_: object) -> None:
        self.is_over = True
        raise Over

    def ask(self) -> None:
        self.n_asked += 1
        if self.is_over:
            raise Over


@pytest.fixture
def step() -> Iterator[Step]:
    step, before = Step(), STOP.ask
    STOP.ask, STOP.is_due = step.ask, True
    yield step
    STOP.ask, STOP.is_due = before, False


def build(source: str) -> CodeType:
    tree = parse_module(textwrap.dedent(source))
    instrument(tree)
    return seal(compile(tree, "<code>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True))


def run(source: str, step: Step) -> dict[str, object]:
    namespace: dict[str, object] = {"end": step.end, "trace": []}
    with pytest.raises(Over):
        exec(build(source), namespace)
    return namespace


def n_checks(code: CodeType) -> int:
    # A check looks at it, and calls it if it is due.
    own = sum(ins.opname == "LOAD_CONST" and ins.argval is STOP for ins in dis.get_instructions(code)) // 2
    return own + sum(n_checks(const) for const in code.co_consts if isinstance(const, CodeType))


SWALLOWING = {
    "bare": """
        def f():
            try:
                end()
            except:
                trace.append("swallowed")
        f()
        """,
    "base": """
        def f():
            try:
                end()
            except BaseException as error:
                trace.append(error)
        f()
        """,
    "tuple": """
        def f():
            try:
                end()
            except (ValueError, BaseException):
                trace.append("swallowed")
        f()
        """,
    "a name for it": """
        Everything = BaseException
        def f():
            try:
                end()
            except Everything:
                trace.append("swallowed")
        f()
        """,
    "finally return": """
        def f():
            try:
                end()
            finally:
                return 1
        trace.append(f())
        """,
    "finally break": """
        def f():
            while True:
                try:
                    end()
                finally:
                    break
            trace.append("swallowed")
        f()
        """,
    "finally continue": """
        def f():
            for _ in range(2):
                try:
                    end()
                finally:
                    if True:
                        continue
            trace.append("swallowed")
        f()
        """,
    "return in a loop of finally": """
        def f():
            try:
                end()
            finally:
                for _ in [1]:
                    return 1
        trace.append(f())
        """,
    "suppress": """
        import contextlib
        def f():
            with contextlib.suppress(BaseException):
                end()
            trace.append("swallowed")
        f()
        """,
    "own context manager": """
        class Quiet:
            def __enter__(self): return self
            def __exit__(self, *_): return True
        def f():
            with Quiet():
                return end()
        f()
        trace.append("swallowed")
        """,
    "generator": """
        def g():
            try:
                yield end()
            except:
                trace.append("swallowed")
            yield 1
        list(g())
        """,
    "context manager of a generator": """
        import contextlib
        @contextlib.contextmanager
        def quiet():
            try:
                yield
            except BaseException:
                pass
        with quiet():
            end()
        trace.append("swallowed")
        """,
    "nested function in a class": """
        class A:
            def f(self):
                def inner():
                    try:
                        end()
                    except:
                        trace.append("swallowed")
                inner()
        A().f()
        """,
    "exception group": """
        def f():
            try:
                end()
            except* BaseException:
                trace.append("swallowed")
        f()
        """,
    "match and else": """
        def f(x):
            match x:
                case 1:
                    try:
                        pass
                    except ValueError:
                        pass
                    else:
                        try:
                            end()
                        except:
                            trace.append("swallowed")
        f(1)
        """,
    "a library that swallows": """
        from contextlib import ContextDecorator
        class Quiet(ContextDecorator):
            def __enter__(self): return self
            def __exit__(self, *_): return True
        @Quiet()
        def f():
            end()
        f()
        trace.append("swallowed")
        """,
}


@pytest.mark.parametrize("source", SWALLOWING.values(), ids=SWALLOWING.keys())
def test_check_ends_code_that_swallows(source: str, step: Step) -> None:
    assert run(source, step)["trace"] == []


def test_check_ends_code_that_swallows_in_async_with(step: Step) -> None:
    source = """
        class Quiet:
            async def __aenter__(self): return self
            async def __aexit__(self, *_): return True
        async def f():
            async with Quiet():
                end()
            trace.append("swallowed")
        await f()
        """
    namespace: dict[str, object] = {"end": step.end, "trace": []}
    with pytest.raises(Over):
        asyncio.run(eval(build(source), namespace))
    assert namespace["trace"] == []


def test_check_lets_cleanup_run(step: Step) -> None:
    source = """
        try:
            end()
            trace.append("after")
        finally:
            trace.append("cleanup")
        trace.append("tail")
        """
    assert run(source, step)["trace"] == ["cleanup"]


def test_check_does_nothing_while_the_step_runs(step: Step) -> None:
    namespace: dict[str, object] = {}
    exec(
        build("""
            import contextlib
            out = []
            for n in range(3):
                try:
                    if n == 1:
                        raise ValueError
                except BaseException:
                    out.append("caught")
                finally:
                    out.append(n)
            with contextlib.suppress(KeyError):
                {}["x"]
            """),
        namespace,
    )
    assert namespace["out"] == [0, "caught", 1, 2]
    assert step.n_asked > 0


@pytest.mark.parametrize(
    "source",
    [
        "total = 0\nfor i in range(10):\n    total += i",
        "def f(n):\n    while n:\n        n -= 1\n        if n == 3:\n            continue\n        if n == 2:\n            break\n    return n",
        "def f(rows):\n    for row in rows:\n        try:\n            int(row)\n        except (ValueError, TypeError):\n            pass",
        "x = [i for i in range(3) if i]",
        "async def f(xs):\n    async for x in xs:\n        print(x)",
    ],
)
def test_check_is_in_no_plain_loop(source: str) -> None:
    assert n_checks(build(source)) == 0


def test_break_of_a_loop_inside_finally_costs_nothing() -> None:
    source = "def f():\n    try:\n        pass\n    finally:\n        for i in range(9):\n            if i: "
    # Python compiles a `finally` twice, for the way with an exception and for the way without.
    assert n_checks(build(source + "break")) == n_checks(build(source + "pass")) == 4


def test_handler_of_a_name_that_the_code_binds_is_checked() -> None:
    tree = parse_module("try:\n    pass\nexcept ValueError:\n    pass")
    assert not instrument(tree)
    assert instrument(tree, bound={"ValueError"})


def test_instrumented_code_keeps_its_lines() -> None:
    source = 'try:\n    1 / 0\nexcept:\n    raise\nfinally:\n    print("x")\nwith open("y"):\n    pass\n'
    with pytest.raises(ZeroDivisionError) as caught:
        exec(build(source), {"print": lambda *_: None})
    assert [line for _, line in traceback.walk_tb(caught.value.__traceback__)][1:] == [2]


def test_instrumented_code_keeps_its_docstrings_and_futures() -> None:
    namespace: dict[str, object] = {}
    exec(
        build(
            '"""Doc."""\nfrom __future__ import annotations\ndef f(x: Unknown):\n    "Of f."\n    with x: pass\n'
        ),
        namespace,
    )
    function = namespace["f"]
    assert (namespace["__doc__"], function.__doc__) == ("Doc.", "Of f.")
    assert function.__annotations__ == {"x": "Unknown"}


def test_checked_code_can_be_pickled_by_value() -> None:
    # As libraries that ship functions to other processes do it: the code's parts, one by one.
    namespace: dict[str, object] = {}
    exec(build("def f(x):\n    try:\n        return int(x)\n    except:\n        return None"), namespace)
    constants = namespace["f"].__code__.co_consts
    assert any(constant is STOP for constant in constants)
    assert any(constant is STOP for constant in pickle.loads(pickle.dumps(constants)))
    assert copyreg.dispatch_table.get(type(STOP)) is None
    assert checkpoints.STOP is pickle.Unpickler(io.BytesIO(pickle.dumps(STOP))).load()


def test_check_stands_before_a_last_expression_that_was_taken_out() -> None:
    tree = parse_module("x = 1\nf()")
    assert instrument(tree, is_followed=True)
    assert not instrument(parse_module("x = 1"), is_followed=True)
