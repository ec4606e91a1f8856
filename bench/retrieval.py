"""Recall of the search on questions with known answers, and what each rule of retrieval brings.

    uv run python -m bench.retrieval            English and Chinese
    uv run python -m bench.retrieval en --misses

English: Debian's postgresql-doc-15 and python3-doc; Chinese: manpages-zh (rendered by `man -Tutf8`)
and libreoffice-help-zh-cn. A question is found when one of the five passages holds the answer
(`answer`), or is of a document that does (`document`). The questions are in questions.*.jsonl:
those called tuned were looked at while the rules were made, those held out were written by others
who had not seen the search.
"""

import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from activities.ingest.index import index_folder
from activities.search.backend import Found
from activities.search.choice import Rules
from activities.search.corpus import CorpusBackend
from activities.search.meaning import Meaning, is_installed
from bench.search import task_of
from workflows.logic.terms import content_query

_HERE: Final = Path(__file__).parent
_FOLDERS: Final = {
    "postgresql": Path("/usr/share/doc/postgresql-doc-15/html"),
    "python": Path("/usr/share/doc/python3-doc/html"),
    "libreoffice": Path("/usr/share/libreoffice/help/zh-CN"),
    "handbook": Path("/usr/share/doc/debian-handbook/html/zh-CN"),
}
_MAN: Final = Path("/usr/share/man/zh_CN")
_MAN_SECONDS: Final = 20
_ALL: Final = Rules()
_VARIANTS: Final = {
    "all rules": _ALL,
    "without headings, title and path": replace(_ALL, heads=False),
    "without merging neighbours": replace(_ALL, merge=False),
    "any number of passages of a document": replace(_ALL, of_a_document=5),
    "copies as they come": replace(_ALL, copies=False),
    "without stems": replace(_ALL, stems=False),
    "none of the rules": Rules(
        heads=False, merge=False, of_a_document=5, copies=False, stems=False
    ),
}


@dataclass(frozen=True)
class Question:
    """A question, the documents that answer it, and words of the answer."""

    id: str
    collection: str
    question: str
    sources: frozenset[str]
    answer: str
    cross: bool
    set: str


def _questions(language: str) -> list[Question]:
    lines = (_HERE / f"questions.{language}.jsonl").read_text("utf-8").splitlines()
    return [_question(json.loads(line)) for line in lines if line.strip()]


def _question(record: dict[str, Any]) -> Question:
    name = record["collection"]
    paths = [record["path"], *record.get("also", [])]
    return Question(
        id=record["id"],
        collection=name,
        question=record["question"],
        sources=frozenset(f"{name}:{path}" for path in paths),
        answer=_squeezed(record["answer"]),
        cross=bool(record.get("cross")),
        set=record["set"],
    )


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _rendered(target: Path) -> Path:
    """The Chinese manual pages as text."""

    def render(page: Path) -> None:
        out = target / page.parent.name / page.name.removesuffix(".gz")
        out.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run(
                ["man", "-Tutf8", "-l", str(page)],
                env={"MANWIDTH": "100", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
                capture_output=True,
                check=False,
                timeout=_MAN_SECONDS,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:  # one page keeps groff busy for minutes
            return
        out.write_bytes(done.stdout)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(render, sorted(_MAN.glob("man*/*.gz"))))
    return target


def _indexed(home: Path, names: set[str]) -> None:
    for name in sorted(names):
        folder = _rendered(home / "man") if name == "man" else _FOLDERS[name].resolve()
        if not folder.is_dir():
            sys.exit(f"{folder} is not there: see the packages in the description of this bench")
        result = index_folder(home, name, str(folder), [folder], lambda _: None)
        print(f"  {name}: {result.files}, {result.chunks} chunks")


def _found(backend: CorpusBackend, question: Question, names: list[str]) -> tuple[bool, bool]:
    """Whether the answer's document is among the five passages, and the answer itself."""
    task = task_of(question.question, names)
    found: Found = asyncio.run(backend.search(content_query(question.question), task))
    right = [p for p in found.passages if p.source_id in question.sources]
    said = False
    for passage in right:
        text = asyncio.run(backend.text(passage))[passage.start : passage.end]
        said = said or question.answer in _squeezed(text)
    return bool(right), said


def _line(name: str, hits: list[tuple[bool, bool]], milliseconds: float) -> str:
    documents, answers = (sum(hit[i] for hit in hits) for i in (0, 1))
    total = len(hits)
    return (
        f"  {name:<38} document {documents:>2}/{total} ({documents / total:.2f})"
        f"  answer {answers:>2}/{total} ({answers / total:.2f})  p50 {milliseconds:.1f} ms"
    )


def _measure(home: Path, questions: list[Question], *, misses: bool) -> None:
    names = sorted({question.collection for question in questions})
    variants: dict[str, tuple[Rules, Meaning | None]] = {
        name: (rules, None) for name, rules in _VARIANTS.items()
    }
    if is_installed():
        variants["all rules and the extra `semantic`"] = (_ALL, Meaning())
    for name, (rules, meaning) in variants.items():
        backend = CorpusBackend(home, rules, meaning)
        hits: list[tuple[bool, bool]] = []
        times: list[float] = []
        for question in questions:
            started = time.perf_counter()
            hits.append(_found(backend, question, names))
            times.append((time.perf_counter() - started) * 1000)
        print(_line(name, hits, statistics.median(times)))
        if misses and name in {"all rules", "all rules and the extra `semantic`"}:
            lost = [q for q, hit in zip(questions, hits, strict=True) if not hit[1]]
            print("\n".join(f"      {q.id} {q.question}" for q in lost))


def main() -> None:
    """Index the collections into a temporary state directory and ask every question."""
    languages = [arg for arg in sys.argv[1:] if not arg.startswith("-")] or ["en", "zh"]
    misses = "--misses" in sys.argv
    home = Path(tempfile.mkdtemp())
    try:
        for language in languages:
            questions = _questions(language)
            _indexed(home, {question.collection for question in questions})
            for name in ("tuned", "held out"):
                some = [question for question in questions if question.set == name]
                own = [question for question in some if not question.cross]
                print(f"{language}, {name}: {len(own)} questions")
                _measure(home, own, misses=misses)
                if cross := [question for question in some if question.cross]:
                    print(f"{language}, {name}: {len(cross)} questions about English documents")
                    _measure(home, cross, misses=misses)
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
