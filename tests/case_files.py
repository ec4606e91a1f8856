"""Expected outcomes as data: where they lie, and how a departure from one is counted.

The directory comes from SUREFOOT_CASES (`tests/data/cases` by default). A departure is a
predicate over a case's content with its C-number (REQUIREMENTS, table of contradictions), never a
case id and never a skip: the test calls `departs`, and asserts what the resolution says instead.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

DEPARTURE = "departure"
FILE = "case file"


def cases_directory() -> Path:
    """Where the case files lie."""
    return Path(os.environ.get("SUREFOOT_CASES") or Path(__file__).parent / "data" / "cases")


def load(name: str) -> Any:
    """One case file."""
    return json.loads((cases_directory() / name).read_text("utf-8"))


def departs(request: pytest.FixtureRequest, number: str) -> None:
    """Count this test as a departure under a C-number."""
    request.node.user_properties.append((DEPARTURE, number))


class Tally:
    """Counts passed, departed and failed per case file, for the end of the run."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.numbers: dict[str, Counter[str]] = {}

    def add(self, report: pytest.TestReport) -> None:
        """Count one finished test that carries the mark `cases`; it may have run elsewhere."""
        properties = [(str(k), str(v)) for k, v in report.user_properties]
        name = next((value for key, value in properties if key == FILE), None)
        if name is None or (report.when != "call" and not report.failed) or report.skipped:
            return
        departures = [value for key, value in properties if key == DEPARTURE]
        outcome = "failed" if report.failed else "departed" if departures else "passed"
        self.counts.setdefault(name, Counter())[outcome] += 1
        if outcome == "departed":
            self.numbers.setdefault(name, Counter()).update(set(departures))

    def lines(self) -> list[str]:
        """One line a file."""
        return [
            f"{name}: {count['passed']} passed, {count['departed']} departed, "
            f"{count['failed']} failed"
            + (f" ({', '.join(sorted(self.numbers[name]))})" if name in self.numbers else "")
            for name, count in sorted(self.counts.items())
        ]
