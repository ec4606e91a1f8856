"""Every command of `docs/approvals.md` against a real server, and what the page says comes out.

How it can go wrong: a page that was true once.
"""

import re
from pathlib import Path

from runtime.server_process import free_port
from tests.ui.guide import PAGE, blocks, run, serve
from tests.ui.served import Served
from workflows.contracts.names import SEARCH_ATTRIBUTES, SIGNALS
from workflows.contracts.requests import Fate, RequestKind

IMAGE_BYTES = 200_000


def test_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    index, server, *rest = blocks()
    assert server.serves
    here = Served(tmp_path / "home", free_port())
    run(here, index)
    with serve(here):
        for block in rest:
            run(here, block)


def test_the_page_names_everything_there_is() -> None:
    text = PAGE.read_text("utf-8")
    for kind in (Fate, RequestKind):
        for name in kind.__args__:
            assert f"| `{name}` |" in text
    for name in (*SIGNALS, *SEARCH_ATTRIBUTES):
        assert f"`{name}`" in text


def test_pictures_are_there_and_small() -> None:
    named = set(re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE.read_text("utf-8")))
    assert named
    for name in named:
        assert 0 < (PAGE.parent / name).stat().st_size < IMAGE_BYTES, name
    assert {f"images/{p.name}" for p in (PAGE.parent / "images").iterdir()} == named
