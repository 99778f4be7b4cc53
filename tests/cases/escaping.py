"""The cases of what a guard does: read strictly, run in a kernel, judged clause by clause.

It must not let a key or an outcome pass that it does not know.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from cases.code_cells import CodeCells, Run, Step, block, last_display
from kernels import Execution, Kernel

FOLDER = Path(__file__).parent
OUTCOMES = ("blocked", "timeout", "final", "unchanged", "error", "capped", "allowed", "limit")
TIMEOUT_S = 2.0
_AT_MOST_S = TIMEOUT_S + 1.0
MAX_OUTPUT = 20_000
_PATIENCE_S = 40.0
OPTIONS = "--mode code --model @the_model --tools add --step-timeout 2 --writes new --approve never"
_DEFINE = '''
import pandas as pd, numpy as np
FLAG = []
user_list = [1, 2, 3]
user_df = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
user_arr = np.arange(5)
def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: first
        b: second
    """
    return a + b
'''
_OVER = block("final_answer('over')")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One snippet and what is wanted of it; the head of the file says what each field means."""

    id: str
    category: str
    code: str
    guard: str
    names: tuple[str, ...] = ()
    also_ok: tuple[str, ...] = ()
    value: Any = None
    value_type: str | None = None
    after: tuple[str, ...] = ()
    probe: str = "1 + 1"
    probe_value: Any = None
    note: str = ""
    has_value: bool = False
    has_probe_value: bool = False
    says: str = ""
    """Of a limit: what the guard does not stop, in one line for people."""
    define: str = ""
    """Of a limit: further names of the user's."""
    protect: str = "user_list,user_df,user_arr"
    dies: bool = False
    """Of a limit: the process ends."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """Outcomes that are right."""
        return (self.guard, *self.also_ok)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of a case."""

    outcome: str
    seconds: float = 0.0
    told: str = ""
    """What the model was told of the step."""
    wrong: tuple[str, ...] = ()
    """Clauses that do not hold."""
    notes: list[str] = field(default_factory=list)


def read(name: str) -> list[Case]:
    """The cases of a file.

    Raises:
        ValueError: A case has a key or an outcome that is not known.
    """
    cases = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))["cases"]
    return [_case(raw) for raw in cases]


def _case(raw: dict[str, Any]) -> Case:
    known = set(Case.__dataclass_fields__) - {"has_value", "has_probe_value"}
    if raw.keys() - known:
        raise ValueError(f"{raw['id']}: keys that are not known: {sorted(raw.keys() - known)}")
    tuples = {key: tuple(raw[key]) for key in ("names", "also_ok", "after") if key in raw}
    case = Case(**{**raw, **tuples}, has_value="value" in raw, has_probe_value="probe_value" in raw)
    if unknown := set(case.wanted) - set(OUTCOMES):
        raise ValueError(f"{case.id}: outcomes that are not known: {sorted(unknown)}")
    if ("blocked" in case.wanted) != bool(case.names):
        raise ValueError(f"{case.id}: give names of what is refused, and only where something is")
    return case


@contextmanager
def kernel_of_cases() -> Iterator[Kernel]:
    """A kernel for one case after another."""
    with TemporaryDirectory() as folder:
        kernel = Kernel(Path(folder))
        kernel.start()
        try:
            yield kernel
        finally:
            kernel.shutdown()


def run_case(kernel: Kernel, case: Case) -> Seen:
    """Run one case in a namespace of its own, and judge it."""
    cells = CodeCells(kernel)
    cells.define(_DEFINE + case.define)
    cells.inside_quietly("prepare(globals())")
    cells.script([block(case.code), block(case.probe), _OVER], name="the_model")
    try:
        first = _ask(cells, f"{OPTIONS} --protect {case.protect}")
        if first is not None and cells.runs()[0].steps[0].is_final:
            cells.ask(task="Go on.")
        if first is not None:
            return _judge(cells, case, first)
    except TimeoutError as hung:
        kernel.restart()
        return Seen(outcome="hung", wrong=(f"the kernel does not answer: {str(hung)[:200]}",))
    kernel.restart()
    return Seen(outcome="limit" if case.dies else "dead", wrong=() if case.dies else ("the kernel died",))


def _ask(cells: CodeCells, options: str) -> Execution | None:
    """Run the agent's cell; None if the process ended."""
    kernel = cells.kernel
    running = kernel.begin(f"%%agent bot {options}\nDo it.")
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return kernel.finish(running, timeout_s=1)
        except TimeoutError:
            if not kernel.is_alive():
                return None
            if time.monotonic() > end:
                raise


def _judge(cells: CodeCells, case: Case, first: Execution) -> Seen:
    runs = cells.runs()
    step = runs[0].steps[0]
    shown = last_display(first)
    facts = {
        "out": step.told,
        "saved": json.dumps(shown["application/vnd.agent-magic.run.v1+json"], ensure_ascii=False),
        "rendered": shown["text/html"],
        "seconds": step.seconds,
    }
    told = cells.inside(
        f"print_claims(globals(), {list(case.after)!r}, __import__('json').loads({json.dumps(facts)!r}))"
    )
    outcome = _outcome(case, step, told["changed"])
    wrong = [] if outcome in case.wanted else [f"{outcome}, wanted {' or '.join(case.wanted)}"]
    wrong += _clauses(case, outcome, runs, step)
    wrong += _probe_clauses(case, runs)
    if case.dies:
        wrong.append("the process goes on")
    wrong += [
        f"{claim}: {truth}"
        for claim, truth in zip(case.after, told["claims"], strict=True)
        if truth is not True
    ]
    wrong += [f"changed: {name}" for name in told["changed"]]
    if first.error is not None:
        wrong.append(f"the cell raised {first.error.ename}: {first.error.evalue}")
    cells.check_memory()
    return Seen(outcome=outcome, seconds=step.seconds, told=step.told, wrong=tuple(wrong), notes=step.notes)


def _outcome(case: Case, step: Step, changed: list[str]) -> str:
    """The one word; of two that fit, the one that is wanted."""
    if "unchanged" in case.wanted and not set(changed) & _PROTECTED:
        return "unchanged"
    if step.is_final:
        return "final" if case.guard == "final" or "allowed" not in case.wanted else "allowed"
    match step.kind:
        case "CodeRefused":
            return "blocked"
        case "CodeExecutionError" if "time limit" in step.error:
            return "timeout" if step.seconds <= _AT_MOST_S else "limit"
        case str():
            return "error"
        case None:
            pass
    if "capped" in case.wanted and "characters cut" in step.told:
        return "capped"
    return "allowed" if "allowed" in case.wanted or "limit" not in case.wanted else "limit"


_PROTECTED = {
    "user_list",
    "user_df",
    "user_arr",
    "values of user_list",
    "values of user_df",
    "values of user_arr",
}


def _clauses(case: Case, outcome: str, runs: list[Run], step: Step) -> Iterator[str]:
    """What the outcome itself promises."""
    yield from _error_clauses(case, outcome, step.error)
    if outcome == "capped":
        yield from _capped_clauses(step.told)
    if step.is_final:
        yield from _answer_clauses(case, runs[0])
    elif runs[0].status != "answered" or len(runs[0].steps) < 2:
        yield f"the run did not go on: {runs[0].status}, {runs[0].error}"
    elif outcome == "allowed" and case.has_value:
        yield "final_answer was not reached"


def _error_clauses(case: Case, outcome: str, error: str) -> Iterator[str]:
    match outcome:
        case "blocked":
            if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", error) for name in case.names):
                yield f"the refusal names none of {', '.join(case.names)}: {error!r}"
        case "timeout":
            if not re.search(r"\b2(\.0)? s\b", error):
                yield f"the error does not tell the limit of 2 s: {error!r}"
        case "limit" if "time limit" in error:
            if not re.search(r"\b\d+(\.\d+)? s\b", error.replace("2 s", "", 1)):
                yield f"the error does not tell how long it really took: {error!r}"
        case _:
            pass


def _capped_clauses(told: str) -> Iterator[str]:
    if len(told) > MAX_OUTPUT:
        yield f"{len(told):,} characters reach the model"
    if not re.search(r"… [\d,]+ characters cut", told):
        yield "no count of what was dropped"
    head, _, tail = told.partition("characters cut")
    if "x" * 1_000 not in head or "x" * 1_000 not in tail:
        yield "not both head and tail are kept"


def _answer_clauses(case: Case, run: Run) -> Iterator[str]:
    answer = run.answer
    if case.has_value and (not answer["is_held"] or answer["value"] != case.value):
        yield f"answered {answer}, wanted {case.value!r}"
    kind = case.value_type or (type(case.value).__name__ if case.has_value else None)
    if kind is not None and answer["type"] != kind:
        yield f"answered a {answer['type']}, wanted a {kind}"
    if run.status != "answered" or len(run.steps) != 1:
        yield f"the run did not end with it: {run.status}"


def _probe_clauses(case: Case, runs: list[Run]) -> Iterator[str]:
    """That the next step works."""
    rest = [*runs[0].steps[1:], *(step for run in runs[1:] for step in run.steps)]
    if not rest:
        yield "no next step"
        return
    probe = rest[0]
    if probe.faults:
        yield f"the next step failed: {probe.error}"
    answer = next((run.answer for run in runs if probe in run.steps), None)
    if case.has_probe_value and (not probe.is_final or answer is None or answer["value"] != case.probe_value):
        yield f"the next step answered {answer}, wanted {case.probe_value!r}"
    if case.probe == "1 + 1" and probe.value["value"] != 2:
        yield f"1 + 1 gave {probe.value} in the next step"
