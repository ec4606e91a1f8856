"""Drives the Temporal Web UI in Debian's headless Chromium, as a person uses it.

Known of Web UI 2.54: current details are rendered by its server into an iframe of the tab
*User Metadata*, once when the tab is opened; *More Actions*, *Send a Signal* lists the signals
that the workflow describes and sends one JSON payload.
"""

import contextlib
import json
import shutil
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    BrowserContext,
    FrameLocator,
    Locator,
    Page,
    TimeoutError,
    sync_playwright,
)

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_SECONDS: Final = 90.0
_LOOK: Final = 4.0  # seconds until a page is loaded again: the Web UI asks for details once
WIDTH: Final = 1200
_HEIGHT: Final = 900


class WebUi:
    """One browser window.

    Attributes:
        hosts: every host that was asked for anything.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        self._address = address
        self.page: Page = context.pages[0] if context.pages else context.new_page()
        self.hosts: set[str] = set()
        context.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))

    def open_run(self, workflow_id: str) -> None:
        """The page of a run."""
        self.page.goto(f"{self._address}/namespaces/default/workflows/{workflow_id}")
        self.page.get_by_role("tab", name="User Metadata").wait_for()

    def details(self, text: str) -> FrameLocator:
        """The current details, once they hold a text: they are loaded again until then."""
        tab = self.page.get_by_role("tab", name="User Metadata")
        frame = self.page.frame_locator("iframe").first
        end = time.monotonic() + _SECONDS
        tab.click()
        while True:
            try:
                frame.get_by_text(text).first.wait_for(timeout=_LOOK * 1000)
            except TimeoutError:
                assert time.monotonic() < end, f"the details never showed {text!r}"
                self.page.reload()
            else:
                return frame

    def fill_signal(self, name: str, payload: dict[str, Any]) -> Locator:
        """Open the dialog *Send a Signal* and fill it in; gives the dialog."""
        self.page.get_by_role("button", name="More Actions").click()
        self.page.get_by_role("menuitem", name="Send a Signal").click()
        dialog = self.page.locator("dialog[open]")
        dialog.get_by_test_id("signal-select-button").click()
        dialog.get_by_role("option").filter(has=self.page.get_by_text(name, exact=True)).click()
        dialog.get_by_role("textbox", name="Data").click()
        self.page.keyboard.insert_text(json.dumps(payload, ensure_ascii=False))
        return dialog

    def send_signal(self, name: str, payload: dict[str, Any]) -> None:
        """Send a signal by the dialog."""
        dialog = self.fill_signal(name, payload)
        # By keyboard: leaving the editor formats the text and moves the button; a click may miss.
        with self.page.expect_response(lambda answer: f"/signal/{name}" in answer.url) as answered:
            dialog.get_by_test_id("confirm-modal-button").press("Enter")
        assert answered.value.ok, answered.value.text()
        self.page.reload()  # a second dialog of one page sends and does not close

    def wait_completed(self) -> None:
        """Wait until the page shows, by itself, that the run has completed."""
        self.page.get_by_text("Completed", exact=True).first.wait_for()


def chromium() -> str:
    """Path of the browser; a test without one is skipped."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("needs Chromium (`apt-get install chromium`): no chromium on the PATH")
    return found


@contextlib.contextmanager
def browser(address: str, *, height: int = _HEIGHT) -> Generator[WebUi]:
    """A browser with an empty profile; the headless flag is Playwright's."""
    executable = chromium()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        sync_playwright() as playwright,
    ):
        context = playwright.chromium.launch_persistent_context(
            Path(profile),
            executable_path=executable,
            headless=True,
            args=_FLAGS,
            viewport={"width": WIDTH, "height": height},
            locale="en-US",
            timezone_id="UTC",
        )
        context.set_default_timeout(_SECONDS * 1000)
        try:
            yield WebUi(context, address)
        finally:
            context.close()
