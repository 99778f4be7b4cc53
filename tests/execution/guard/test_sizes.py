"""Values that constants alone would make too large are found before they are made."""

from __future__ import annotations

import ast
import time

import pytest
from inline_snapshot import snapshot

from agent_magic.execution.guard.sizes import why_too_large


def why(expression: str) -> str | None:
    node = ast.parse(expression, mode="eval").body
    assert isinstance(node, ast.BinOp | ast.Call)
    return why_too_large(node)


def test_too_large_value_is_described() -> None:
    expressions = (
        "10 ** 10 ** 10",
        "3 ** (3 * 10**8)",
        "1 << 10**11",
        "[0] * 10**11",
        "10**9 * (1, 2)",
        "'x' * 10**10",
        "bytearray(64 * 10**9)",
        "bytes(10**12)",
        "list(range(10**10))",
        "set(range(5, 10**10, 2))",
    )
    assert {expression: why(expression) for expression in expressions} == snapshot(
        {
            "10 ** 10 ** 10": "a whole number of up to 12,041,200,000 digits",
            "3 ** (3 * 10**8)": "a whole number of up to 180,618,000 digits",
            "1 << 10**11": "a whole number of up to 30,103,000,000 digits",
            "[0] * 10**11": "100,000,000,000 items at once",
            "10**9 * (1, 2)": "2,000,000,000 items at once",
            "'x' * 10**10": "10,000,000,000 characters at once",
            "bytearray(64 * 10**9)": "64,000,000,000 bytes at once",
            "bytes(10**12)": "1,000,000,000,000 bytes at once",
            "list(range(10**10))": "a list of 10,000,000,000 items",
            "set(range(5, 10**10, 2))": "a set of 4,999,999,998 items",
        }
    )


@pytest.mark.parametrize(
    "expression",
    [
        "10 ** 6",
        "2 ** 1_000",
        "[0] * 1_000_000",
        "'x' * 8_000_000",
        "'-' * 40",
        "bytes(1_000)",
        "list(range(1_000_000))",
        "range(10**12)",
        "x ** 10**10",
        "[0] * n",
        "2 ** -1",
        "1 << 20",
        "list(range(10, 0, -1))",
        "list(range(0, 5, 0))",
        "2.5 * 3",
        "True * 3",
    ],
)
def test_ordinary_value_is_not_too_large(expression: str) -> None:
    assert why(expression) is None


def test_long_chain_of_operations_is_judged_quickly() -> None:
    node = ast.parse("*".join(["9"] * 900), mode="eval").body
    started = time.perf_counter()
    while isinstance(node, ast.BinOp):
        why_too_large(node)
        node = node.left
    assert time.perf_counter() - started < 10
