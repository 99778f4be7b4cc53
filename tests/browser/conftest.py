"""Fixtures of the browser tests; without a Chromium they are skipped, in CI they fail."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Chromium, find_fault
from lab import SHOTS, Lab, is_answering, serve_lab

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "agent_magic/labextension"
OLD = Path(os.environ.get("OLD_JUPYTER", ROOT / ".venv-old/bin/python"))
"""Python of an environment with the oldest JupyterLab and ipykernel that are supported."""


@pytest.fixture(scope="session")
def live_view() -> None:
    """The live view is built; without it the test is skipped, in CI it fails."""
    if not (EXTENSION / "package.json").is_file():
        reason = "live view not built: run `poe build-view`"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="module")
def lab_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab serves."""
    return tmp_path_factory.mktemp("lab")


class _Server:
    """A JupyterLab that is started when it is wanted, and anew when it does not answer any more."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._address = ""
        self._running = contextlib.ExitStack()

    def address(self) -> str:
        """Where it answers."""
        if not (self._address and is_answering(self._address)):
            self.stop()
            # What was built last is served, also where the package is not installed, or as a copy.
            extensions = {"agent-magic": EXTENSION}
            self._address = self._running.enter_context(serve_lab(self._folder, extensions=extensions))
        return self._address

    def stop(self) -> None:
        """End it, and its kernels."""
        self._address = ""
        self._running.close()


@pytest.fixture(scope="module")
def _server(lab_folder: Path) -> Iterator[_Server]:
    server = _Server(lab_folder)
    try:
        yield server
    finally:
        server.stop()


# Not one for all modules: while a driver is there, its event loop counts as one that runs in this thread.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """The browser of the module's tests; without one they are skipped, in CI they fail."""
    reason = find_fault()
    if reason:
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    started = Chromium()
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture
def serve(
    chromium: Chromium, lab_folder: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Lab]]:
    """Opens a page in a JupyterLab of its own, started as `serve_lab` is told; its picture is put into `shots/`."""
    with contextlib.ExitStack() as stack:

        def open_page(**options: Any) -> Lab:
            address = stack.enter_context(serve_lab(lab_folder, **options))
            page = stack.enter_context(chromium.page(SHOTS / f"{request.node.name}.png"))
            return Lab(page, address, options.get("app", "jupyterlab"))

        yield open_page


@pytest.fixture
def old_lab(serve: Callable[..., Lab]) -> Callable[..., Lab]:
    """Opens a page in the oldest JupyterLab, or Notebook, and ipykernel that are supported.

    They are in an environment of their own; without it the test is skipped, in CI it fails.
    """

    def open_old(app: str = "jupyterlab") -> Lab:
        asked = [OLD, "-c", f"import {app}"]
        if (
            not OLD.is_file()
            or subprocess.run(asked, capture_output=True, check=False, timeout=60).returncode
        ):
            reason = (
                f"no second environment with {app}: see `.ci/run` for how {OLD.parent.parent.name} is made"
            )
            if os.environ.get("CI") == "true":
                pytest.fail(reason)
            pytest.skip(reason)
        return serve(extensions={"agent-magic": EXTENSION}, python=str(OLD), app=app)

    return open_old


@pytest.fixture
def lab(chromium: Chromium, _server: _Server, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A page of its own; at the end its picture is put into `shots/`."""
    address = _server.address()
    with chromium.page(SHOTS / f"{request.node.name}.png") as page:
        yield Lab(page, address)
