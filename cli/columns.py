"""Plain tables that a shell can cut and a person can read."""

from collections.abc import Sequence

from cli.plain import line

_GAP = "  "


def columns(rows: Sequence[Sequence[object]]) -> str:
    """Rows as aligned columns; the last one is not padded, so long texts belong there."""
    cells = [[line(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return "\n".join(
        _GAP.join(
            [*(c.ljust(w) for c, w in zip(row[:-1], widths[:-1], strict=True)), row[-1]]
        ).rstrip()
        for row in cells
    )
