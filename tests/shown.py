"""Lines that a test wants printed at the end of the run: counts and sizes it has shown."""

LINES: list[str] = []


def show(line: str) -> None:
    """Print a line in the summary of the run."""
    LINES.append(line)
