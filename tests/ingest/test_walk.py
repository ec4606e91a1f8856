"""The files under a folder, as an index meets them: odd names, links, loops, what is outside.

How it can go wrong: a link leads out of the folder or round in it; a file is read twice; two names
look the same when shown; a path outside of the allowed folders is indexed.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from activities.ingest.catalogue import collections
from activities.ingest.document import UnreadableFileError
from activities.ingest.index import IndexRefusedError, index_folder
from activities.ingest.readers import opened
from activities.ingest.walk import FoundFile, LeftOut, Walker
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


def test_folders_nested_deeper_than_any_stack(build: Build, home: Path, folder: Path) -> None:
    deep = folder / "/".join(["d"] * 600)
    deep.mkdir(parents=True)
    (deep / "bottom.md").write_text("Text at the bottom.")
    assert build().files == {"indexed": 3}
    assert f"{'d/' * 600}bottom.md" in documents(home)


def test_paths_longer_than_the_system_takes_are_named(build: Build, folder: Path) -> None:
    inner = os.open(folder, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("x" * 200, dir_fd=inner)
        outer, inner = inner, os.open("x" * 200, os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(inner)
    assert build().files == {"indexed": 2, "unreadable": 1}


def test_the_order_of_the_walk(folder: Path) -> None:
    for name in ("b/2.md", "b/1.md", "a/x/1.md", "a/2.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "a" / "0-link").symlink_to(folder / "b")
    found = [entry.path for entry in Walker(folder).walk()]
    assert found == ["a/2.md", "a/x/1.md", "a/0-link/1.md", "a/0-link/2.md", *found[4:]]
    assert found[4:] == ["loop.md", "sub/契约.md"]


def found_at(folder: Path, path: str) -> list[object]:
    """A file as the walk finds it: path, device, inode; it can be read so far."""
    (found,) = [entry for entry in Walker(folder).walk() if entry.path == path]
    assert isinstance(found, FoundFile)
    place: list[object] = [str(found.real), *found.identity]
    with opened(place) as file:
        assert file.read()
    return place


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_link_put_in_the_place_of_a_file_is_not_followed(folder: Path) -> None:
    secret = folder.parent / "secret.md"
    secret.write_text("outside")
    place = found_at(folder, "loop.md")
    (folder / "loop.md").unlink()
    (folder / "loop.md").symlink_to(secret)
    with pytest.raises(UnreadableFileError, match="a link took its place") as error, opened(place):
        pass
    assert error.value.status == "unreadable"


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_link_put_in_the_place_of_a_folder_is_not_followed(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "契约.md").write_text("outside")
    place = found_at(folder, "sub/契约.md")
    (folder / "sub").rename(folder / "gone")
    (folder / "sub").symlink_to(outside)
    with pytest.raises(UnreadableFileError, match="another file took its place"), opened(place):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_the_indexer_refuses_a_file_that_was_swapped(
    build: Build, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = folder.parent / "secret.md"
    secret.write_text("outside")
    walk = Walker.walk

    def swap_afterwards(walker: Walker) -> Iterator[FoundFile | LeftOut]:
        yield from list(walk(walker))
        (folder / "loop.md").unlink()
        (folder / "loop.md").symlink_to(secret)

    monkeypatch.setattr(Walker, "walk", swap_afterwards)
    result = build()
    assert result.files == {"indexed": 1, "unreadable": 1}
    assert "a link took its place" in result.problems[0].reason
    monkeypatch.undo()
    assert build().files == {"indexed": 1, "outside_root": 1}


def test_a_file_behind_a_link_inside_is_read(build: Build, home: Path, folder: Path) -> None:
    (folder / ".kept").mkdir()
    (folder / ".kept" / "real.md").write_text("real text")
    (folder / "shown.md").symlink_to(".kept/real.md")
    assert build().files == {"indexed": 3, "unsupported": 1}
    assert "shown.md" in documents(home)


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
