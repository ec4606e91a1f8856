"""Makes the pictures of `docs/approvals.md`: `uv run python -m tests.ui.screenshots`.

The runs are those of the page, on a server and a browser of their own. Chinese in them needs a font
(`apt-get install fonts-noto-cjk`).
"""

import tempfile
from pathlib import Path
from typing import Any, Final

from PIL import Image
from playwright.sync_api import FloatRect

from runtime.server_process import free_port
from tests.ui.guide import PAGE, blocks, run, serve
from tests.ui.served import Served
from tests.ui.web_ui import WIDTH, WebUi, browser

IMAGES: Final = PAGE.parent / "images"
_COLOURS: Final = 64
_WINDOW: Final = 1800
_MOST: Final = 1450  # of a picture


def main() -> None:
    """Run the page's first commands, and the Chinese one, and take the pictures on the way."""
    index, _, start, *_ = blocks()
    chinese = next(block for block in blocks() if "运行-1" in block.command)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        here = Served(Path(folder) / "home", free_port())
        run(here, index)
        with serve(here), browser(here.ui, height=_WINDOW) as ui:
            run(here, start)
            _approvals(here, ui)
            run(here, chinese)
            _waiting(ui, "运行-1", here.request_id("运行-1", "plan", 1), "chinese")


def _approvals(here: Served, ui: WebUi) -> None:
    plan = here.request_id("run-1", "plan", 1)
    _waiting(ui, "run-1", plan, "plan")
    approval: dict[str, Any] = {"request_id": plan, "by": "ann"}
    dialog = ui.fill_signal("approve", approval)
    ui.page.evaluate("document.activeElement.blur()")
    dialog.get_by_text('"ann"').wait_for()
    _save(ui, "signal", dialog.bounding_box(), room=40)
    ui.page.reload()
    ui.send_signal("approve", approval)
    report = here.request_id("run-1", "report", 2)
    _waiting(ui, "run-1", report, "report")
    ui.send_signal("approve", {"request_id": report, "by": "ann"})
    ui.wait_completed()
    ui.page.get_by_role("tab", name="Timeline").click()
    ui.page.get_by_text("Compose the report", exact=False).first.wait_for()
    _save(ui, "timeline", {"x": 0, "y": 0, "width": WIDTH, "height": 1500})


def _waiting(ui: WebUi, workflow_id: str, request: str, name: str) -> None:
    """The details of a waiting run, as far as the window goes."""
    ui.open_run(workflow_id)
    frame = ui.details(request)
    bottom = frame.locator("pre").nth(1).bounding_box()
    height = min(_MOST, bottom["y"] + bottom["height"] + 30) if bottom else _MOST
    _save(ui, name, {"x": 0, "y": 0, "width": WIDTH, "height": height})


def _save(ui: WebUi, name: str, part: FloatRect | None, *, room: int = 0) -> None:
    """A part of the window as a small PNG of at most 1200 pixels in width."""
    assert part is not None
    clip: FloatRect = {
        "x": max(0, part["x"] - room),
        "y": max(0, part["y"] - room),
        "width": part["width"] + 2 * room,
        "height": part["height"] + 2 * room,
    }
    path = IMAGES / f"{name}.png"
    IMAGES.mkdir(exist_ok=True)
    ui.page.screenshot(path=path, clip=clip, animations="disabled")
    with Image.open(path) as image:
        image.convert("RGB").quantize(_COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    main()
