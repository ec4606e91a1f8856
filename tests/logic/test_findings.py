"""Findings, the report of a plan and its final check, as rules; English and Chinese."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logic.test_decisions import task as react_task
from workflows.contracts.claim import ClaimCounts, ClaimOutcome, Quote
from workflows.contracts.evidence import Entry, LedgerEntry
from workflows.contracts.plan import Plan
from workflows.contracts.plan_state import Conflict, PlanState, StepState
from workflows.contracts.state import RunState
from workflows.contracts.step_record import CheckedClaim, Finding, StepRecord
from workflows.contracts.task import Prepared, ResolvedTopic, Settings
from workflows.contracts.verdict import Verdict
from workflows.logic.citations import citations
from workflows.logic.final_check import final_check, lowered
from workflows.logic.findings import (
    candidates_of,
    groups_to_compare,
    may_differ,
    numbered_findings,
)
from workflows.logic.parse import parse_task
from workflows.logic.report import compose
from workflows.logic.report_sources import Closing
from workflows.logic.resolve import resolve

REF = "sha256:" + "0" * 64
TEXT = "KSM merges identical memory pages into one. KSM is off by default."


def made(text: str, start: int = 0, **more: Any) -> CheckedClaim:
    quote = Quote(evidence=1, text=TEXT[start : start + 43], start=start, end=start + 43)
    given_: dict[str, Any] = {
        "text": text, "numbers": [1], "quotes": [quote], "context": [TEXT],
        "outcome": "supported",
    }  # fmt: skip
    return CheckedClaim(**(given_ | more))


def record(*claims: CheckedClaim) -> StepRecord:
    return StepRecord(step="s1", goal="g", accept="a", claims=list(claims))


def test_only_what_stands_is_a_finding_and_each_once() -> None:
    outcomes: list[ClaimOutcome] = ["supported", "qualified", "contradicted", "insufficient"]
    claims = [made(f"claim {outcome}", outcome=outcome) for outcome in outcomes]
    claims += [made("an inference", kind="inference"), made("claim supported")]
    found = numbered_findings([("s1", record(*claims)), ("s2", record(claims[0]))])
    assert [(f.number, f.claim.text) for f in found] == [
        (1, "claim supported"),
        (2, "claim qualified"),
    ]


def topic(question: str, *names: str) -> ResolvedTopic:
    return ResolvedTopic(id="t", question=question, query=question, names=list(names))


@pytest.mark.parametrize(
    ("asked", "claim", "share", "may"),
    [
        (topic("What does KSM do?", "KSM"), made("KSM merges pages."), 0.0, True),
        (topic("What does ZRAM do?", "ZRAM"), made("KSM merges pages."), 1.0, False),
        (topic("what saves memory"), made("KSM merges pages."), 0.5, True),
        (topic("what saves memory"), made("KSM merges pages."), 0.2, False),
        (topic("KSM 有什么作用？", "KSM", "作用"), made("KSM merges pages."), 0.0, True),
        (topic("zram 有什么作用？", "zram"), made("KSM merges pages."), 0.0, True),
        (topic("task_struct 是什么？", "task_struct"), made("KSM merges pages."), 0.0, False),
    ],
)
def test_candidates_hold_a_topics_names(
    asked: ResolvedTopic, claim: CheckedClaim, share: float, may: bool
) -> None:
    finding = Finding(number=1, step="s1", claim=claim)
    found = candidates_of(0, asked, [finding], {}, lambda *_: share)
    assert (found.findings == [1]) == may
    declared = candidates_of(0, asked, [finding], {1: [0]}, lambda *_: share)
    assert declared.declared == [1]
    limited = finding.model_copy(
        update={"claim": claim.model_copy(update={"outcome": "qualified"})}
    )
    assert candidates_of(0, asked, [limited], {1: [0]}, lambda *_: share).declared == []


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("KSM scans 100 pages a pass", "KSM scans 200 pages a pass", True),
        ("KSM is on by default", "KSM is not on by default", True),
        ("KSM scans 100 pages a pass", "KSM scans 100 pages each pass", False),
        ("KSM scans 100 pages", "A river carries 200 tons of sediment", False),
        ("默认扫描 100 页", "默认扫描 200 页", True),
    ],
)
def test_what_is_compared(one: str, other: str, differ: bool) -> None:
    assert may_differ(made(one), made(other)) == differ
    findings = [Finding(number=n, step="s", claim=made(t)) for n, t in ((1, one), (2, other))]
    candidates = [candidates_of(0, topic("x"), findings, {}, lambda *_: 1.0)]
    assert groups_to_compare(candidates, findings) == ([[1, 2]] if differ else [])


def closing(*claims: CheckedClaim, language: str = "en", **dag: Any) -> Closing:
    """A run that closes with these findings of one step and one topic."""
    given_ = {"goal": "What does KSM do?", "required_topics": ["ksm"], "language": language}
    task = resolve(parse_task([given_]), "default", "m", Settings(), extractive=False)
    plan = Plan.model_validate({"steps": [
        {"id": "s1", "goal": "Find KSM", "accept": "one quote", "topics": ["ksm"]},
        {"id": "s2", "goal": "Use it", "accept": "one quote", "depends_on": ["s1"]},
    ]})  # fmt: skip
    verdict = Verdict(passed=True, score=0.9)
    findings = numbered_findings([("s1", record(*claims))])
    state = RunState(
        goal="What does KSM do?",
        prepared=Prepared(task=task, task_ref=REF, store_id="s"),
        ledger=[LedgerEntry(source_id="n:ksm.md", title="KSM", sha="a"), LedgerEntry(
            source_id="", empty=True)],
        stop_reason="completed",
    )  # fmt: skip
    fields: dict[str, Any] = {
        "version": 1, "plan": plan, "answers": {"0": "answered" if findings else "no"},
        "topic_findings": {"0": [f.number for f in findings]}, "compared": True,
        "steps": {"s1": StepState(status="DONE", verdict=verdict, queries=["KSM"],
                                  claims=ClaimCounts(supported=len(findings))),
                  "s2": StepState()},
    }  # fmt: skip
    state.dag = PlanState(**(fields | dag))
    if findings:
        state.covered = {"0": "answered"}
    entry = Entry(number=1, source_id="n:ksm.md", title="KSM", sha256="a", end=len(TEXT),
                  date="2026-01-02", origin="ksm.md")  # fmt: skip
    return Closing(state, "succeeded", "2026-12-01T00:00:00+00:00", [entry], {"a": TEXT},
                   findings=findings)  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_report_has_its_sections_in_order(language: str) -> None:
    composed = compose(closing(made("KSM merges pages."), language=language))
    heads = [line[3:] for line in composed.report.splitlines() if line.startswith("## ")]
    expected = {
        "en": ["Answer in brief", "Topics", "Findings", "Conflicts between sources", "Not covered",
               "Steps", "Failures", "Time range and limits", "Sources"],
        "zh": ["简要回答", "主题", "发现", "来源之间的矛盾", "未覆盖的内容", "步骤", "失败",
               "时间范围与限制", "来源"],
    }[language]  # fmt: skip
    assert heads == expected
    assert "KSM merges pages. [E1]" in composed.report
    assert "> KSM merges identical memory pages into one." in composed.report
    assert final_check(closing(made("KSM merges pages.")), composed) == []


def test_limitations_methods_and_dates_are_printed() -> None:
    composed = compose(
        closing(
            made(
                "KSM is currently off.", start=0, outcome="qualified", limitation="only by default"
            ),
            made("Half of it.", start=1, kind="derived", method="1/2 = 0.5"),
        )
    )
    assert "(holds only: only by default)" in composed.report
    assert "(as of 2026-01-02)" in composed.report
    assert "Computed: `1/2 = 0.5`" in composed.report


def test_without_a_finding_the_report_makes_no_claim() -> None:
    composed = compose(closing(made("x", outcome="insufficient")))
    assert "makes no claim" in composed.report
    assert composed.quotes == []
    assert "Searched for and not found in `default`: ksm (1 queries)" in composed.report


def test_the_line_of_a_topic_was_written_for_it() -> None:
    """A claim about something else whose paragraph names the topic too comes after its own."""
    report = compose(
        closing(
            made("KSM merges pages.", start=0, proposed=["another"]),
            made("KSM is off.", start=1, proposed=["ksm"]),
            made("KSM is off so far.", start=2, proposed=["ksm"], outcome="qualified"),
        )
    ).report
    table = report.partition("## Topics")[2].partition("\n## ")[0]
    assert "| KSM is off. [E1] |" in table
    brief = report.partition("## Answer in brief")[2].partition("\n## ")[0]
    assert brief.index("KSM is off.") < brief.index("KSM merges pages.") < brief.index("so far")


def test_both_sides_of_a_conflict_are_shown_and_confidence_is_low() -> None:
    shown = compose(
        closing(
            made("KSM scans 100 pages.", start=0),
            made("KSM scans 200 pages.", start=1),
            conflicts=[Conflict(one=1, other=2, about="pages")],
        )
    ).report
    section = shown.partition("## Conflicts")[2].partition("\n## ")[0]
    assert "100 pages" in section
    assert "200 pages" in section
    assert "| low |" in shown


def test_the_final_check_can_only_lower() -> None:
    good = closing(made("KSM merges pages."))
    composed = compose(good)
    bad = replace(composed, report=composed.report + "\n[E7] and [x](https://evil.test/)\n")
    problems = final_check(good, bad)
    assert any("E7" in problem for problem in problems)
    assert any("evil.test" in problem for problem in problems)
    changed = replace(good, texts={"a": TEXT.upper()})
    assert any("not in the stored text" in problem for problem in final_check(changed, composed))
    assert lowered("succeeded", problems) == "partially_succeeded"
    assert lowered("failed", problems) == "failed"
    assert lowered("succeeded", []) == "succeeded"


@pytest.mark.parametrize(
    "form",
    [
        '[s](http://evil.test "t")',
        "[s](<http://evil.test/a b>)",
        "HTTP://evil.test",
        "www.evil.test",
        "ftp://evil.test",
        "_http://evil.test",
        "[s][1]\n\n[1]: //evil.test",
        "> [E1]: //evil.test",
        '![a](http://evil.test/x.png "t")',
        "mailto:eve@evil.test",
        "<eve@evil.test>",
        "[s](evil.test)",
        "[x](javascript:evil.test)",
        "<HTTPS://evil.test>",
        "<a href=HTTP://evil.test>",
        "<img src=evil.test>",
        "<script src=evil.test>",
        "<!-- evil.test",
    ],
)
def test_the_final_check_sees_every_form_of_a_link_and_raw_html(form: str) -> None:
    good = closing(made("KSM merges pages."))
    composed = compose(good)
    assert final_check(good, composed) == []
    for report in (f"{composed.report}\n{form}\n", f"{form}\n{composed.report}"):
        found = final_check(good, replace(composed, report=report))
        assert any("evil.test" in problem for problem in found)


@pytest.mark.parametrize(
    "text",
    [
        "See http://evil.test and www.evil.test",
        "<b>[x](http://evil.test)</b> <!--",
        "[1]: //evil.test",
        "_http://evil.test",
        "mailto:eve@evil.test",
        "javascript:f()",
        "`http://evil.test",
    ],
)
def test_what_a_source_says_of_links_is_no_link(text: str) -> None:
    made_of_it = closing(made(f"KSM says {text}"))
    assert final_check(made_of_it, compose(made_of_it)) == []


TEXTS = st.text(min_size=1, max_size=40)


@given(st.lists(st.tuples(TEXTS, st.sampled_from(["supported", "insufficient"])), max_size=4))
def test_a_report_never_cites_or_claims_what_is_not_there(
    claims: list[tuple[str, ClaimOutcome]],
) -> None:
    checked = [made(f"Z{n} {text}", start=n, outcome=o) for n, (text, o) in enumerate(claims)]
    ready = closing(*checked)
    composed = compose(ready)
    cited = set(citations(composed.report))
    assert cited - {n for text, _ in claims for n in citations(text)} <= {1, 2}
    for n, (_, outcome) in enumerate(claims):
        if outcome == "insufficient":
            assert f"Z{n} " not in composed.report


def test_react_reports_are_as_they_were() -> None:
    task = react_task()
    state = RunState(prepared=Prepared(task=task, task_ref=REF, store_id="s"))
    assert "Steps" not in compose(Closing(state, "failed")).report
