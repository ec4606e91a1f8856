"""An edited report: what a person wrote is text, and marked where no evidence carries it.

How it can go wrong: a changed claim that passes as verified, by a sign, a unit, another mark; text
that hides its label or what follows it; marks, links or HTML that are not in the evidence; a
sentence of the original that is marked though nothing changed.
"""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.logic.asking_material import state
from workflows.contracts.claim import ClaimCounts
from workflows.contracts.evidence import Entry
from workflows.logic.citations import citations
from workflows.logic.edited_quotes import same
from workflows.logic.edited_report import edited_report
from workflows.logic.final_check import final_check
from workflows.logic.report_sources import Closing, Composed, Source

URL = "https://example.org/a"
FIRST = (
    "The pool holds at most 20 percent of memory. It is not enabled by default. "
    "The idle loss is 5 mW in total. -40 degrees is the lowest limit. "
    "It works at -5 to 10 degrees. "
    "mem is one of its names. It needs room, e.g. on weekends only."
)
SECOND = "Merging compares identical pages. It is not enabled by default."
REPORT = f"""# Research report

- **Goal**: What saves memory? The pool saves everything.

## Findings

- The pool holds at most 20 percent of memory [E1].
- The offset is 5 degrees between 5-10 pages. [E1]
- Merging compares identical pages. (holds only: by default) [E2]
- Both of them need a kernel of 6.0 or newer [E1][E2].
- A load below \\<5 percent is fine. [E1]

[E1] Note › Limits, characters 0–44:

> The pool holds at most 20 percent of memory.
> It is not enabled by default.

| Topic | Status | Answer |
| --- | --- | --- |
| pool | covered | 20 percent [E1] |
| swap | not covered | – |

## Not covered

- The pool is free of charge

## Unverified draft

Written by the model.

> The pool doubles every memory [E1].

## Sources

- [E1] Note — <{URL}>, undated, cited
- [E2] Other — `corpus:other.md`, undated, cited
"""
HEAD = "| Topic | Status | Answer |\n| --- | --- | --- |"
MARK = "(by ann, not verified)"


def material() -> tuple[Closing, Composed]:
    entries = [
        Entry(
            query="q", source_id=f"s{n}", title="Note", sha256=str(n) * 64, start=0, end=len(text),
            excerpt=text, origin=origin, number=n,
        )
        for n, text, origin in ((1, FIRST, URL), (2, SECOND, "corpus:other.md"))
    ]  # fmt: skip
    texts = {entry.sha256: text for entry, text in zip(entries, (FIRST, SECOND), strict=True)}
    sources = [
        Source(number=entry.number, source_id="s", title="Note", origin=entry.origin)
        for entry in entries
    ]
    closing = Closing(state=state("en"), status="succeeded", entries=entries, texts=texts)
    empty = Source(number=3, source_id="", title="", empty=True)
    composed = Composed(
        report=REPORT, claims=ClaimCounts(), quotes=[], sources=[*sources, empty], notes=[]
    )
    return closing, composed


def edited(text: str, editor: str = "ann") -> str:
    closing, composed = material()
    return edited_report(closing, composed, edited=text, editor=editor)


def written(line: str) -> str:
    """What becomes of a line put under the section of the findings."""
    head, _, rest = edited(f"# Research report\n\n## Findings\n\n{line}\n").partition("Findings")
    assert "ann changed this report" in head
    return rest.strip()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- The pool holds at most 20 percent of memory [E1].", None),
        ("The pool holds at most 20 percent of memory [E1].", None),  # moved out of its list
        ("The pool holds at most **20 percent** of memory [E1].", None),
        ("> The pool holds at most 20 percent of memory [E1].", None),
        ("- Both of them need a kernel of 6.0 or newer [E1][E2].", None),
        ("It is not enabled by default [E1].", None),  # a quote of the source it cites
        ("It is not enabled by default [E1][E2].", None),  # of each of them
        ("It works at -5 to 10 degrees [E1].", None),
        ("The idle loss is 5 mW in total. [E1]", None),
        ("- [E2] Other — `corpus:other.md`, undated, cited", None),
        ("---", None),
        ("", None),
        ("It is not enabled by default.", "It is not enabled by default. " + MARK),  # cites none
        ("It is enabled by default [E1].", "It is enabled by default. " + MARK),
        ("Enabled by default [E1].", "Enabled by default. " + MARK),  # its "not" is gone
        ("It is … enabled by default [E1].", "It is … enabled by default. " + MARK),
        ("20 percent of memory [E1].", "20 percent of memory. " + MARK),
        ("## My own heading", "## My own heading " + MARK),
        ("✅", "✅ " + MARK),
        ("New fact [E7].", "New fact. " + MARK),
        ("新的说法 [E1]。", "新的说法。 " + MARK),
        (
            "The pool holds at most 20 percent of memory [E1]. So buy more.",
            "The pool holds at most 20 percent of memory [E1]. So buy more. " + MARK,
        ),
        (
            "Buy more. The pool holds at most 20 percent of memory [E1].",
            f"Buy more. {MARK} The pool holds at most 20 percent of memory [E1].",
        ),
        # Signs, ranges, comparisons, units.
        ("- The offset is **-5** degrees between 5-10 pages. [E1]", MARK),
        ("- The offset is 5 degrees between **510** pages. [E1]", MARK),
        ("- The offset is 5 degrees between 5–10 pages. [E1]", None),
        ("- The offset is >5 degrees between 5-10 pages. [E1]", MARK),
        ("- The offset is 5 degrees between 5_10 pages. [E1]", MARK),
        ("- A load below 5 percent is fine. [E1]", MARK),
        ("- A load below >5 percent is fine. [E1]", MARK),
        ("- A load below <5 percent is fine. [E1]", "- A load below \\<5 percent is fine. [E1]"),
        ("The idle loss is 5 MW in total. [E1]", MARK),
        ("40 degrees is the lowest limit [E1].", MARK),
        ("It works at 5 to 10 degrees [E1].", MARK),
        ("mem is one of its names. [E1]", None),  # a small letter begins a sentence
        ("It needs room, e.g. [E1]", MARK),
        ("on weekends only. [E1]", MARK),
        ("It works at -5 to 10 [E1].", MARK),
        # Marks that are not those of the sentence.
        ("The pool holds at most 20 percent of memory [E2].", MARK),
        ("The pool holds at most 20 percent of memory [E1][E2].", MARK),
        ("The pool holds at most 20 percent of memory.", MARK),
        ("- Both of them need a kernel of 6.0 or newer [E1].", MARK),
        ("Merging compares identical pages. [E1]", MARK),
        ("The idle loss is 5 mW in total. [E1][E2]", MARK),
        ("Merging compares identical pages, always. [E2]", MARK),  # its limitation is gone
        # What stood elsewhere and cites nothing, or stood where it was called a draft.
        ("- The pool is free of charge", MARK),
        ("The pool saves everything.", MARK),
        ("> The pool doubles every memory [E1].", MARK),
        ("> The pool holds at most 20 percent of memory.", MARK),
    ],
)
def test_what_is_carried_stays_and_all_else_is_marked(line: str, expected: str | None) -> None:
    found = written(line)
    if expected is None:
        assert found.replace("–", "-") == line.strip().replace("–", "-")
    else:
        assert found.endswith(expected)
        if expected == MARK:
            assert not citations(found)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("See [the page](https://evil.example/x) [E1].", "See the page. " + MARK),
        ("See https://evil.example/x", "See (link removed) " + MARK),
        (f"See <{URL}>.", f"See <{URL}>. " + MARK),
        (f"See [here]({URL}).", f"See here <{URL}>. " + MARK),
        ("![x](https://evil.example/y.png)", "x " + MARK),
        ('![a](http://evil.example/x.png "t")', "a " + MARK),
        ('[s](http://evil.example "t")', "s " + MARK),
        ("[s](<http://evil.example/a b>)", "s " + MARK),
        ("[x](javascript:alert(1))", "x " + MARK),
        ("HTTP://evil.example", "(link removed) " + MARK),
        ("www.evil.example ftp://evil.example", "(link removed) (link removed) " + MARK),
        ("mailto:eve@evil.example", "(link removed) " + MARK),
        ("eve@evil.example", "`eve@evil.example` " + MARK),
        ("[s][1]", "\\[s\\]\\[1\\] " + MARK),
        ("[1]: //evil.example", "\\[1\\]: //evil.example " + MARK),
        ("[E1]: //evil.example", "\\: //evil.example " + MARK),
        ("【E1】(//evil.example)", MARK),
        ("The pool holds at most 20 percent of memory 【E1】(//evil.example)", MARK),
        (f"{URL}@evil.example", "(link removed) " + MARK),
        ("Magic [E[E9]9] [E[E[E9]9]9]", "Magic " + MARK),
        ("Magic [**E9**] [E\u200b9] [`E9`] \\[E9] &#91;E9] ［Ｅ９］", "Magic " + MARK),
        ("Magic [E3]", "Magic " + MARK),  # an empty result
        ("<script>alert(1)</script>", "\\<script\\>alert(1)\\</script\\> " + MARK),
        ("<img src=x onerror=f()>", "\\<img src=x onerror=f()\\> " + MARK),
        ("It formats your disk. <!--", "It formats your disk. \\<!-- " + MARK),
        ("<!--", "\\<!--"),
        ("```", "\\`\\`\\`"),
        ("~~~", "\\~\\~\\~"),
        ("    Indented", "Indented " + MARK),
        ("Magic \\", "Magic \\\\ " + MARK),
        ("$\\phantom{", "\\$\\\\phantom{ " + MARK),
        ("Use `a < b` *now*", "Use `a < b` *now* " + MARK),
        ("a | b", "a \\| b " + MARK),
    ],
)
def test_what_a_person_wrote_is_text(line: str, expected: str) -> None:
    assert written(line).endswith(expected)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # One column: a second cell is not shown, so it is no cell.
        ("| a |\n| --- |\n| KSM | magic |", f"| KSM \\| magic {MARK} |"),
        ("It is so\n| --- |\n| KSM | magic |", f"| \\--- |\n| KSM | magic {MARK} |"),
        ("| a |\n:-\n| KSM | magic |", f"\\:-\n| KSM | magic {MARK} |"),
        (
            f"{HEAD}\n| pool | covered | 30 percent [E1] |",
            f"| pool | covered | 30 percent {MARK} |",
        ),
        (
            "| a |\n| --- |\n| pool | covered | 20 percent [E1] |",
            "| pool \\| covered \\| 20 percent [E1] |",
        ),
        ("Magic\n---", f"Magic {MARK}\n\\---"),
        ("Magic\n===", f"Magic {MARK}\n\\==="),
    ],
)
def test_no_table_or_underline_hides_a_part(lines: str, expected: str) -> None:
    found = written(lines)
    assert found.endswith(expected)
    assert hidden(found) == []


def test_a_quote_stands_behind_its_locator_and_whole() -> None:
    block = "> The pool holds at most 20 percent of memory.\n> It is not enabled by default."
    assert block in REPORT
    moved = REPORT.replace("[E1] Note › Limits, characters 0–44:", "")
    assert edited(moved).count(MARK) == 2
    halved = REPORT.replace("\n> It is not enabled by default.", "")
    assert f"> The pool holds at most 20 percent of memory. {MARK}" in edited(halved)
    assert edited(REPORT.replace(block, block + "\n> Always.")).count(MARK) == 3


def test_an_unchanged_report_stays_byte_for_byte() -> None:
    title, _, rest = REPORT.partition("\n\n")
    found = edited(REPORT)
    assert MARK not in found
    assert found.startswith(title)
    assert found.endswith("*\n\n" + rest)
    assert edited(REPORT.replace("\n", "\r\n")) == found


def test_a_longer_report_keeps_its_parts_byte_for_byte() -> None:
    found = edited(REPORT.replace("## Sources", "More.\n\n## Sources"))
    for line in REPORT.splitlines():
        assert line in found.splitlines()
    assert found.count(MARK) == 1


@pytest.mark.parametrize("name", ["a\u202enn", "[E9] <b>", "http://evil.example", "a|b"])
def test_a_name_is_text_too(name: str) -> None:
    found = edited(REPORT + "\n| a |\n| --- |\n| b |\n\nMore.", name)
    assert citations(found) == [1, 2]
    assert not problems(found)
    assert "\u202e" not in found
    assert hidden(found) == []


def test_marks_follow_the_language_of_the_run() -> None:
    closing, composed = material()
    chinese = Closing(state=state("zh"), status="succeeded", entries=closing.entries)
    found = edited_report(chinese, composed, edited="# x\n\n完全不同的话。", editor="ann")
    assert "（ann 添加，未经核实）" in found


def problems(report: str) -> list[str]:
    closing, composed = material()
    return final_check(
        closing,
        Composed(
            report=report, claims=ClaimCounts(), quotes=[], sources=composed.sources, notes=[]
        ),
    )


def rendered(report: str) -> list[Any]:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(report)
    return [child for token in tokens for child in (token, *(token.children or []))]


def hidden(report: str) -> list[str]:
    """What a renderer makes of a report that it should not."""
    tokens = rendered(report)
    kinds = {"html_block", "html_inline", "image", "fence", "code_block", "s_open"}
    found = [token.type for token in tokens if token.type in kinds]
    found += [
        str(token.attrs["href"])
        for token in tokens
        if token.type == "link_open" and token.attrs["href"] != URL
    ]
    seen = "\n".join(t.content for t in tokens if t.type in ("text", "code_inline"))
    if seen.count("not verified)") != report.count("not verified)"):
        found.append("a label")
    return found + [n for n in re.findall(r"\[E(\d+)\]", seen) if n not in ("1", "2")]


# A word or sign each, between bars that are broken.
SIGNS = re.split(
    "¦",
    "\n¦\n\n¦\n¦    ¦\t¦> ¦- ¦# ¦1. ¦|¦|\n¦| a |\n| --- |\n¦<!--¦-->¦<b>¦<script>¦```¦~~~\n¦`¦*"
    "¦**¦_¦~¦[¦]¦(¦)¦[x](¦[E1]¦[E9]¦[E¦9]¦E9¦【E1】¦]:¦[1]: //e\n¦http://e.x¦www.e.x¦<http://e.x>"
    "¦\\¦&lt;¦&#91;¦\u200b¦\u202e¦\x1b¦---\n¦===\n¦:-\n¦KSM is magic.¦是的。¦a@b.example¦$¦!¦:"
    "¦\ufdd0¦\ufdd21\ufdd3",
)
PIECES = st.sampled_from([*REPORT.splitlines(), *SIGNS, URL, f"<{URL}>"])


@given(st.lists(PIECES, max_size=14).map("".join))
@example("| a |\n| --- |\n| b | c |")
@example("KSM formats your disk. <!--\n\n-->\n")
def test_nothing_hides_and_nothing_foreign_is_delivered(text: str) -> None:
    found = edited(f"# Research report\n\n{text}")
    assert hidden(found) == []
    assert problems(found) == []
    assert set(citations(found)) <= {1, 2}
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\ufdd0-\ufdef]", found)


CITED = [line for line in REPORT.splitlines() if line.startswith("- ") and line.endswith("]")]


@given(
    st.sampled_from(CITED),
    st.integers(0, 80),
    st.integers(0, 2),
    st.sampled_from(
        ["", "-", ">", "not ", "0", "|", "_", "*", "`", "%", "#", "~", "[E2]", " ", "é"]
    ),
)
def test_a_changed_claim_is_marked(line: str, at: int, cut: int, put: str) -> None:
    body, _, marks = line.removeprefix("- ").rpartition(" ")
    at = min(at, len(body))
    found = written(f"- {body[:at]}{put}{body[at + cut :]} {marks}")
    if MARK not in found:  # then a reader sees what the original said, whatever was typed
        assert seen(found) == seen(line)
        assert set(citations(found)) == set(citations(line))


def seen(report: str) -> str:
    """The words that a renderer shows."""
    texts = (t.content for t in rendered(report) if t.type in ("text", "code_inline"))
    return same(re.sub(r" ?\[E\d\]", "", "".join(texts)))
