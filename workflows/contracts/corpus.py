"""IndexCorpus: its input, its result and the statuses of files (INTERFACE, "IndexCorpus")."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from workflows.contracts.base import Name, NonNegative, Strict, Wire

FileStatus = Literal[
    "indexed", "partial", "empty", "scanned", "encrypted", "corrupt", "too_large", "binary",
    "unsupported", "outside_root", "loop", "unreadable",
]  # fmt: skip
PROBLEMS_SHOWN = 100


class IndexTask(Strict):
    """Input of IndexCorpus: a collection's name and a path on the worker, under an allowed root."""

    name: Name
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class FileProblem(Wire):
    """A file that was not fully indexed, with its status and the reason."""

    path: str
    status: FileStatus
    reason: str


class IndexResult(Wire):
    """Result of IndexCorpus; `problems` are the first 100."""

    name: str
    version: NonNegative
    chunks: NonNegative
    files: dict[str, int]
    problems: list[FileProblem] = []


class IndexProgress(Wire):
    """Heartbeat of the indexer: counts of files, the last with its path."""

    done: NonNegative = 0
    total: NonNegative = 0
    path: str = ""
