"""Consoles with a fresh state directory, and a folder of documents."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime.embedded import EmbeddedServer
from tests.cli.console import Console

KSM = """---
title: Kernel samepage merging
topics: [ksm]
---
# Kernel samepage merging

KSM merges identical pages of memory. It is enabled by writing 1 to /sys/kernel/mm/ksm/run.
"""
ZRAM = """# 压缩内存

zram 在内存中建立压缩的块设备，交换到其中的页面会被压缩，从而节省内存。
"""


@pytest.fixture
def console(tmp_path: Path) -> Console:
    """A console whose state directory does not exist yet."""
    return Console(tmp_path / "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one English and one Chinese document."""
    path = tmp_path / "Memory Notes"
    path.mkdir()
    (path / "ksm.md").write_text(KSM, "utf-8")
    (path / "压缩.md").write_text(ZRAM, "utf-8")
    return path


@pytest.fixture
async def kept(console: Console) -> AsyncIterator[Console]:
    """A console whose server is kept up by this process, so that commands need not start it."""
    async with await EmbeddedServer.join(console.home):
        yield console
