"""The rules of retrieval, each over real files, with and without it (issue 3, point 4).

How it can go wrong: one document takes every place; a passage and its neighbour are two hits; a
copy counts as a second source; a heading is not found; an inflected word is missed, or another
word taken for it.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from activities.ingest.index import index_folder
from activities.ingest.sketch import (
    ALIKE,
    SIZE,
    Sketcher,
    alike,
    folded,
    likeness,
    pack,
    same_words,
    unpack,
)
from activities.ingest.stems import stem
from activities.search.backend import Found
from activities.search.choice import Rules, Scored, _joined
from activities.search.collection import Candidate
from activities.search.corpus import CorpusBackend
from activities.search.ranking import Tokens
from tests.search.asked import task
from workflows.logic.tokens import tokens

Look = Callable[..., Found]
FILLER = ("weather", "garden", "harbour", "mountain", "kitchen", "railway", "library", "museum")


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """Index texts by path and search them."""

    def call(files: dict[str, str], query: str, rules: Rules | None = None) -> Found:
        folder = tmp_path / "notes"
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        index_folder(tmp_path, "notes", str(folder), [folder], lambda _: None)
        asked = task([query], ["notes"], extractive=False, min_cover=0.0)
        return CorpusBackend(tmp_path, rules)._search(query, asked)

    return call


def sources(found: Found) -> list[str]:
    return [passage.source_id.removeprefix("notes:") for passage in found.passages]


def paragraph(topic: str, number: int) -> str:
    """About 850 characters, so that each is a chunk of its own, no two of them alike."""
    words = [FILLER[(number * 3 + i * (number + 1)) % len(FILLER)] for i in range(85)]
    return f"The {topic} of part {number}. " + " ".join(
        f"{w}{number}{i}" for i, w in enumerate(words)
    )


def test_title_path_and_headings_count(look: Look) -> None:
    section = "\n\n".join(paragraph("storage", n) for n in range(3))
    files = {
        "limits/quota.md": f"# Disk\n\n## Grace period\n\n{section}\n\nSeven days remain.\n",
        "b.md": "Nothing of it, for days.\n",
    }
    for query in ("quota", "limits"):
        assert set(sources(look(files, query))) == {"limits/quota.md"}, query
        assert sources(look(files, query, Rules(heads=False))) == [], query
    best = look(files, "grace period seven days").passages[0]
    assert "Seven days" in files["limits/quota.md"][best.start : best.end]
    assert best.headings == ("Disk", "Grace period")


def test_neighbours_are_one_passage(look: Look) -> None:
    body = "\n\n".join(paragraph("budget", n) for n in (1, 2))
    apart = paragraph("weather", 9) + "\n\n" + paragraph("kitchen", 8)
    files = {"a.md": body + "\n\n" + apart + "\n\n" + paragraph("budget", 3), "b.md": "Else.\n"}
    text = files["a.md"]
    found = look(files, "budget")
    first = found.passages[0]
    assert {text[p.start : p.end] for p in found.passages} == {
        body,
        paragraph("budget", 3),
    }
    assert len(text[first.start : first.end]) <= 2400
    parted = look(files, "budget", Rules(merge=False, of_a_document=5))
    assert len(parted.passages) > len(found.passages)


def test_a_passage_over_two_pages_names_both() -> None:
    def part(chunk: int, start: int, *headings: str) -> Scored:
        tokens = Tokens("budget", "", "~budget")
        candidate = Candidate(
            "n:a.pdf", "t", "s", start, start + 900, json.dumps(headings), "[]", "", "a.pdf",
            0.0, 1.0, frozenset({"budget"}), tokens, "x" * 900, chunk, "k",
        )  # fmt: skip
        return Scored(candidate, 1.0, 1.0, chunk)

    joined = _joined(part(2, 900, "Storage", "p. 57"), part(1, 0, "Storage", "p. 56"))
    assert json.loads(joined.candidate.headings) == ["Storage", "p. 56-57"]
    assert (joined.candidate.start, joined.candidate.end, joined.last) == (0, 1800, 2)
    same = _joined(part(1, 0, "Storage", "p. 56"), part(2, 900, "Storage", "p. 56"))
    assert json.loads(same.candidate.headings) == ["Storage", "p. 56"]


def test_two_passages_of_a_document_while_others_have_something(look: Look) -> None:
    between = [paragraph("weather", 20 + n) for n in range(12)]
    parts = [
        piece for n in range(6) for piece in (paragraph("budget", n), *between[n * 2 : n * 2 + 2])
    ]
    files = {"long.md": "\n\n".join(parts)} | {
        f"{name}.md": f"A budget of {name}, said once.\n" for name in ("x", "y", "z")
    }
    found = sources(look(files, "budget"))
    assert sorted(found) == ["long.md", "long.md", "x.md", "y.md", "z.md"]
    alone = sources(look({**dict.fromkeys(("x.md", "y.md", "z.md"), "Else.\n")}, "budget"))
    assert alone == ["long.md"] * 5


def test_a_copy_is_no_second_hit_and_no_second_source(look: Look) -> None:
    original = "\n\n".join(paragraph("budget", n) for n in range(3))
    edited = original.replace("weather", "climate", 2) + "\n\nOne line more.\n"
    files = {"a.md": original, "v2/a.md": edited, "c.md": paragraph("budget", 7)}
    found = look(files, "budget part")
    assert len(set(sources(found)) & {"a.md", "v2/a.md"}) == 1
    both = look(files, "budget part", Rules(copies=False))
    assert {"a.md", "v2/a.md"} <= set(sources(both))
    kin = {p.source_id: p.kin for p in both.passages}
    assert kin["notes:a.md"] == kin["notes:v2/a.md"] != ""
    assert kin["notes:c.md"] not in {"", kin["notes:a.md"]}


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("Configuring the server takes a minute.", "configuration", True),
        ("It was configured by hand.", "how to configure", True),
        ("The indexes are rebuilt.", "index rebuilding", True),
        ("It runs.", "running", True),
        ("The policies differ.", "policy", True),
        ("A policeman.", "policy", False),
        ("部署方案", "部署", True),
        ("naïve", "naive", False),
    ],
)
def test_english_words_are_found_by_their_stems(
    look: Look, text: str, query: str, *, found: bool
) -> None:
    files = {"a.md": text + "\n", "b.md": "Nothing of it.\n"}
    assert (sources(look(files, query)) == ["a.md"]) is found


def test_the_exact_word_stands_before_its_stem(look: Look) -> None:
    files = {"a.md": "She manages.\n", "b.md": "She managed.\n", "c.md": "x", "d.md": "y"}
    assert sources(look(files, "manages")) == ["a.md", "b.md"]
    assert sources(look(files, "manages", Rules(stems=False))) == ["a.md"]


def test_a_stem_is_no_word() -> None:
    assert stem("configuration") == stem("configured") == "~configur"
    assert stem("of") == stem("c++") == stem("naïve") == stem("x" * 40) == ""


def _sketch(text: str) -> list[int]:
    sketcher = Sketcher()
    sketcher.take(tokens(text))
    return sketcher.sketch()


def test_sketches_tell_copies_from_others() -> None:
    one = " ".join(paragraph("budget", n) for n in range(4))
    edited = one.replace("garden", "yard", 3)
    assert likeness(_sketch(one), _sketch(one)) == 1.0
    assert likeness(_sketch(one), _sketch(edited)) >= ALIKE
    assert likeness(_sketch(one), _sketch(paragraph("budget", 9) * 4)) < 0.2
    assert (
        likeness(_sketch("部署方案已经在会议上讨论" * 9), _sketch("上海的天气今天很好" * 9)) < 0.2
    )
    assert likeness([], []) == 0.0
    assert unpack(pack(_sketch(one))) == tuple(_sketch(one))
    assert alike(_sketch(one), _sketch(edited))
    assert not alike([], [])


@pytest.mark.parametrize("size", [1, 5, 10, 35, SIZE])
def test_the_short_look_at_sketches_agrees_with_the_whole_one(size: int) -> None:
    one = list(range(size))
    for shared in range(size + 1):
        for offset in (0.5, 0, 1000):
            other = sorted([*one[:shared], *(n + offset for n in range(size - shared))])
            values = [int(value * 2) for value in other]
            assert alike([n * 2 for n in one], values) == (
                likeness([n * 2 for n in one], values) >= ALIKE
            )


def test_the_same_words() -> None:
    one = paragraph("budget", 1)
    assert same_words(folded(one), folded(one.upper().replace(" ", "\n")))
    assert same_words(folded(one[100:600]), folded(one))
    assert not same_words(folded(one), folded(paragraph("budget", 2)))
    assert not same_words("", folded(one))
    assert same_words("short", "a short one".replace(" ", ""))


def test_rules_are_all_on_by_default() -> None:
    assert Rules() == replace(
        Rules(), heads=True, merge=True, of_a_document=2, copies=True, stems=True
    )
