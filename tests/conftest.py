"""Fixtures and reporting that every test shares."""

from collections.abc import Generator

import pytest

from tests.case_files import Tally
from tests.shown import LINES

_TALLY = Tally()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Count tests over case files."""
    report = yield
    _TALLY.add(item, report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print passed, departed and failed per case file, and what tests have shown."""
    for title, lines in (("case files", _TALLY.lines()), ("shown", LINES)):
        if lines:
            terminalreporter.section(title)
        for line in lines:
            terminalreporter.write_line(line)
