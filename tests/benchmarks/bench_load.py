"""What `%load_ext agent_magic` costs in CPU, in units of `python -c pass`, and what it imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from measuring import child_cpu_s, median, report, rounds, run_python

BUDGET = 8.0
N_ROUNDS = 15
WATCHED = [
    *("litellm", "openai", "httpx", "rich", "pandas", "xllamacpp", "ipywidgets", "anywidget"),
    *(
        "pydantic",
        "jsonschema",
        "jinja2",
        "yaml",
        "docstring_parser",
        "json_repair",
        "tenacity",
        "platformdirs",
        "PIL",
    ),
]


def main() -> int:
    """Measure and print; 1 if over budget."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "IPYTHONDIR": folder}
        shell = run_python(
            "-m", "IPython", "--no-banner", "--no-confirm-exit", "--HistoryManager.enabled=False", "-c"
        )
        bare = [*shell, "pass"]
        loaded = [*shell, "%load_ext agent_magic"]
        for command in (bare, loaded):  # byte code and the profile are written once
            child_cpu_s(command, env)
        table = rounds(
            N_ROUNDS,
            lambda: child_cpu_s(run_python("-c", "pass"), env),
            lambda: child_cpu_s(bare, env),
            lambda: child_cpu_s(loaded, env),
        )
        empty, plain, with_us = (median(column) for column in zip(*table, strict=True))
        ratio = median([(row[2] - row[1]) / empty for row in table])
        detail = (
            f"python -c pass {empty * 1e3:.1f} ms, shell {plain * 1e3:.0f} ms, "
            f"with %load_ext {with_us * 1e3:.0f} ms; median of {N_ROUNDS} rounds"
        )
        fits = report("load_ext, in CPU of `python -c pass`", ratio, BUDGET, detail)
        print("     imported:", ", ".join(_imported([*shell], env)) or "none of those watched")
    return 0 if fits else 1


def _imported(shell: list[str], env: dict[str, str]) -> list[str]:
    code = (
        "import sys; _before = set(sys.modules)\n"
        "get_ipython().run_line_magic('load_ext', 'agent_magic')\n"
        "import json; print(json.dumps(sorted({m.partition('.')[0] for m in set(sys.modules) - _before})))"
    )
    done = subprocess.run(
        [*shell, code], env=env, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    new = set(json.loads(done.stdout.splitlines()[-1]))
    return [name for name in WATCHED if name in new]


if __name__ == "__main__":
    sys.exit(main())
