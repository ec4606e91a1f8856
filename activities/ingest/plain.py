"""Text that is no prose: logs, tables (CSV, TSV), JSON and JSON lines.

Kept as it is written, so that quotes are verbatim, but for what no reader means: colours of a
terminal, and characters that JSON writes as escapes.
"""

import csv
import re
import unicodedata
from dataclasses import replace
from typing import Final

from activities.ingest.document import Extracted, Heading
from activities.ingest.markdown import read_text

# Rows beyond say little more in a search, and bury everything else.
MOST_CHARACTERS: Final = 5_000_000

_COLOURS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|\x1b")
# Bells and the like, which stand in a log for nothing that is read.
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[0-9a-fA-F]{4})+)")
# A pair of units that are one character, or one unit.
_UNITS = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....")
_NUMBER = re.compile(r"[-+]?[\d.,\s]*%?")
_TITLE_CHARACTERS = 200


def read_log(text: str) -> Extracted:
    """Plain text; escape sequences of terminals and other control characters go."""
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    return read_text(_CONTROLS.sub("", text))


def read_table(text: str, delimiter: str) -> Extracted:
    """A table as its lines; the names of its columns are the heading of every passage."""
    kept, problem = _capped(text)
    headings = [Heading(0, 1, names)] if (names := _columns(kept, delimiter)) else []
    return Extracted(text=kept, headings=headings, problem=problem)


def read_json(text: str) -> Extracted:
    """JSON or JSON lines as written; letters that are escaped are written out."""
    kept, problem = _capped(text)
    if "\\u" in kept:
        kept = _ESCAPE.sub(_letters, kept)
    return replace(read_log(kept), title="", headings=[], problem=problem)


def _capped(text: str) -> tuple[str, str]:
    if len(text) <= MOST_CHARACTERS:
        return text, ""
    end = text.rfind("\n", 0, MOST_CHARACTERS) + 1 or MOST_CHARACTERS
    rows = text.count("\n", end)
    return text[:end], f"only the first {end:,} characters are indexed; {rows:,} lines are not"


def _columns(text: str, delimiter: str) -> str:
    """The names of the columns, "" where the first line holds none."""
    line = text.lstrip("\n").split("\n", 1)[0][:10_000]
    found: list[str] = []
    for candidate in dict.fromkeys((delimiter, ";", "\t", "|")):
        cells = next(iter(csv.reader([line], delimiter=candidate)), list[str]())
        if len(cells) > len(found):
            found = cells
    names = [" ".join(cell.split()) for cell in found]
    if len(names) == 1 or any(_NUMBER.fullmatch(name) for name in names):
        return ""
    return ", ".join(names)[:_TITLE_CHARACTERS]


def _letters(match: re.Match[str]) -> str:
    """A run of JSON's escapes, each written out if it is a letter or a sign of a text."""
    return match[1] + _UNITS.sub(_letter, match[2])


def _letter(match: re.Match[str]) -> str:
    try:
        letter = bytes.fromhex(match[0].replace("\\u", "")).decode("utf-16-be")
    except UnicodeDecodeError:  # half of a character
        return match[0]
    # Blanks of other widths, as U+3000, are printed in a text although Python calls them not so.
    written = letter.isprintable() or unicodedata.category(letter) == "Zs"
    return letter if written and letter not in '"\\' else match[0]
