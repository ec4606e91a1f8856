"""The report: every required part, honest, safe, in the run's language.

How it can go wrong: a claim without evidence; a mark or a link that is in no evidence; a draft
shown as a finding; a gap or a stop reason hidden; foreign text that becomes markup.
"""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logic.closing import CONTRACT, LINK, LOOP, closing, entries
from workflows.contracts.claim import Quote
from workflows.contracts.observation import Observation
from workflows.contracts.result import Failure, Status, StopReason
from workflows.contracts.state import RunState
from workflows.logic.headings import STATUSES_EN, STOP_REASONS_EN, TEXTS_EN
from workflows.logic.headings_zh import STATUSES_ZH, STOP_REASONS_ZH, TEXTS_ZH
from workflows.logic.report import compose
from workflows.logic.report_quotes import confidence
from workflows.logic.report_sources import Closing, Source
from workflows.logic.safe_markdown import DraftCleaner, block_quote, cell, code, escape

MODEL: dict[str, Any] = {"task": {"extractive": False}, "sufficient": True}
SENTENCE = "An agent loop ends when the model finishes or a budget is used up."
MARK = re.compile(r"\[E(\d+)\]")


def test_both_languages_say_everything() -> None:
    assert TEXTS_ZH.keys() == TEXTS_EN.keys()
    assert STATUSES_ZH.keys() == STATUSES_EN.keys() == set(Status.__args__)
    assert STOP_REASONS_ZH.keys() == STOP_REASONS_EN.keys() == set(StopReason.__args__)
    for key, text in TEXTS_EN.items():
        assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", TEXTS_ZH[key]))


def test_english_report() -> None:
    composed = compose(closing())
    report = composed.report
    for part in (
        "# Research report",
        "- **Goal**: How do \\*agents\\* work?",
        "partially succeeded (`partially_succeeded`)",
        "the model finished by itself (`model_finished`)",
        "Matching passages; whether they answer was not judged.",
        f"{SENTENCE} [E1]",
        "| How does an agent loop end? | covered (the source declares it) |",
        "| high | [E1] | 2026-11-02 |",
        "| low | [E2] | undated |",
        "| recovery | not covered | – | – | – | – |",
        f"[E1] On loops › Agent loops, characters 15–{15 + len(SENTENCE)}:",
        f"> {SENTENCE}",
        "Not compared",
        "## Not covered\n\n- recovery",
        "`recovery` is nowhere in the collections".replace("`", "\\`"),
        "- `agent loop`: passages: 2",
        "- `recovery`: nothing found",
        "Run from 2026-12-01T08:00:00+00:00 to 2026-12-01T08:01:00+00:00.",
        "4 of 6 model calls, 3 of 4 tool calls, 3 searches, 1.5 of 600 seconds",
        f"- [E1] On loops — <{LINK}>, date 2026-11-02",
        "- [E2] 关于契约 — `notes/契约.md`, undated, cited",
        "- [E3] empty result of the query `recovery`",
    ):
        assert part in report, part
    assert "Unverified draft" not in report
    assert composed.claims.supported == len(composed.quotes) == 2
    for quote in composed.quotes:
        text = LOOP if quote.evidence == 1 else CONTRACT
        assert text[quote.start : quote.end] == quote.text


def test_chinese_report() -> None:
    report = compose(closing(task={"language": "zh-CN"})).report
    for part in (
        "# 研究报告",
        "- **状态**：部分成功 (`partially_succeeded`)",
        "是否回答了问题未作判断",
        "| 工具契约规定什么？ | 已覆盖（匹配的段落，未作判断） |",
        "| 工具契约规定输入和输出的格式。 [E2] |",
        "## 未覆盖的内容",
        "- [E3] 查询 `recovery` 的空结果",
    ):
        assert part in report, part
    assert not re.search(r"^#+ [A-Z]", report.replace("### How", ""), re.MULTILINE)


def test_another_language_has_english_headings() -> None:
    assert "## Findings" in compose(closing(task={"language": "fr"})).report


def test_no_evidence_makes_no_claim() -> None:
    made = closing("failed", ledger=[], covered={}, draft="The moon is cheese. [E1]", **MODEL)
    composed = compose(replace(made, entries=(), texts={}))
    assert "No evidence was found, so this report makes no claim." in composed.report
    assert "cheese" not in composed.report
    assert sum(composed.claims.model_dump().values()) == 0
    assert not MARK.search(composed.report)


def test_evidence_without_a_covered_topic_makes_no_claim() -> None:
    composed = compose(closing(covered={}))
    assert "none of them covers a required topic" in composed.report
    assert composed.claims.supported == 0


def test_a_model_draft_is_unverified() -> None:
    draft = "Loops end. [E1] Contracts hold. [E2]\n\nNothing is cited here."
    composed = compose(closing(draft=draft, **MODEL))
    assert "## Unverified draft" in composed.report
    assert "> Loops end. [E1] Contracts hold. [E2]" in composed.report
    assert (composed.claims.supported, composed.claims.unverified) == (2, 2)
    plain = compose(closing(draft="Neutral closing note.", **MODEL))
    assert "> Neutral closing note." in plain.report
    assert plain.claims.unverified == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"sufficient": False},
        {"stop_reason": "model_budget"},
        {"draft": "  \n"},
        {"task": {"extractive": True}},
    ],
)
def test_when_a_draft_is_not_shown(changes: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"draft": "Draft that must not be shown.", **MODEL, **changes}
    composed = compose(closing("partially_succeeded", **fields))
    assert "must not be shown" not in composed.report
    assert "Unverified draft" not in composed.report
    assert composed.claims.unverified == 0


def test_a_draft_loses_what_is_not_in_evidence() -> None:
    draft = (
        "True [E1], false [E9] and [E3]; listed [E1, E2][E7]. 全角【E2】\n"
        "![x](https://evil.test/p.png) <script>alert(1)</script>\n"
        f"[text](https://evil.test/a) https://evil.test/b). See {LINK}. [E1](https://evil.test)\n"
        "[ref]: https://evil.test/c\n"
    )
    report = compose(closing(draft=draft, **MODEL)).report
    assert "evil.test" not in report
    assert "<script" not in report
    assert "![" not in report
    assert f"See {LINK}." in report
    assert "listed [E1][E2]." in report
    assert "全角[E2]" in report
    assert "(E9, E3, E7)" in report
    assert "links that are not in the evidence (4)" in report
    assert "images (1)" in report
    assert set(MARK.findall(report)) == {"1", "2", "3"}  # 3 is the empty result under Sources


def test_failures_and_the_last_error_are_shown() -> None:
    made = closing(
        task={"language": "zh"},
        failures=[
            Failure(code="FAILED_DATA", step="s1", reason="searches in a row brought nothing new")
        ],
        observation=Observation(ok=False, error="repeated_query"),
        stop_reason="no_progress",
        stop_detail="the planner server answered 503",
        degraded=True,
    )
    report = compose(made).report
    assert "`FAILED_DATA` (步骤 s1)：连续的搜索没有带来新内容" in report
    assert "最近一次工具错误：`repeated_query`" in report
    assert "the planner server answered 503" in report
    assert "已降级" in report
    assert "repeated_query" not in compose(closing()).report


def test_foreign_text_stays_text() -> None:
    bad = "[E9] <img src=x> ![a](http://evil.test) `code` | a_b _c_ javascript:x\n# top"
    made = closing(
        task={"goal": bad},
        notes=[bad],
        ledger=[
            entry.model_copy(update={"title": bad, "source_id": bad})
            for entry in closing().state.ledger
        ],
    )
    made = replace(
        made, entries=[e.model_copy(update={"headings": [bad], "origin": bad}) for e in entries()]
    )
    shown = re.sub(r"(`+).*?\1", "", compose(made).report.replace("\\`", ""))
    assert "[E9]" not in shown
    assert "<img" not in shown.replace("\\<img", "")
    assert "http://" not in shown
    assert not re.search(r"(?<!\\)\]\(", shown)
    assert "\n# top" not in shown


def test_lost_texts_are_said() -> None:
    made = replace(closing(), texts={}, problems=[("texts_lost", {"count": 2})])
    composed = compose(made)
    assert "Texts of 2 sources could not be read" in composed.report
    assert "The stored evidence could not be read" in composed.report
    assert composed.notes == ["Texts of 2 sources could not be read from the evidence store;"
                              " nothing is quoted from them."]  # fmt: skip
    assert composed.claims.supported == 0


def test_a_run_without_a_task_has_a_report() -> None:
    made = Closing(RunState(goal="查找资料", stop_reason="internal_error"), "failed")
    report = compose(made).report
    assert "查找资料" in report
    assert "the run could not go on (`internal_error`)" in report


def source(number: int, **fields: Any) -> Source:
    return replace(
        Source(number, f"n:{number}", "t", sha256=str(number), date="2026-01-01"), **fields
    )


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([source(1), source(2)], "high"),
        ([source(1), source(2, sha256="1")], "medium"),
        ([source(1, kin="k"), source(2, kin="k")], "medium"),  # two copies are one source
        ([source(1, kin="k"), source(2, kin="l")], "high"),
        ([source(1, primary=True)], "high"),
        ([source(1)], "medium"),
        ([source(1), source(2, date="")], "medium"),
        ([source(1, date="", primary=True), source(2, date="")], "low"),
        ([], "low"),
    ],
)
def test_confidence(sources: list[Source], expected: str) -> None:
    assert confidence(sources) == expected


BOOK = "Chapter 1. zswap compresses\npages. Chapter 2. KSM merges equal pages."


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("KSM merges equal\n  pages.", "medium"),  # a chapter of the book
        ("KSM is off by default.", "high"),
        ("", "high"),  # a lost text tells nothing
    ],
)
def test_a_chapter_and_its_book_are_one_source(other: str, expected: str) -> None:
    sources = [source(1, sha256="a", date="2026-01-01"), source(2, sha256="b", date="2026-01-01")]
    quotes = [
        Quote(evidence=1, text="KSM merges equal pages.", start=0, end=23),
        Quote(evidence=2, text=other, start=0, end=len(other)),
    ][: 2 if other else 1]
    texts = {"a": BOOK} | ({"b": other} if other else {})
    assert confidence(sources, quotes, texts) == expected
    assert confidence(sources[::-1], quotes, texts) == expected


def unescaped(text: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


@given(st.text(st.one_of(st.sampled_from("ab1.)#-+=*_[]<>&;|~`\\!:/ \n证"), st.characters())))
def test_escaped_text_reads_the_same(text: str) -> None:
    flat = " ".join(text.split())
    assert unescaped(escape(text)) == flat
    assert unescaped(escape(text, leads=True)) == flat
    assert unescaped(cell(text, 10_000)) == flat
    lines = [line.removeprefix(">").removeprefix(" ") for line in block_quote(text).split("\n")]
    assert [unescaped(li).split() for li in lines if li.split()] == [
        li.split() for li in text.splitlines() if li.split()
    ]
    for made in (escape(text), cell(text, 10_000)):
        assert not re.search(r"(?<!\\)(?:\\\\)*[<\[\]*`]", re.sub(r"\\.", "", made))
    fence = re.match(r"`*", code(text))
    assert fence is not None
    inner = code(text)[fence.end() : len(code(text)) - fence.end()]
    assert inner.strip() == flat
    assert not flat or fence.group() not in inner


@given(st.text(st.sampled_from("[]()!<>E12 .ht:/ps`\\www&-\n【】")), st.text(max_size=40))
def test_no_draft_gets_a_link_or_an_unknown_mark(noise: str, more: str) -> None:
    cleaned = DraftCleaner({1}, {LINK}, ("(gone)", "(gone)")).clean(f"{noise} [E1] {more}")
    assert set(MARK.findall(cleaned.text)) <= {"1"}
    assert not re.search(r"[<>]|\]\(|\]\[(?!E)|https?://|!\[", cleaned.text.replace(LINK, ""))


@pytest.mark.parametrize(
    "draft",
    ["[E1](//evil.test)", "【E1】: //evil.test", "see _http://evil.test", "mailto:eve@evil.test"],
)
def test_a_mark_of_a_draft_leads_nowhere(draft: str) -> None:
    text = DraftCleaner({1}, set(), ("(gone)", "(gone)")).clean(draft).text
    assert not re.search(r"\[E1\][(:]|https?://|mailto:", text)


def test_nothing_in_a_report_drives_a_terminal_or_turns_its_direction() -> None:
    hostile = "\x1b]0;pwned\x07 \x1b[2J\u202eend\u202c"
    made = closing(degraded=True)
    made.state.stop_detail = f"loops {hostile}"
    report = compose(made).report
    assert not set("\x1b\x07\u202e\u202c") & set(report)
    assert "loops ]0;pwned" in report.replace("\\", "")
