"""A real JupyterLab on loopback, driven through a page of a browser.

It must not know the package under test; it opens notebooks, runs cells and reads outputs.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Page
from processes import end

SHOTS = Path(__file__).resolve().parents[2] / "shots"
"""Where pictures are put; not part of the repository."""
START_TIMEOUT_S = 90.0
SERVER_FLAGS = [
    "--no-browser",
    "--allow-root",
    "--ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    "--ServerApp.password=",
    "--LanguageServerManager.autodetect=False",
]
APP_FLAGS = {
    "jupyterlab": [
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        "--LabApp.extra_labextensions_path={extensions}",
    ],
    "notebook": [
        "--JupyterNotebookApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.extra_labextensions_path={extensions}",
        "--LabApp.extra_labextensions_path={extensions}",  # serves the files
    ],
}
"""By the module that is run."""
PAGES = {"jupyterlab": "doc/tree", "notebook": "notebooks"}
"""Where a notebook alone is shown."""
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}
CURRENT = "window.jupyterapp.shell.currentWidget"


@contextlib.contextmanager
def serve_lab(
    folder: Path,
    *,
    extensions: Mapping[str, Path] | None = None,
    python: str = sys.executable,
    app: str = "jupyterlab",
    flags: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Start `jupyter lab` on `folder`, with settings of its own; gives its address.

    Args:
        folder: What is served.
        extensions: Built extensions by name; they go before installed ones of that name.
        python: Of the environment whose JupyterLab is served.
        app: `jupyterlab`, or `notebook` for Notebook 7.
        flags: More of the server's.
        env: The environment of the server; else that of the tests.
    """
    home = Path(tempfile.mkdtemp(prefix="lab-"))
    for name, built in (extensions or {}).items():
        (home / "extensions").mkdir(exist_ok=True)
        (home / "extensions" / name).symlink_to(built, target_is_directory=True)
    for plugin, setting in LAB_SETTINGS.items():
        file = home / "settings" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(setting), encoding="utf-8")
    port = _free_port()
    env = {
        **(os.environ if env is None else env),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    command = [
        python,
        "-m",
        app,
        *SERVER_FLAGS,
        *(flag.format(extensions=home / "extensions") for flag in APP_FLAGS[app]),
        *flags,
        f"--port={port}",
        f"--ServerApp.root_dir={folder}",
    ]
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for_server(server, address, home / "server.log")
            yield address
        finally:
            end(server, grace_s=20)  # it ends its kernels itself, if it still can
            shutil.rmtree(home, ignore_errors=True)


def is_answering(address: str, within_s: float = 20) -> bool:
    """Whether a server answers."""
    try:
        urllib.request.urlopen(f"{address}/api/status", timeout=within_s).close()
    except OSError:
        return False
    return True


def write_notebook(path: Path, cells: list[str]) -> None:
    """A notebook of code cells; sources that begin with `#md ` become Markdown."""
    made = [
        nbformat.v4.new_markdown_cell(source[4:])
        if source.startswith("#md ")
        else nbformat.v4.new_code_cell(source)
        for source in cells
    ]
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": kernelspec}), path)


class Lab:
    """One notebook, open in JupyterLab's single-document mode. Cells are counted from 0."""

    def __init__(self, page: Page, address: str, app: str = "jupyterlab") -> None:
        self.page = page
        self._address, self._app = address, app
        self.complaints: list[str] = []
        """Errors of the page and of its console."""
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)

    def open(self, notebook: str, *, wait_for_kernel: bool = True) -> None:
        """Open a notebook of the served folder and wait until it can be used."""
        self.page.goto(f"{self._address}/{PAGES[self._app]}/{notebook}?reset", wait_until="domcontentloaded")
        self.page.wait_for_function(f"window.jupyterapp && {CURRENT} && {CURRENT}.content", timeout=60_000)
        self._settle(f"{CURRENT}.context.ready")
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
        if wait_for_kernel:
            self.page.wait_for_function(
                f"""() => {{ const kernel = {CURRENT}.sessionContext.session?.kernel;
                    return kernel && kernel.status === 'idle' && kernel.connectionStatus === 'connected' }}""",
                timeout=60_000,
            )

    def run(self, cell: int, timeout_s: float = 60) -> None:
        """Run a cell as a person does, and wait for its end."""
        self.start(cell)
        self.wait_for_end(cell, timeout_s)

    def start(self, cell: int) -> None:
        """Run a cell and return at once."""
        self.select(cell)
        self.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell') }")

    def select(self, cell: int) -> None:
        """Make a cell the active one."""
        self.page.evaluate(
            f"""cell => {{ const notebook = {CURRENT}.content; notebook.mode = 'command';
                notebook.activeCellIndex = cell; notebook.deselectAll() }}""",
            cell,
        )

    def wait_for_end(self, cell: int, timeout_s: float = 60) -> None:
        """Wait until the cell has run, all its outputs have come, and the kernel rests."""
        # The kernel's status alone tells little: it is idle after each request on the control channel.
        self.page.wait_for_function(
            f"""cell => {{ const {{ model, outputArea }} = {CURRENT}.content.widgets[cell];
                const future = outputArea.future ?? {{ isOver: true }};
                future.isOver ??= void future.done.finally(() => {{ future.isOver = true }}) ?? false;
                return model.executionCount !== null && model.executionState !== 'running' && future.isOver &&
                    {CURRENT}.sessionContext.session.kernel.status === 'idle' }}""",
            arg=cell,
            timeout=timeout_s * 1000,
        )

    def interrupt(self) -> None:
        """The stop button."""
        self.command("notebook:interrupt-kernel")

    def cells(self) -> list[dict[str, Any]]:
        """The cells as they would be saved."""
        return self.page.evaluate(f"() => {CURRENT}.content.model.toJSON().cells")

    def outputs(self, cell: int) -> list[dict[str, Any]]:
        """The cell's outputs as they would be saved."""
        return self.page.evaluate(f"cell => {CURRENT}.content.widgets[cell].model.outputs.toJSON()", cell)

    def area(self, cell: int) -> Any:
        """Locator of the cell's outputs on the page."""
        return self.page.locator(".jp-Cell").nth(cell).locator(".jp-Cell-outputWrapper")

    def command(self, name: str) -> None:
        """A command of JupyterLab's palette."""
        self._settle(f"window.jupyterapp.commands.execute({name!r})")

    def save(self) -> None:
        """Save the notebook to its file."""
        self.command("docmanager:save")

    def restart_kernel(self) -> None:
        """Restart the kernel, without a question."""
        self._settle(f"{CURRENT}.sessionContext.session.kernel.restart()")

    def beside(self) -> Lab:
        """One more page of the same browser; it goes when this one does."""
        return Lab(self.page.context.new_page(), self._address, self._app)

    def shut_down_kernel(self) -> None:
        """End the kernel; the page stays."""
        self._settle(f"{CURRENT}.sessionContext.shutdown()")

    def _settle(self, promise: str) -> None:
        """Wait for a promise of the page; the page holds it, as one that only we wait for may be collected."""
        self.page.evaluate(
            f"() => {{ window.isSettled = false; window.awaited = Promise.resolve({promise}).then(() => {{ window.isSettled = true }}) }}"
        )
        self.page.wait_for_function("window.isSettled")


def _free_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for_server(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    latest = time.monotonic() + START_TIMEOUT_S
    while not is_answering(address, within_s=2):
        if server.poll() is not None or time.monotonic() > latest:
            raise RuntimeError(f"jupyter lab did not start:\n{log.read_text()[-3000:]}")
        time.sleep(0.1)
