from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from inline_snapshot import snapshot

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "agent_magic"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
    "contracts"
]
ROOMS = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists())


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    run = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True, no_logo=True))"
    return subprocess.run(
        [sys.executable, "-c", run], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


def test_imports_keep_all_contracts():
    done = _lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("core/memory.py", "import agent_magic.agents", "imports fall, never climb"),
        ("tools/__init__.py", "import agent_magic.models", "imports fall, never climb"),
        ("view/__init__.py", "import agent_magic.agents", "imports fall, never climb"),
        ("agents/__init__.py", "import IPython.display", "only notebook knows IPython"),
        ("view/__init__.py", "import IPython.display", "only notebook knows IPython"),
        ("agents/__init__.py", "import traitlets", "only view knows widgets"),
        ("core/text.py", "import pydantic", "core is standard library only"),
        ("agents/__init__.py", "import litellm", "only models.litellm knows the provider library"),
        ("core/text.py", "import agent_magic.core.memory", "no cycles inside a room"),
    ],
)
def test_an_import_that_climbs_breaks_its_contract(tmp_path, module, line, contract):
    for name in [*_sources(), Path("pyproject.toml")]:
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / name).read_bytes())
    with (tmp_path / "agent_magic" / module).open("a", encoding="utf-8") as source:
        source.write(f"\n{line}\n")
    done = _lint(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{contract} BROKEN" in done.stdout


def test_every_room_stands_in_every_contract_that_holds_for_it():
    sources = {
        contract["name"]: set(contract.get("source_modules", contract.get("ancestors", ())))
        for contract in CONTRACTS
    }
    rooms = {f"agent_magic.{room}" for room in ROOMS}
    left_out = {name: sorted(rooms - modules) for name, modules in sources.items() if modules}
    assert left_out == snapshot(
        {
            "only notebook knows IPython": ["agent_magic.notebook"],
            "only view knows widgets": ["agent_magic.notebook", "agent_magic.view"],
            "core is standard library only": [
                "agent_magic.agents",
                "agent_magic.execution",
                "agent_magic.models",
                "agent_magic.notebook",
                "agent_magic.prompts",
                "agent_magic.record",
                "agent_magic.tools",
                "agent_magic.view",
            ],
            "only models.litellm knows the provider library": [],
            "no cycles inside a room": [],
        }
    )


def _sources() -> list[Path]:
    return [file.relative_to(ROOT) for file in PACKAGE.rglob("*.py")]


def test_threads_are_started_in_one_place_alone():
    makers = ("threading.Thread(", "_thread.start_new_thread(")
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if any(maker in path.read_text(encoding="utf-8") for maker in makers)
    }
    assert found == {"core/threads.py"}
