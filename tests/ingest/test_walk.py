"""The files under a folder, as an index meets them: odd names, links, loops, what is outside.

How it can go wrong: a link leads out of the folder or round in it; a file is read twice; two names
look the same when shown; a path outside of the allowed folders is indexed.
"""

import os
from pathlib import Path

import pytest

from activities.ingest.catalogue import collections
from activities.ingest.index import IndexRefusedError, index_folder
from tests.ingest.built import Build, documents


def test_odd_names(build: Build, home: Path, folder: Path) -> None:
    for name in (b"with space.md", b"-rf.md", b"new\nline.md", b"bad\xff.md", b"bad\\xff.md"):
        path = os.path.join(os.fsencode(folder), name)
        with open(path, "wb") as file:
            file.write(b"Text of " + str(len(name)).encode())
    assert build().files == {"indexed": 7}
    assert {r"bad\xff.md", r"bad\xff.md (2)", r"new\nline.md"} <= set(documents(home))
    assert build().version == 1


# failures.jsonl E11
def test_links(build: Build, home: Path, folder: Path) -> None:
    (folder.parent / "secret.md").write_text("outside")
    (folder.parent / "docs-secret").mkdir()
    (folder.parent / "docs-secret" / "x.md").write_text("outside too")
    (folder / "a-link.md").symlink_to("loop.md")
    (folder / "hard.md").hardlink_to(folder / "sub" / "契约.md")
    (folder / "out.md").symlink_to("../secret.md")
    (folder / "out-folder").symlink_to("../docs-secret")
    (folder / "sub" / "up").symlink_to("..")
    (folder / "self").symlink_to("self")
    (folder / "nowhere").symlink_to("missing.md")
    result = build()
    assert result.files == {"indexed": 2, "outside_root": 2, "loop": 2, "unreadable": 1}
    assert "loop.md" in documents(home)
    assert "a-link.md" not in documents(home)


def test_a_link_inside_leads_to_its_file_once(build: Build, home: Path, folder: Path) -> None:
    (folder / "zz").mkdir()
    (folder / "zz" / "real.md").write_text("real text")
    (folder / "aa").symlink_to("zz")
    assert build().files == {"indexed": 3}
    assert "zz/real.md" in documents(home)


def test_the_state_directory_is_no_source(folder: Path) -> None:
    home = folder / "state"
    for _ in range(2):
        result = index_folder(home, "notes", str(folder), [folder], lambda _: None)
        assert result.files == {"indexed": 2, "unsupported": 1}


# failures.jsonl E14
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("missing", "no such folder"),
        ("", "expected a folder"),
        ("a\0b", "expected a folder"),
        ("file:///etc", "no such folder"),
        ("x" * 5000, "no such folder"),
        ("/", "outside"),
        ("../docs-secret", "outside"),
        ("link-out", "outside"),
    ],
)
def test_refused_paths(home: Path, folder: Path, path: str, words: str) -> None:
    secret = folder.parent / "docs-secret"
    secret.mkdir()
    (folder / "link-out").symlink_to(secret)
    asked = path if path.startswith(("/", "file")) or not path else str(folder / path)
    with pytest.raises(IndexRefusedError, match=words):
        index_folder(home, "notes", asked, [folder], lambda _: None)
    assert collections(home) == []


def test_the_refusal_names_the_allowed_folders(home: Path, folder: Path) -> None:
    with pytest.raises(IndexRefusedError, match=f"allowed: {folder}"):
        index_folder(home, "notes", str(folder.parent), [folder], lambda _: None)
    with pytest.raises(IndexRefusedError, match="allowed: none"):
        index_folder(home, "notes", str(folder), [], lambda _: None)
    with pytest.raises(IndexRefusedError, match="name: expected"):
        index_folder(home, "../evil", str(folder), [folder], lambda _: None)
