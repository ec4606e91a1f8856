"""The cheap layers of verification: marker, structure, citations (REQUIREMENTS 82-84, 89; C6).

They use no model and stop at the first failure.
"""

import re
from collections.abc import Collection
from typing import Final

from workflows.contracts.verdict import Verdict
from workflows.logic.citations import citations, strict_citations

SHORTEST: Final = 20  # code points after trimming
STRUCTURE_SCORE: Final = 0.0
EVIDENCE_SCORE: Final = 0.2
INSUFFICIENT: Final = "insufficient"
_MARKER: Final = re.compile(r"^[ \t]*INSUFFICIENT[:：][ \t]*(.*)$", re.MULTILINE)
_REASON: Final = 300


def insufficient(text: str) -> str | None:
    """Why a text says that there is not enough; None if no line starts with the marker."""
    match = _MARKER.search(text)
    return None if match is None else match[1].strip()


def insufficient_verdict(why: str) -> Verdict:
    """A global failure: another plan may find what this one cannot."""
    reason = f"{INSUFFICIENT}: {why}"[:_REASON] if why else INSUFFICIENT
    return Verdict(passed=False, score=0.0, layer="goal", reason=reason, scope="global")


def structure(text: str, *, strict: bool = False) -> Verdict | None:
    """At least 20 characters and one citation, else a local failure; None if sound."""
    cited = strict_citations(text) if strict else citations(text)
    if len(text.strip()) < SHORTEST:
        return _local("structure", STRUCTURE_SCORE, "too_short")
    return None if cited else _local("structure", STRUCTURE_SCORE, "no_citation")


def evidence(text: str, known: Collection[int], *, strict: bool = False) -> Verdict | None:
    """Every cited number must be known, else a local failure; None if all are."""
    cited = strict_citations(text) if strict else citations(text)
    unknown = [f"E{number}" for number in cited if number not in known]
    return _local("evidence", EVIDENCE_SCORE, f"unknown:{','.join(unknown)}") if unknown else None


def first_layers(text: str, known: Collection[int], *, strict: bool = False) -> Verdict | None:
    """The first cheap layer that fails, None if a judge is to decide."""
    why = insufficient(text)
    if why is not None:
        return insufficient_verdict(why)
    return structure(text, strict=strict) or evidence(text, known, strict=strict)


def _local(layer: str, score: float, reason: str) -> Verdict:
    if layer == "structure":
        return Verdict(passed=False, score=score, layer="structure", reason=reason, scope="local")
    return Verdict(passed=False, score=score, layer="evidence", reason=reason, scope="local")
