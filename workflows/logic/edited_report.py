"""A report that a person edited: checked again, and marked where the evidence does not carry it.

A sentence of the original stays as it is, wherever it is put. A new one stands unmarked only if it
is a whole sentence of the source it cites; all else is "by <name>, not verified" (DESIGN,
"People"). Marks and links that are not in the evidence are taken out.
"""

import re
from typing import Final

from workflows.logic.citations import citations, normalised, without_marks
from workflows.logic.fold import fold
from workflows.logic.headings import Words, words_for
from workflows.logic.quotes import find_quote
from workflows.logic.report_sources import Closing, Composed
from workflows.logic.safe_markdown import escape, visible
from workflows.logic.sentences import sentences

_SPLIT: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_ENDS: Final = (".", "!", "?", "。", "！", "？")
_WORDS: Final = re.compile(r"\w")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s")
_ROW: Final = re.compile(r"\s*\|.*\|\s*$")
_MARK: Final = re.compile(r"\[E(\d+)\]")
_LINK: Final = re.compile(
    r"!?\[([^\]]*)\]\((\S*?)\)|<(https?://[^>\s]+)>|(?<![(<\w])(https?://\S+)"
)
_DECORATION: Final = re.compile(r"[*_`>|#\-\\]+")


def edited_report(closing: Closing, composed: Composed, *, edited: str, editor: str) -> str:
    """The edited text with its marks, and a line on top that says whose it is.

    Args:
        closing: stored texts and entries, to look for quotes in.
        composed: the report as code composed it, and its sources.
        edited: the text a person put in its place.
        editor: who that was.
    """
    check = _Check(closing, composed, editor)
    lines = [check.line(line) for line in visible(edited).splitlines()]
    remark = check.words("edited_report", by=escape(editor))
    return "\n".join([*_with_remark(lines, remark), ""])


def _with_remark(lines: list[str], remark: str) -> list[str]:
    """The remark behind the title, or on top where there is none."""
    if lines and _HEADING.match(lines[0]):
        return [lines[0], "", f"*{remark}*", *lines[1:]]
    return [f"*{remark}*", "", *lines]


class _Check:
    """One report's sentences and sources."""

    def __init__(self, closing: Closing, composed: Composed, editor: str) -> None:
        self.words: Words = words_for(closing.language)
        self._label = " " + self.words("edited_by", by=escape(editor))
        self._numbers = {s.number for s in composed.sources if not s.empty}
        self._origins = {source.origin for source in composed.sources}
        hashes = {entry.number: entry.sha256 for entry in closing.entries}
        self._texts = {
            number: closing.texts[sha] for number, sha in hashes.items() if sha in closing.texts
        }
        original = composed.report.splitlines()
        self._lines = {line.strip() for line in original}
        self._known = {_bare(s) for line in original for s in (line, *_SPLIT.split(line))}

    def line(self, line: str) -> str:
        """One line, cleaned and marked where it has to be."""
        if not line.strip() or line.strip() in self._lines:
            return line
        clean = self._without_foreign(line)
        if not _WORDS.search(_DECORATION.sub("", clean)) or self._carried(clean):
            return clean
        if _ROW.match(clean):
            end = clean.rstrip().removesuffix("|").rstrip()
            return f"{end}{self._label} |"
        return clean.rstrip() + self._label

    def _without_foreign(self, line: str) -> str:
        """Without marks and links that are not in the evidence."""

        def link(match: re.Match[str]) -> str:
            target = match[2] or match[3] or (match[4] or "").rstrip(".,;:!?)")
            known = target in self._origins and not match[0].startswith("!")
            return match[0] if known else (match[1] or self.words("link_removed"))

        def mark(match: re.Match[str]) -> str:
            return match[0] if int(match[1]) in self._numbers else ""

        return _MARK.sub(mark, normalised(_LINK.sub(link, line)))

    def _carried(self, line: str) -> bool:
        """Whether every sentence is the original's, or a quote of what it cites."""
        parts = [part for part in _SPLIT.split(line) if _WORDS.search(_bare(part))]
        return all(_bare(part) in self._known or self._quoted(part, line) for part in parts)

    def _quoted(self, sentence: str, line: str) -> bool:
        bare = _DECORATION.sub("", without_marks(sentence)).strip()
        return any(
            number in self._texts and _is_sentence(self._texts[number], bare)
            for number in citations(line)
        )


def _is_sentence(text: str, quote: str) -> bool:
    """Whether a quote is a whole sentence of a text: a part of one can lose its "not"."""
    found = find_quote(text, quote)
    if found is None:
        return False
    start, end = found
    return any(
        sentence.start <= start
        and end <= sentence.end
        and _begins(text[sentence.start : start])
        and _ends(text[start:end], text[end : sentence.end])
        for sentence in sentences(text)
    )


def _begins(before: str) -> bool:
    """Whether a sentence may begin behind this part of its block."""
    return not _WORDS.search(before) or before.rstrip().endswith(_ENDS)


def _ends(quote: str, after: str) -> bool:
    """Whether the quote ends where a sentence does."""
    ended = quote.rstrip().endswith(_ENDS) or after.lstrip().startswith(_ENDS)
    return ended or not _WORDS.search(after)


def _bare(text: str) -> str:
    """What is compared: the words, without marks and Markdown, folded."""
    return fold(_DECORATION.sub("", without_marks(text)).strip()).text
