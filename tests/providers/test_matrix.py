"""Provider × fault: every cell is a real run over the wire, and all of them run at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.providers.every import DIALECTS
from tests.providers.matrix import Outcome, cells, run_cells, table

DOCUMENT = Path(__file__).resolve().parents[2] / "notebooks/providers.md"


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return run_cells(list(cells()))


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
