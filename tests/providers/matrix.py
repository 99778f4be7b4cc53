"""Prints provider × fault as one table, each cell a real run over the wire: `python -m tests.providers.matrix`.

Ends with exit code 1 if a cell is not as it must be. It must not judge otherwise than the tests.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from agent_magic.core.messages import ChatMessage
from tests.providers.columns import COLUMNS, FINAL, Column
from tests.providers.dialect import Dialect
from tests.providers.every import DIALECTS
from tests.providers.seen import Seen, model_at, run_once
from tests.providers.server import ProviderServer, serving

N_THREADS = 24
"""Runs at once: most of them wait."""
_ASK = (ChatMessage(role="user", content="Are you there?"),)
_SHORT = {
    "answered": "answered",
    "answered (told)": "told",
    "answered (retried)": "retried",
    "answered (3 more tries)": "3 retries",
    "failed": "fails",
    "failed (3 more tries)": "gives up",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One dialect, one fault, one way to ask."""

    dialect: Dialect
    column: Column
    is_stream: bool

    @property
    def name(self) -> str:
        """As a report of what is wrong has it."""
        return f"{self.dialect.name}, {self.column.name}, {'streamed' if self.is_stream else 'whole'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a cell."""

    cell: Cell
    came: str
    wrong: tuple[str, ...]
    seconds: float


def cells() -> Iterator[Cell]:
    """All cells there are."""
    for dialect in DIALECTS:
        for column in COLUMNS:
            if column.name not in dialect.skips:
                yield Cell(dialect=dialect, column=column, is_stream=True)
                if not column.is_stream_only:
                    yield Cell(dialect=dialect, column=column, is_stream=False)


def run_cells(chosen: Sequence[Cell]) -> list[Outcome]:
    """Run the cells side by side, the slow ones first."""
    order = sorted(chosen, key=lambda cell: -abs(60 - cell.column.timeout_s))
    with serving() as server, ThreadPoolExecutor(N_THREADS) as threads:
        _warm_up(server, chosen)
        done = dict(zip(order, threads.map(lambda cell: _run(server, cell), order), strict=True))
    return [done[cell] for cell in chosen]


def _warm_up(server: ProviderServer, chosen: Sequence[Cell]) -> None:
    """Ask each dialect once in each way from one thread.

    The library keeps a client for each; two threads that make the same one leave the other's line open.
    """
    ways = {(cell.dialect, cell.is_stream, cell.column.timeout_s) for cell in chosen}
    for dialect, is_stream, timeout_s in sorted(ways, key=lambda way: (way[0].name, *way[1:])):
        line = server.open_line([dialect.say(FINAL)])
        list(model_at(server, line, dialect, stream=is_stream, timeout_s=timeout_s).stream(_ASK))


def _run(server: ProviderServer, cell: Cell) -> Outcome:
    begin = time.monotonic()
    came = "crashed"
    try:
        seen: Seen = run_once(
            server,
            cell.dialect,
            cell.column.answers(cell.dialect),
            is_stream=cell.is_stream,
            timeout_s=cell.column.timeout_s,
        )
        came = seen.came
        wrong = cell.column.wrong(seen, cell.dialect)
    except Exception as crash:
        wrong = [f"{type(crash).__name__}: {crash}"]
    return Outcome(cell=cell, came=came, wrong=tuple(wrong), seconds=time.monotonic() - begin)


def table(outcomes: Sequence[Outcome]) -> str:
    """A row for each column of faults, a column for each provider: the longer side goes down."""
    dialects = list(dict.fromkeys(one.cell.dialect.name for one in outcomes))
    columns = list(dict.fromkeys(one.cell.column.name for one in outcomes))
    rows = [["", *dialects]]
    rows += [[column, *(_mark(outcomes, dialect, column) for dialect in dialects)] for column in columns]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _mark(outcomes: Sequence[Outcome], dialect: str, column: str) -> str:
    here = [one for one in outcomes if (one.cell.dialect.name, one.cell.column.name) == (dialect, column)]
    if not here:
        return "-"
    words = " / ".join(dict.fromkeys(_SHORT.get(one.came, one.came) for one in here))
    return f"WRONG {words}" if any(one.wrong for one in here) else words


def main(names: Sequence[str] = ()) -> int:
    """Run all cells, or those whose dialect or fault has one of these names; 1 if one is wrong."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    begin = time.monotonic()
    chosen = [cell for cell in cells() if not names or {cell.dialect.name, cell.column.name} & set(names)]
    outcomes = run_cells(chosen)
    print(table(outcomes))
    wrong = [f"{one.cell.name}: {clause}" for one in outcomes for clause in one.wrong]
    print(
        f"\n{len(outcomes)} runs, streamed and whole, in {time.monotonic() - begin:.0f} s; {len(wrong)} wrong"
    )
    print("".join(f"{clause}\n" for clause in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
