"""Fixtures and reporting that every test shares.

Tests may run in several processes: what is counted and shown travels with their reports.
"""

from collections.abc import Generator

import pytest

from tests.case_files import FILE, Tally
from tests.shown import LINES

_SHOWN = "shown"
_TALLY = Tally()
_LINES: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the case file of a test, and what it has shown, along with its report."""
    report = yield
    added = [(_SHOWN, line) for line in LINES]
    LINES.clear()
    mark = item.get_closest_marker("cases")
    if mark is not None:
        added.append((FILE, str(mark.args[0]) if mark.args else "other case files"))
    report.user_properties = [*report.user_properties, *added]
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count tests over case files."""
    _TALLY.add(report)
    _LINES.extend(str(value) for key, value in report.user_properties if key == _SHOWN)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print passed, departed and failed per case file, and what tests have shown."""
    for title, lines in (("case files", _TALLY.lines()), ("shown", _LINES)):
        if lines:
            terminalreporter.section(title)
        for line in lines:
            terminalreporter.write_line(line)
