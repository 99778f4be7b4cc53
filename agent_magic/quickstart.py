"""The quickstart: copies its notebook, executes it with the embedded model and tells what came out.

It must not know how an agent works; it starts a kernel and reads the record that the notebook holds.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from agent_magic.core.text import strip_control
from agent_magic.models.download import download
from agent_magic.record.schema import RUN_MIME, RunRecord

_NAME = "quickstart.ipynb"
_NEEDED = {"xllamacpp": "local", "pandas": "tutorials", "palmerpenguins": "tutorials"}
_CELL_TIMEOUT_S = 300


def run_quickstart(out: Callable[[str], None] = print, folder: Path | None = None) -> int:
    """Run the quickstart and tell its first question, tool call and answer; 0 if it was answered.

    Args:
        out: Takes each line that is told.
        folder: Where the notebook is put (default: the current one). No file of the person's is
            overwritten: one of that name that is not our notebook stays, ours gets a free name.
    """
    missing = sorted(
        {extra for package, extra in _NEEDED.items() if importlib.util.find_spec(package) is None}
    )
    if missing:
        out(
            f"The quickstart needs packages that are not installed. Run: {_python()} -m pip install 'agent-magic[{','.join(missing)}]'"
        )
        return 1
    download(out=out)
    target = copy_notebook(folder or Path.cwd())
    out(f"Executing {_shown(target)} with the embedded model …")
    try:
        notebook = execute_notebook(target)
    except CellExecutionError as error:
        out(strip_control(str(error)).strip())
        out(f"A cell failed; the notebook is saved as far as it came. {_how_to_open(target)}")
        return 1
    record = next(_records(notebook), None)
    if record is None or record["status"] != "answered" or record["answer"] is None:
        out(f"The first question got no answer. {_how_to_open(target)}")
        return 1
    out("")
    out(f"Question   {record['task'].strip()}")
    for step in record["steps"]:
        for call in step.get("calls", []):
            if "observation" in call and not step.get("is_final_answer"):
                out(f"Tool call  {call['name']}({_arguments(call['arguments'])}) → {call['observation']}")
    out(f"Answer     {record['answer']['text']}")
    out("")
    out(_how_to_open(target))
    return 0


def copy_notebook(folder: Path) -> Path:
    """Path of the quickstart notebook in `folder`: a copy, or an earlier one with the same cells."""
    source = _find_source()
    ours = _sources(nbformat.read(source, as_version=4))
    number = 1
    while True:
        target = folder / (_NAME if number == 1 else f"quickstart-{number}.ipynb")
        if not target.exists():
            target.write_bytes(source.read_bytes())
            return target
        if _is_notebook_of(target, ours):
            return target
        number += 1


def execute_notebook(path: Path) -> Any:
    """Run all cells in a kernel of this very Python and save the outputs; the notebook.

    Raises:
        CellExecutionError: A cell failed; what came before is saved.
    """
    notebook = nbformat.read(path, as_version=4)
    # No folders for kernel specs: what is left is the kernel of this Python.
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    where = {"metadata": {"path": str(path.parent.resolve())}}
    # A kernel warns on the terminal that it is not encrypted; it listens on loopback.
    quiet = ["--IPKernelApp.log_level=ERROR"]
    client = NotebookClient(
        notebook, km=manager, timeout=_CELL_TIMEOUT_S, resources=where, extra_arguments=quiet
    )
    try:
        client.execute(cleanup_kc=True)
    finally:
        nbformat.write(notebook, path)
    return notebook


def _find_source() -> Path:
    """In the wheel the notebook lies inside the package, in a checkout beside it."""
    package = Path(__file__).parent
    places = [package / "notebooks" / _NAME, package.parent / "notebooks" / _NAME]
    return next(place for place in places if place.exists())


def _sources(notebook: Any) -> list[str]:
    return [cell.source for cell in notebook.cells]


def _is_notebook_of(path: Path, sources: list[str]) -> bool:
    try:
        return _sources(nbformat.read(path, as_version=4)) == sources
    except (OSError, ValueError, AttributeError, nbformat.ValidationError):
        return False  # not readable as a notebook, so it is somebody else's


def _records(notebook: Any) -> Iterator[RunRecord]:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if RUN_MIME in output.get("data", {}):
                yield output["data"][RUN_MIME]


def _arguments(arguments: dict[str, Any] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _how_to_open(notebook: Path) -> str:
    jupyter = Path(sys.executable).with_name("jupyter")
    command = _shown(jupyter) if jupyter.exists() else f"{_python()} -m jupyter"
    as_root = " --allow-root" if hasattr(os, "geteuid") and os.geteuid() == 0 else ""
    return f"Open it: {command} lab{as_root} {_shown(notebook)}"


def _python() -> str:
    return _shown(Path(sys.executable))


def _shown(path: Path) -> str:
    """Relative to the current folder where that is shorter."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
