"""A real Chromium whose pages end in time, whatever hangs: page, browser or driver.

It must not know what is shown in it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
from playwright._impl._driver import compute_driver_executable
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, sync_playwright
from processes import PATIENCE_S, kill, tree_of, watched

PAGE_S = 240.0
CLOSE_S = 40.0
"""For a last picture and the end of a page, or for the start or end of the browser."""
FLAGS = [
    "--no-sandbox",  # tests run as root in containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_fault() -> str:
    """Why no browser can be driven here, with what to do; empty if one can."""
    if not find_chromium():
        return "no Chromium: install it (apt-get install chromium) or name one in CHROMIUM"
    node, _ = compute_driver_executable()
    driver = subprocess.run(
        [node, "--version"], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    if driver.returncode:
        return f"the browser's driver does not start; install what it lacks: {driver.stderr.strip()}"
    return ""


def find_chromium() -> str | None:
    """Path of a Chromium: `CHROMIUM`, or what the system has."""
    named = os.environ.get("CHROMIUM")
    return (
        named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    )


class Chromium:
    """A headless Chromium: started when a page is wanted, and anew when it broke."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    @contextlib.contextmanager
    def page(self, picture: Path, *, within_s: float = PAGE_S) -> Iterator[Page]:
        """A page in a context of its own; at its end a picture of it is taken, also where the test failed.

        Args:
            picture: The file of the picture.
            within_s: After which a test that still has the page is ended.
        """
        context, page = self._open()
        try:
            with watched(within_s, _kill_all, "a test with a page"):
                yield page
        except BaseException:  # a failed test, Ctrl-C too, leaves no page open
            with contextlib.suppress(Error, TimeoutError):  # why the test failed says more
                self._close(context, page, picture)
            raise
        self._close(context, page, picture)

    def stop(self) -> None:
        """End the browser and its driver; by force if they do not end in time."""
        started, playwright = _driven(), self._playwright
        self._playwright = self._browser = None
        try:
            # Ends by themselves, they would be missed; ended by force, the driver's end is what is waited for.
            with contextlib.suppress(Error, TimeoutError), watched(CLOSE_S, _kill_all, "the browser's end"):
                if playwright is not None:
                    playwright.stop()
        finally:
            kill(started)

    def _open(self) -> tuple[BrowserContext, Page]:
        if self._browser is not None and not self._browser.is_connected():
            self.stop()
        try:
            with watched(CLOSE_S * 2, _kill_all, "the browser's start"):
                if self._playwright is None or self._browser is None:
                    self._playwright = sync_playwright().start()
                    self._browser = self._playwright.chromium.launch(
                        executable_path=find_chromium(), headless=True, args=FLAGS
                    )
                context = self._browser.new_context(
                    viewport={"width": 1000, "height": 900}, device_scale_factor=2
                )
                return context, context.new_page()
        except BaseException:  # half a browser would be met by the next test
            self.stop()
            raise

    def _close(self, context: BrowserContext, page: Page, picture: Path) -> None:
        try:
            with watched(CLOSE_S, _kill_all, "the last picture and the end of a page"):
                picture.parent.mkdir(exist_ok=True)
                page.screenshot(path=picture, timeout=CLOSE_S * 500)
                context.close()
        except BaseException:  # what hangs here would hang in the next test too
            self.stop()
            raise


def _driven() -> list[psutil.Process]:
    """The driver that this process started, and the browser that the driver did."""
    node = os.path.realpath(compute_driver_executable()[0])
    drivers: list[int] = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if os.path.realpath(child.exe()) == node:
                drivers.append(child.pid)
    return [process for pid in drivers for process in tree_of(pid)]


def _kill_all() -> None:
    """With the driver gone, nothing that waits for it goes on waiting."""
    kill(_driven())
