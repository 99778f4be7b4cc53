"""Values of tools in code: what a tool returned is what the code has."""

from __future__ import annotations

from cases.code_cells import block

ASK = "%%agent bot --mode code --model @m --tools"


def test_schema_union_return(case, cells):
    cells.define(case.code)
    model = cells.model(block('x = probe("flag")'), block("final_answer(x)"))
    done = cells.run(f"{ASK} probe\nLook the flag up.")
    # the agent is created without error
    assert done.error is None
    assert "def probe(key: str) -> str | bool:" in model.requests[0].messages[0]["content"]
    # a bool, not "True"
    assert done.value is True
