"""Malformed and hostile replies of a model that writes code, each asked of a real agent in a real kernel."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import nbformat
import pytest
from cases.bad_replies import SETUP, cases_of
from cases.code_cells import RECORD, CodeCells, Step, block, last_display
from kernels import Execution, Kernel
from models.openai_server import OpenAIServer, Turn, delta, fault, serve
from view.markup import ATTRIBUTES, ELEMENTS, Page

CLOSING = block('final_answer("recovered")')
MAX_ERROR = 4_000
KNOWN = {"outcome", "also_ok", "calls", "final", "final_type", "error_any", "never", "note"}

pytestmark = pytest.mark.kernel


class Seen:
    """What came of a case."""

    def __init__(self, case: dict[str, Any], cells: CodeCells, done: Execution) -> None:
        self.case = case
        self.cells = cells
        self.done = done
        (self.run,) = cells.runs()
        self.first: Step = self.run.steps[0] if self.run.steps else NOTHING
        self.shown = last_display(done)
        self.page = Page(self.shown["text/html"])
        self.called: list[list[Any]] = json.loads(
            cells.define("print(__import__('json').dumps(CALLS))").stdout
        )

    @property
    def stored(self) -> str:
        """All that is stored with the cell, as text."""
        return json.dumps(self.done.outputs, ensure_ascii=False)

    @property
    def sent(self) -> str:
        """All that the model was sent."""
        return self.cells.define("print(ascii([r.messages for r in m.requests]))").stdout

    @property
    def n_requests(self) -> int:
        return int(self.cells.value("len(m.requests)"))


NOTHING = Step(code=None, faults=[], is_final=False, seconds=0, told="", notes=[], value={}, calls=[])


# -- clauses that are prose, each with its assertion ---------------------------------------------


def check_prose_is_no_answer(seen: Seen) -> None:
    assert seen.run.answer["value"] != seen.case["output"]
    assert not seen.first.is_final


def check_add_did_not_run(seen: Seen) -> None:
    assert [call for call in seen.called if call[0] == "add"] == []
    assert [call for call in seen.first.calls if call["name"] == "add"] == []


def check_saving_raised_nothing(seen: Seen) -> None:
    # the memory, the record, all four forms and the notebook are text that can be written
    seen.cells.check_memory()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=_storable(seen.done))])
    nbformat.writes(notebook).encode("utf-8")
    for form in seen.shown.values():
        json.dumps(form, ensure_ascii=False).encode("utf-8")
    assert "UnicodeEncodeError" not in seen.done.stderr + seen.done.stdout


def check_no_shell_ran(seen: Seen) -> None:
    assert seen.first.code is None
    assert "owned" not in [line.strip() for line in seen.first.told.splitlines()]
    assert "owned" not in seen.done.stdout + seen.done.stderr


def check_call_does_not_count(seen: Seen) -> None:
    assert seen.called == []
    assert seen.first.calls == []


def check_little_of_it_in_the_prompt(seen: Seen) -> None:
    assert 0 < seen.sent.count("z") < MAX_ERROR + len(seen.case["output"])


def check_run_did_not_end(seen: Seen) -> None:
    assert seen.run.status == "answered"
    assert len(seen.run.steps) == 2


def check_nothing_recursed(seen: Seen) -> None:
    seen.cells.check_memory()
    assert "RecursionError" not in seen.stored
    assert "[...]" in seen.shown[RECORD]["answer"]["text"]
    assert "[...]" in seen.page.text


NEVER: dict[str, Callable[[Seen], None]] = {
    "the prose as the final answer": check_prose_is_no_answer,
    "add runs": check_add_did_not_run,
    "UnicodeEncodeError on save": check_saving_raised_nothing,
    "a shell command runs": check_no_shell_ran,
    "the call counted as done": check_call_does_not_count,
    "more than 4000 characters of it in the prompt": check_little_of_it_in_the_prompt,
    "RuntimeError ending the run": check_run_did_not_end,
    "RecursionError on save or render": check_nothing_recursed,
    "the part of the code runs": check_add_did_not_run,
}


def note_one_step(seen: Seen) -> None:
    assert len(seen.run.steps) == 1
    assert [call["name"] for call in seen.first.calls] == ["add"]
    assert seen.first.code is not None
    assert seen.first.code.index("add(1, 2)") < seen.first.code.index("final_answer(x + 1)")


def note_literal_is_no_code(seen: Seen) -> None:
    assert seen.first.kind == "ParsingError"
    assert seen.first.code is None


def note_final_answer_is_callable(seen: Seen) -> None:
    assert seen.run.steps[1].is_final
    assert seen.cells.value("'final_answer' in globals()") == "False"


def note_add_is_the_same(seen: Seen) -> None:
    assert seen.cells.value("add is ADD") == "True"


def note_kept_is_3(seen: Seen) -> None:
    assert seen.cells.value("kept") == "3"


def note_shortened_or_said(seen: Seen) -> None:
    assert seen.run.status in ("answered", "failed")


NOTES: dict[str, Callable[[Seen], None]] = {
    "both blocks run once each, in order, as one step": note_one_step,
    "it parses as a Python dict, but a lone literal or name is no code": note_literal_is_no_code,
    "final_answer is still callable in the next step": note_final_answer_is_callable,
    "the notebook's own add is the same object as before": note_add_is_the_same,
    "the variable kept is 3 afterwards, as in a notebook cell, unless the roll-back option is on": note_kept_is_3,
    "older observations are shortened and it is tried once more, or the run fails and says so": note_shortened_or_said,
}


# -- running and judging -------------------------------------------------------------------------


@pytest.fixture
def kernel(kept_kernel: Kernel) -> Kernel:
    """One process for all; each case empties the namespace."""
    return kept_kernel


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def ready(kernel: Kernel) -> CodeCells:
    cells = CodeCells(kernel)
    cells.define(SETUP["code"] + "\nADD = add")
    return cells


def ask(cells: CodeCells, case: dict[str, Any], model: str = "m") -> Seen:
    tools = "add, echo, pick, boom, page"
    task, steps = SETUP["task"], SETUP["max_steps"]
    done = cells.ask(f"--mode code --model @{model} --tools {tools} --max-steps {steps} --no-raise", task)
    return Seen(case, cells, done)


@pytest.mark.parametrize("case", cases_of("code", is_provider=False), ids=lambda case: case["id"])
def test_bad_output_has_its_outcome(kernel: Kernel, case: dict[str, Any]) -> None:
    assert case.keys() == {"id", "title", "output", "expect"}
    cells = ready(kernel)
    cells.script([case["output"], *[CLOSING] * 4])
    seen = ask(cells, case)
    judge(seen)
    check_rules(seen)


@pytest.mark.parametrize("case", cases_of("code", is_provider=True), ids=lambda case: case["id"])
def test_bad_provider_has_its_outcome(kernel: Kernel, server: OpenAIServer, case: dict[str, Any]) -> None:
    assert case.keys() == {"id", "title", "provider", "expect"}
    server.play(*map(turn, case["provider"]))
    cells = ready(kernel)
    cells.define(
        "from agent_magic import LiteLLMModel\n"
        f"m = LiteLLMModel('openai/tiny', api_base={server.api_base!r}, api_key='none', timeout_s=10)"
    )
    seen = ask(cells, case)
    judge(seen)
    check_rules(seen)


def turn(raw: dict[str, Any]) -> Turn:
    match raw:
        case {"status": int(status), "code": str(code)}:
            return fault(status, "This model's maximum context length is 8192 tokens.", code=code)
        case {"stream_chunks": list(chunks), "then": "connection_reset"}:
            return Turn(chunks=[delta(content=chunk) for chunk in chunks], end="reset")
        case {"reply": "closing"}:
            return Turn(chunks=[delta(content=CLOSING), delta("stop")])
        case _:
            raise AssertionError(f"what the provider does is not known: {raw}")


def judge(seen: Seen) -> None:
    expect = seen.case["expect"]
    assert expect.keys() <= KNOWN
    outcome = outcome_of(seen)
    assert outcome in (expect["outcome"], *expect.get("also_ok", ())), seen.run
    wanted = [(call["name"], call.get("arguments", {})) for call in expect.get("calls", ())]
    made = [
        (call["name"], {name: value["value"] for name, value in call["arguments"].items()})
        for call in seen.first.calls
    ]
    is_other = outcome == "error_step" and expect["outcome"] != "error_step"
    assert made == wanted or (is_other and made == [])
    assert [tuple(call) for call in seen.called] == [(name, *arguments.values()) for name, arguments in made]
    match outcome:
        case "error_step":
            assert any(word.lower() in seen.first.error.lower() for word in expect["error_any"]), (
                seen.first.error
            )
            assert seen.first.error in seen.first.told
            assert_answered(seen, "recovered", 2)
        case "run_calls":
            assert_answered(seen, expect.get("final", "recovered"), 2)
        case "final":
            value = expect.get("final", "recovered")
            if "final_type" in expect:
                assert seen.run.answer["type"] == expect["final_type"]
            else:
                assert_answered(seen, value, 1)
        case "fail_run":
            assert any(word in (seen.run.error or "").lower() for word in expect["error_any"]), seen.run.error
            assert seen.run.answer["value"] is None
        case _:
            raise AssertionError(outcome)
    for never in expect.get("never", ()):
        NEVER[never](seen)
    if "note" in expect:
        NOTES[expect["note"]](seen)


def outcome_of(seen: Seen) -> str:
    if seen.run.status == "failed":
        return "fail_run"
    if seen.first.is_final:
        return "final"
    return "error_step" if seen.first.faults else "run_calls"


def assert_answered(seen: Seen, value: Any, n_steps: int) -> None:
    assert seen.run.status == "answered"
    assert len(seen.run.steps) == n_steps
    assert (seen.run.answer["is_held"], seen.run.answer["value"]) == (True, value)
    assert seen.run.answer["type"] == type(value).__name__


def check_rules(seen: Seen) -> None:
    """What holds for every case."""
    # the kernel stays alive
    assert seen.cells.kernel.is_alive()
    assert seen.cells.value("6 * 7") == "42"
    # memory can be saved and loaded again; every call has exactly one result
    seen.cells.check_memory()
    # no step takes over 2 s more than the tools, which take no time
    assert [step.seconds for step in seen.run.steps if step.seconds > 2] == []
    # no error text shown to the model is over 4000 characters
    assert [len(step.error) for step in seen.run.steps if len(step.error) > MAX_ERROR] == []
    # no traceback of the agent's own code reaches the user
    assert seen.done.error is None
    for trace in ("Traceback", "agent_magic/", "site-packages"):
        assert trace not in seen.stored, trace
    # what the page holds is of our making: no element, no attribute from the text
    assert set(seen.page.elements) <= ELEMENTS
    assert {name for name, _ in seen.page.attributes} <= ATTRIBUTES
    assert seen.page.is_balanced
    assert "\x1b" not in seen.shown["text/html"] + seen.shown["text/plain"]


def _storable(done: Execution) -> list[dict[str, Any]]:
    return nbformat.from_dict(
        [{name: value for name, value in output.items() if name != "transient"} for output in done.outputs]
    )
