"""Findings of a run: numbered in plan order, candidates of topics by names, groups to compare.

A topic's names and identifiers must stand in the cited passages; across languages identifiers only
(DESIGN, "Coverage"). Whether a candidate answers is for the topic call to say.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from workflows.contracts.plan_acts import TopicCandidates
from workflows.contracts.step_record import CheckedClaim, Finding, StepRecord
from workflows.contracts.task import ResolvedTopic
from workflows.logic.quantities import negations, quantities
from workflows.logic.terms import language_of, query_key
from workflows.logic.tokens import query_tokens

TOPIC_COVER: Final = 0.35  # of a topic's IDF (DESIGN, "Models")
_LIKE: Final = 0.5
_GROUPS: Final = 5
_GROUP: Final = 8
_IDENTIFIER: Final = re.compile(r"[\d._/:+#-]|[a-z][A-Z]|^[A-Z0-9]{2,}$")
_MARKS: Final = re.compile(r"[^\w]+")


def numbered_findings(records: Sequence[tuple[str, StepRecord]]) -> list[Finding]:
    """Standing claims in plan order, from 1; what is said twice with the same quotes is one."""
    seen: set[tuple[str, tuple[tuple[int, int, int], ...]]] = set()
    found: list[Finding] = []
    for step, record in records:
        for claim in record.standing:
            places = tuple(sorted((q.evidence, q.start, q.end) for q in claim.quotes))
            key = (query_key(claim.text), places)
            if key not in seen:
                seen.add(key)
                found.append(Finding(number=len(found) + 1, step=step, claim=claim))
    return found


def candidates_of(
    index: int,
    topic: ResolvedTopic,
    findings: Sequence[Finding],
    declaring: Mapping[int, Sequence[int]],
    shares: Callable[[Finding, int], float],
) -> TopicCandidates:
    """Findings that may answer a topic.

    Args:
        index: of the topic.
        topic: with the names that a covering passage must hold.
        findings: of the run.
        declaring: evidence number to indexes of topics that the source declares itself.
        shares: share (0..1) of a topic's rarity that the cited passages of a finding hold.
    """
    declared = [
        finding.number
        for finding in findings
        if finding.claim.outcome == "supported"
        and any(index in declaring.get(number, ()) for number in finding.claim.numbers)
    ]
    named = [
        finding.number
        for finding in findings
        if finding.number in declared or may_answer(topic, finding, shares(finding, index))
    ]
    return TopicCandidates(topic=index, findings=named, declared=declared)


def may_answer(topic: ResolvedTopic, finding: Finding, share: float) -> bool:
    """Whether cited passages hold every name of a topic; without names, enough of its words.

    Across languages identifiers only: words cannot be compared there.
    """
    claim = finding.claim
    passages = " ".join([claim.text, *(quote.text for quote in claim.quotes), *claim.context])
    across = language_of(topic.question) != language_of(passages)
    names = [name for name in topic.names if not across or _IDENTIFIER.search(name)]
    if names:
        return all(_holds(passages, name) for name in names)
    return across or share >= TOPIC_COVER


def _holds(passages: str, name: str) -> bool:
    folded, wanted = query_key(passages), query_key(name)
    bare = _MARKS.sub("", wanted)
    return wanted in folded or (bool(bare) and bare in _MARKS.sub("", folded))


def groups_to_compare(
    candidates: Sequence[TopicCandidates], findings: Sequence[Finding]
) -> list[list[int]]:
    """Findings of one topic that speak of the same and differ in value, date or polarity."""
    said = {finding.number: _Said.of(finding.claim) for finding in findings}
    groups: list[list[int]] = []
    for candidate in candidates:
        group: list[int] = []
        for place, one in enumerate(candidate.findings):
            for other in candidate.findings[place + 1 :]:
                if said[one].may_differ(said[other]):
                    group += [one, other]
        group = list(dict.fromkeys(group))[:_GROUP]
        if group and group not in groups:
            groups.append(group)
    return groups[:_GROUPS]


def may_differ(one: CheckedClaim, other: CheckedClaim) -> bool:
    """Whether two claims share most words and differ in a quantity or in saying no."""
    return _Said.of(one).may_differ(_Said.of(other))


@dataclass(frozen=True)
class _Said:
    """What a claim is compared by."""

    words: frozenset[str]
    values: frozenset[tuple[Decimal, str]]
    denies: bool

    @classmethod
    def of(cls, claim: CheckedClaim) -> "_Said":
        return cls(
            words=frozenset(_words(claim.text)),
            values=frozenset((q.value, q.unit) for q in quantities(claim.text)),
            denies=negations(claim.text) % 2 == 1,
        )

    def may_differ(self, other: "_Said") -> bool:
        shared = len(self.words & other.words)
        if shared < _LIKE * max(1, min(len(self.words), len(other.words))):
            return False
        differ = bool(self.values) and bool(other.values) and self.values != other.values
        return differ or self.denies != other.denies


def _words(text: str) -> set[str]:
    return {word for word in query_tokens(text) if not any(c.isdigit() for c in word)}
