"""What becomes of a test whose browser ends or hangs, and of the next one."""

from __future__ import annotations

import psutil
import pytest
from chromium import _driven
from playwright.sync_api import Error

pytestmark = pytest.mark.browser


def sum_on(page):
    return page.evaluate("() => 1 + 2")


def sum_after(chromium, picture, do, **options):
    """A test that does something to the driver and the browser, and then asks the page."""
    with chromium.page(picture, **options) as page:
        driver, *browser = _driven()
        do(driver, browser)
        return sum_on(page)


def nothing(driver, browser):
    pass


def kill_browser(driver, browser):
    for process in browser:
        process.kill()


def halt_browser(driver, browser):
    for process in browser:
        process.suspend()


def halt_driver(driver, browser):
    driver.suspend()


def test_browser_that_was_killed_fails_its_test_alone(chromium, tmp_path):
    with pytest.raises(Error):
        sum_after(chromium, tmp_path / "killed.png", kill_browser)
    assert sum_after(chromium, tmp_path / "next.png", nothing) == 3


@pytest.mark.parametrize("halt", [halt_browser, halt_driver])
def test_what_hangs_fails_its_test_alone(chromium, tmp_path, halt):
    with pytest.raises(TimeoutError, match="a test with a page took longer than 2 s"):
        sum_after(chromium, tmp_path / "hanging.png", halt, within_s=2)
    assert sum_after(chromium, tmp_path / "next.png", nothing) == 3


def test_stopped_browser_leaves_no_process(chromium, tmp_path):
    started = []
    sum_after(chromium, tmp_path / "last.png", lambda driver, browser: started.extend([driver, *browser]))
    chromium.stop()
    psutil.wait_procs(started, timeout=20)
    assert len(started) > 1
    assert [process for process in started if process.is_running()] == []


def test_picture_is_taken_of_a_test_that_failed_too(chromium, tmp_path):
    with pytest.raises(ZeroDivisionError):
        sum_after(chromium, tmp_path / "failed.png", lambda driver, browser: 1 / 0)
    assert (tmp_path / "failed.png").is_file()
