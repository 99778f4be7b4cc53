"""Fixtures of the browser tests; without a Chromium they are skipped, in CI they fail."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lab import SHOTS, Lab, find_fault, serve_lab, start_browser
from playwright.sync_api import Browser, Page

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


@pytest.fixture(scope="module")
def _lab_address(lab_folder: Path) -> Iterator[str]:
    # What was built last is served, also where the package is not installed, or as a copy.
    with serve_lab(lab_folder, extensions={"agent-magic": EXTENSION}) as address:
        yield address


@pytest.fixture(scope="module")
def _browser() -> Iterator[Browser]:
    reason = find_fault()
    if reason:
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with start_browser() as browser:
        yield browser


@pytest.fixture
def serve(
    _browser: Browser, lab_folder: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Lab]]:
    """Opens a page in a JupyterLab of its own, started as `serve_lab` is told."""
    with contextlib.ExitStack() as stack:

        def open_page(**options: Any) -> Lab:
            address = stack.enter_context(serve_lab(lab_folder, **options))
            page = stack.enter_context(_picture_at_end(_browser, request.node.name))
            return Lab(page, address, options.get("app", "jupyterlab"))

        yield open_page


@pytest.fixture
def old_lab(serve: Callable[..., Lab]) -> Callable[..., Lab]:
    """Opens a page in the oldest JupyterLab, or Notebook, and ipykernel that are supported.

    They are in an environment of their own; without it the test is skipped, in CI it fails.
    """

    def open_old(app: str = "jupyterlab") -> Lab:
        asked = [OLD, "-c", f"import {app}"]
        if not OLD.is_file() or subprocess.run(asked, capture_output=True, check=False).returncode:
            reason = (
                f"no second environment with {app}: see `.ci/run` for how {OLD.parent.parent.name} is made"
            )
            if os.environ.get("CI") == "true":
                pytest.fail(reason)
            pytest.skip(reason)
        return serve(extensions={"agent-magic": EXTENSION}, python=str(OLD), app=app)

    return open_old


@pytest.fixture
def lab(_browser: Browser, _lab_address: str, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A page of its own; at the end its picture is put into `shots/`."""
    with _picture_at_end(_browser, request.node.name) as page:
        yield Lab(page, _lab_address)


@contextlib.contextmanager
def _picture_at_end(browser: Browser, name: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1000, "height": 900}, device_scale_factor=2)
    page = context.new_page()
    SHOTS.mkdir(exist_ok=True)
    yield page
    page.screenshot(path=SHOTS / f"{name}.png")
    context.close()
