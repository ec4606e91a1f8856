"""Fixed words of a report, English and Chinese: headings, statuses, stop reasons, sentences.

Another language gets English headings; quotes stay in the language of their source.
"""

from dataclasses import dataclass
from typing import Final

from workflows.contracts.result import Status, StopReason
from workflows.logic.headings_people import PEOPLE_EN, PEOPLE_ZH
from workflows.logic.headings_plan import PLAN_EN, PLAN_ZH
from workflows.logic.headings_zh import STATUSES_ZH, STOP_REASONS_ZH, TEXTS_ZH


@dataclass(frozen=True)
class Words:
    """The fixed texts of one language; `{...}` is filled in."""

    texts: dict[str, str]
    statuses: dict[Status, str]
    stop_reasons: dict[StopReason, str]

    def reason(self, text: str) -> str:
        """A failure's reason; the general ones, which code writes in English, in this language."""
        return self.stop_reasons[_GENERAL[text]] if text in _GENERAL else text

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key with its values."""
        return self.texts[key].format(**values)


TEXTS_EN: Final[dict[str, str]] = {
    "title": "Research report",
    "colon": ": ",
    "comma": ", ",
    "goal": "Goal",
    "status": "Status",
    "stop_reason": "Stop reason",
    "model": "Model",
    "unknown": "unknown",
    "extractive": "Matching passages; whether they answer was not judged.",
    "not_full": "This report is partial: it does not meet every requirement of its task.",
    "degraded": "This report is degraded: it is not fully verified.",
    "brief": "Answer in brief",
    "not_composed": "The report could not be composed; the state of the run holds what it found.",
    "no_evidence": "No evidence was found, so this report makes no claim.",
    "no_findings": "Sources were read, but none of them covers a required topic, so this report"
    " makes no claim.",
    "no_quotes": "Topics are covered, but no sentence could be quoted, so this report makes no"
    " claim.",
    "lost": "The stored evidence could not be read, so nothing can be quoted and this report makes"
    " no claim.",
    "topics": "Topics",
    "topic": "Topic",
    "answer": "Answer in a line",
    "confidence": "Confidence",
    "sources_column": "Sources",
    "newest": "Newest date",
    "declared": "covered (the source declares it)",
    "cover": "covered (matching passages, not judged)",
    "missing": "not covered",
    "high": "high",
    "medium": "medium",
    "low": "low",
    "undated": "undated",
    "findings": "Findings",
    "nothing_quoted": "Nothing to quote.",
    "characters": "characters {start}–{end}",
    "draft": "Unverified draft",
    "draft_note": "Written by the model. No claim in it was verified; the findings above are the"
    " checked quotes.",
    "removed": "Removed from the draft: {what}.",
    "removed_marks": "marks of evidence that does not exist or is empty ({marks})",
    "removed_links": "links that are not in the evidence ({count})",
    "removed_images": "images ({count})",
    "link_removed": "(link removed)",
    "image_removed": "(image removed)",
    "conflicts": "Conflicts between sources",
    "not_compared": "Not compared: contradictions are looked for in plans with a language model.",
    "gaps": "Not covered",
    "all_covered": "Every required topic is covered.",
    "queries": "Queries tried",
    "no_queries": "No query was tried.",
    "found": "passages: {count}",
    "nothing_found": "nothing found",
    "not_searched": "not searched: the run ended before",
    "search_failed": "the search failed",
    "note": "Note of the last search",
    "failures": "Failures",
    "no_failures": "None.",
    "step": "step",
    "last_error": "Last tool error",
    "why": "Why the run stopped",
    "limits": "Time range and limits",
    "run_time": "Run from {start} to {end}.",
    "source_dates": "Dates of the sources with evidence: {oldest} to {newest}.",
    "no_dates": "No source with evidence has a date.",
    "used": "Used: {calls} of {max_calls} model calls, {tools} of {max_tools} tool calls,"
    " {searches} searches, {seconds} of {max_seconds} seconds of active time.",
    "corpora": "Collections searched: {names}.",
    "meaning": "Coverage means that a source declares the topic or that a passage holds its words;"
    " it is no judgement of quality or truth.",
    "notes": "Notes of the run",
    "sources": "Sources",
    "no_sources": "None.",
    "cited": "cited",
    "read": "only read",
    "empty": "empty result of the query {query}",
    "dated": "date {date}",
    "retrieved": "retrieved {at}",
    "cut": "Cut here: the whole report lies in the evidence store under {ref}.",
    "cut_lost": "Cut here: the report is longer than a result may hold.",
    "result_cut": "The result was cut to its size limit: {evidence} uncited sources and {steps}"
    " steps left out.",
    "result_short": "The result was cut to its size limit: {what} shortened.",
    "texts_lost": "Texts of {count} sources could not be read from the evidence store; nothing is"
    " quoted from them.",
    "pages_lost": "The index of the evidence could not be read from the evidence store.",
    "not_stored": "The report could not be kept in the evidence store: {reason}",
}

STATUSES_EN: Final[dict[Status, str]] = {
    "succeeded": "succeeded",
    "partially_succeeded": "partially succeeded",
    "failed": "failed",
    "rejected": "rejected by a person",
    "expired": "expired while waiting for a person",
    "stopped": "stopped on request",
    "cancelled": "cancelled",
}

STOP_REASONS_EN: Final[dict[StopReason, str]] = {
    "completed": "every step was carried out",
    "model_finished": "the model finished by itself",
    "no_progress": "searches in a row brought nothing new",
    "model_budget": "every allowed model call was used",
    "tool_budget": "every allowed tool call was used",
    "token_budget": "every allowed token was used",
    "cost_budget": "the allowed cost was used up",
    "round_limit": "every allowed round was used",
    "replan_limit": "every allowed new plan was used",
    "step_failed": "a step failed",
    "timeout": "the run's active time was used up",
    "model_error": "the model could not be reached or reported an error",
    "protocol_error": "the model's reply could not be used",
    "verifier_error": "the verifier gave no verdict",
    "plan_invalid": "there was no valid plan",
    "plan_repeated": "the same plan came again",
    "permission": "a needed act is not permitted",
    "invalid_input": "the task names something that does not exist",
    "rejected": "a person rejected it",
    "expired": "nobody decided in time",
    "stopped": "someone asked the run to stop",
    "cancelled": "the run was cancelled",
    "unanswered": "a question was not answered",
    "internal_error": "the run could not go on",
}

_GENERAL: Final[dict[str, StopReason]] = {text: reason for reason, text in STOP_REASONS_EN.items()}
_EN: Final = Words(TEXTS_EN | PLAN_EN | PEOPLE_EN, STATUSES_EN, STOP_REASONS_EN)
_ZH: Final = Words(TEXTS_ZH | PLAN_ZH | PEOPLE_ZH, STATUSES_ZH, STOP_REASONS_ZH)


def words_for(language: str) -> Words:
    """The words of a language tag such as `en` or `zh-CN`."""
    return _ZH if language.split("-", 1)[0].lower() == "zh" else _EN
