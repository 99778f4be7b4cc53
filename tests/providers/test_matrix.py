"""Provider × fault: every cell is a real run over the wire, and all of them run at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.providers.every import DIALECTS
from tests.providers.matrix import Outcome, cells, run_cells, table

DOCUMENT = Path(__file__).resolve().parents[2] / "notebooks/providers.md"


MAX_AGAIN = 2
"""Of some 600 runs over real connections, how many may be run once more."""


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    found = run_cells(list(cells()))
    wrong = [one for one in found if one.wrong]
    if not 0 < len(wrong) <= MAX_AGAIN:
        return found
    # A machine that is busy with other tests may lose a connection. What is wrong with us is wrong again.
    print("run once more:", *(f"{one.cell.name}: {one.wrong}" for one in wrong), sep="\n")
    again = {one.cell: one for one in run_cells([one.cell for one in wrong])}
    return [again.get(one.cell, one) for one in found]


@pytest.mark.parametrize("name", [dialect.name for dialect in DIALECTS])
def test_every_fault_of_a_provider_comes_to_what_it_must(outcomes: list[Outcome], name: str) -> None:
    wrong = [
        f"{one.cell.name}: {clause}"
        for one in outcomes
        for clause in one.wrong
        if one.cell.dialect.name == name
    ]
    assert not wrong, "\n".join(wrong)


def test_table_has_a_line_for_each_fault_and_marks_what_is_wrong(outcomes: list[Outcome]) -> None:
    lines = table(outcomes).splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == list(
        dict.fromkeys(one.cell.column.name for one in outcomes)
    )
    assert "WRONG" not in table(outcomes)
    first = Outcome(cell=outcomes[0].cell, came="answered", wrong=("no",), seconds=0.0)
    assert "WRONG answered" in table([first, *outcomes[1:]])


def test_document_has_the_table_and_each_backend_with_its_id(outcomes: list[Outcome]) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert f"```\n{table(outcomes)}\n```" in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    ids = {row[0].removeprefix("| "): row[1].strip("`") for row in rows[1:]}
    names = {"OpenAI-compatible": "any OpenAI-compatible server"}
    assert [ids.get(names.get(one.name, one.name)) for one in DIALECTS] == [one.model_id for one in DIALECTS]
