"""A case of a bad reply asked of a real agent in a real kernel, and what came of it.

It must not judge.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cases.bad_replies import FORMS, SETUP, Raw, write_reply
from cases.code_cells import CodeCells, Run, Step, last_display
from kernels import Execution, Kernel
from view.markup import Page

PARAMETERS = {"add": ("a", "b"), "echo": ("text",), "pick": ("colour", "sizes"), "boom": (), "page": ()}
"""Of the tools of all cases."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What came of a case."""

    case: Raw
    form: str
    run: Run
    called: list[tuple[str, dict[str, Any]]]
    """The calls that reached the tools, in order."""
    requests: list[list[dict[str, Any]]]
    """What the model was sent."""
    cells: CodeCells
    done: Execution
    n_threads: int
    """The most that ran while a tool did, beside those from before."""
    cpu_s: float

    @property
    def first(self) -> Step:
        return self.run.steps[0]

    @cached_property
    def shown(self) -> dict[str, Any]:
        return last_display(self.done)

    @cached_property
    def page(self) -> Page:
        return Page(self.shown["text/html"])

    @cached_property
    def stored(self) -> str:
        """All that is stored with the cell."""
        return json.dumps(self.done.outputs, ensure_ascii=False)

    @cached_property
    def sent(self) -> str:
        """All that the model was sent."""
        return json.dumps(self.requests, ensure_ascii=False)


def ask(kernel: Kernel, case: Raw, form: str) -> Seen:
    cells = CodeCells(kernel)
    later = "[reply] * 9" if case.get("script_repeat") else "[ScriptedModel.final('recovered')] * 9"
    cells.define(
        f"{SETUP['code']}\n"
        "import json, threading, time\n"
        "from agent_magic import ScriptedModel\n"
        "from agent_magic.models.model import Capabilities\n"
        "class Noting(list):\n"
        "    def append(self, call):\n"
        "        peaks.append(threading.active_count())\n"
        "        time.sleep(0.002)\n"
        "        super().append(call)\n"
        f"CALLS, peaks, n_before = Noting(), [0], threading.active_count()\n"
        f"reply = {write_reply(case, form)}\n"
        f"m = ScriptedModel([reply, *{later}], capabilities=Capabilities(tools={FORMS[form]}))\n"
        "cpu = time.process_time()"
    )
    tools = ", ".join(PARAMETERS)
    done = cells.ask(f"--model @m --tools {tools} --max-steps {SETUP['max_steps']} --no-raise", SETUP["task"])
    told = json.loads(
        cells.define(
            "print(json.dumps([CALLS, [r.messages for r in m.requests], max(peaks) - n_before, time.process_time() - cpu]))"
        ).stdout
    )
    (run,) = cells.runs()
    return Seen(
        case=case,
        form=form,
        run=run,
        called=[(name, dict(zip(PARAMETERS[name], values, strict=True))) for name, *values in told[0]],
        requests=told[1],
        n_threads=told[2],
        cpu_s=told[3],
        cells=cells,
        done=done,
    )
