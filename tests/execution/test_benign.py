"""Ordinary code passes the guard, and runs."""

from __future__ import annotations

import asyncio
import contextlib
import io
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import CodeRefused
from agent_magic.execution.guard.compiling import Compiled, compile_code
from agent_magic.execution.guard.imports import AuthorizedImports
from agent_magic.execution.guard.rules import Rules
from tests.execution.benign import SNIPPETS, Answered, build_namespace

MOST_REFUSALS = 0.01


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("benign")


@pytest.fixture(autouse=True)
def _headless() -> Iterator[None]:
    before = mpl.get_backend()
    mpl.use("Agg")
    yield
    mpl.use(before)


def build(code: str, namespace: dict[str, object], *, number: int = 0) -> Compiled:
    rules = Rules(
        # matplotlib as if the notebook had imported it.
        imports=AuthorizedImports.of(("matplotlib",), namespace),
        tool_names={"lookup"},
        users={name: value for name, value in namespace.items() if name not in ("lookup", "final_answer")},
        namespace=namespace,
    )
    return compile_code(code, filename=f"<benign step {number}>", rules=rules)


def run(compiled: Compiled, namespace: dict[str, object]) -> None:
    async def go() -> None:
        for part in (compiled.code, compiled.last):
            if part is not None:
                awaited = eval(part, namespace)
                if asyncio.iscoroutine(awaited):
                    await awaited

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Answered), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if compiled.is_async:
            asyncio.run(go())
        else:
            exec(compiled.code, namespace)
            if compiled.last is not None:
                repr(eval(compiled.last, namespace))


def test_there_are_enough_snippets_and_no_two_are_alike() -> None:
    assert len(SNIPPETS) >= 300
    assert len(set(SNIPPETS)) == len(SNIPPETS)


def test_ordinary_code_is_hardly_ever_refused(folder: Path) -> None:
    namespace = build_namespace(folder)
    refused: dict[str, str] = {}
    for number, code in enumerate(SNIPPETS):
        try:
            build(code, namespace, number=number)
        except CodeRefused as refusal:
            refused[code] = refusal.message
    assert len(refused) / len(SNIPPETS) < MOST_REFUSALS, refused
    assert refused == snapshot(
        {
            """\
try:
    import polars_does_not_exist_here as pl
except ImportError:
    pl = None
print(pl is None)\
""": """\
Line 2 is refused, and nothing ran: `import polars_does_not_exist_here as pl`
The module 'polars_does_not_exist_here' is not authorized for code. Authorized are matplotlib, numpy, pandas, tests and the safe part of the standard library. The person can allow it with `--imports polars_does_not_exist_here`.\
""",
            """\
import os
print(os.path.exists(path), os.path.basename(path))\
""": """\
Line 1 is refused, and nothing ran: `import os`
The module 'os' is not authorized for code. For paths use `pathlib.Path` or `from os.path import join`, to list files `glob`. The person can allow it with `--imports os`.\
""",
        }
    )


def test_ordinary_code_runs_once_it_is_compiled(folder: Path) -> None:
    failed: dict[str, str] = {}
    for number, code in enumerate(SNIPPETS):
        namespace = build_namespace(folder)
        namespace["__name__"] = "__main__"
        try:
            compiled = build(code, namespace, number=number)
        except CodeRefused:
            continue
        before = {
            name: id(value) for name, value in namespace.items() if name in ("sales", "customers", "temps")
        }
        try:
            run(compiled, namespace)
        except Exception as error:
            failed[code] = f"{type(error).__name__}: {error}"
        assert before == {name: id(namespace[name]) for name in before}
    assert failed == {}
