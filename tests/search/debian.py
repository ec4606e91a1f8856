"""Documentation packages of Debian as material; a test without them is skipped and says which."""

import shutil
from pathlib import Path

import pytest

_SHARE = Path("/usr/share")
PYTHON = _SHARE / "doc" / "python3-doc" / "html"
POLICY = _SHARE / "doc" / "debian-policy"
_REFERENCE = _SHARE / "debian-reference"


def needed(path: Path, package: str) -> Path:
    """A folder of a package, its links resolved."""
    if not path.is_dir() or not any(path.rglob("*.html")):
        pytest.skip(f"needs Debian's package {package} ({path} is not there)")
    return path.resolve()


def chinese_reference(target: Path) -> Path:
    """A folder with the Chinese pages of the Debian Reference only."""
    source = needed(_REFERENCE, "debian-reference-zh-cn")
    pages = sorted(source.glob("*.zh-cn.html"))
    if not pages:
        pytest.skip("needs Debian's package debian-reference-zh-cn")
    target.mkdir(parents=True)
    for page in pages:
        shutil.copy(page, target)
    return target
