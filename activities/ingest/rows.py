"""A chunk as a row of the index: its range, its headings, its tokens."""

import json
from typing import Final

from activities.ingest.document import Chunk
from activities.ingest.stems import stems
from workflows.logic.tokens import tokens

PAGE: Final = "p. "
# start, end, headings (JSON), share of links, tokens of body, of head, stems of both
Row = tuple[int, int, str, float, str, str, str]


def head_tokens(title: str, path: str) -> list[str]:
    """What every passage of a document is found by: its title and its path."""
    return tokens(f"{title}\n{path}")


def row_of(chunk: Chunk, body: list[str], head: list[str]) -> Row:
    """A chunk as a row, from the tokens of its text and of its document's head."""
    said = [heading for heading in chunk.headings if not is_page(heading)]
    words = list(dict.fromkeys([*head, *tokens("\n".join(said))]))
    return (
        chunk.start,
        chunk.end,
        json.dumps(chunk.headings, ensure_ascii=False),
        chunk.links,
        " ".join(body),
        " ".join(words),
        " ".join(stems([*body, *words])),
    )


def is_page(heading: str) -> bool:
    """Whether a heading is the number of a page: a place, not a word of the text."""
    return heading.startswith(PAGE)
