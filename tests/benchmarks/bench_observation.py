"""What a model is sent of a tool's result of 50 MB, and what that costs beside making the text once."""

from __future__ import annotations

import gc
import json
import sys
import time
import tracemalloc

from measuring import report

SIZE = 50 * 10**6
SENT_BUDGET = 20_000
LINE = "0123456789 abcdefghijklmnopqrstuvwxyz line\n"


class Large:
    """A value whose text is 50 MB; it counts how often it was made."""

    n_made = 0

    def __str__(self) -> str:
        type(self).n_made += 1
        return LINE * (SIZE // len(LINE))

    __repr__ = __str__


def main() -> int:
    """Measure and print; 1 if over a budget."""
    from agent_magic import ScriptedModel, ToolCallingAgent

    text = LINE * (SIZE // len(LINE))
    table = {"rows": [{"id": i, "tags": ["a", "b"], "sub": {"x": i * 0.5}} for i in range(100_000)]}
    fits: list[bool] = []
    for name, value in {
        "a text of 50 MB": text,
        "a dict of 100,000 rows": table,
        "an object": Large(),
    }.items():

        def make(value: object = value) -> object:
            """Make it."""
            return value

        model = ScriptedModel([ScriptedModel.calls(("make", {})), ScriptedModel.final("done")])
        agent = ToolCallingAgent([make], model)
        gc.collect()
        tracemalloc.start()
        start = time.process_time()
        result = agent.run("Make it.")
        cpu = time.process_time() - start
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        assert result.status == "answered", result
        n_sent = len(json.dumps(model.requests[1].messages, ensure_ascii=False).encode())
        n_before = len(json.dumps(model.requests[0].messages, ensure_ascii=False).encode())
        detail = f"{cpu * 1e3:.0f} ms CPU, {peak:.1f} MB at most"
        fits.append(report(f"{name}, bytes sent for it", n_sent - n_before, SENT_BUDGET, detail))
    fits.append(report("how often the text of the object was made", Large.n_made, 1))
    return 0 if all(fits) else 1


if __name__ == "__main__":
    sys.exit(main())
