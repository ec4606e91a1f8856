"""A chunk as a row of the index: its range, its headings, its tokens."""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache

from activities.ingest.document import Chunk, is_page
from activities.ingest.stems import stems
from workflows.logic.tokens import tokens

# start, end, start of the next chunk, headings (JSON), share of links; tokens of body, of head,
# stems of both
Row = tuple[int, int, int, str, float, str, str, str]


def head_tokens(title: str, path: str) -> list[str]:
    """What every passage of a document is found by: its title and its path."""
    return tokens(f"{title}\n{path}")


def row_of(chunk: Chunk, passage: str, following: int, head: list[str]) -> tuple[Row, list[str]]:
    """A chunk as a row, and the tokens of its body.

    Args:
        chunk: the chunk.
        passage: its text.
        following: where the next chunk starts: its row holds the text up to there, so that
            neighbours can be joined.
        head: tokens of the document's head.
    """
    body = tokens(passage)
    headings, said = _headings(chunk.headings)
    words = list(dict.fromkeys([*head, *said]))
    row = (
        chunk.start,
        chunk.end,
        following,
        headings,
        chunk.links,
        " ".join(body),
        " ".join(words),
        " ".join(stems([*body, *words])),
    )
    return row, body


@lru_cache(maxsize=256)
def _headings(path: tuple[str, ...]) -> tuple[str, list[str]]:
    """Headings as JSON, and their tokens; chunks of one section share them."""
    said = [heading for heading in path if not is_page(heading)]
    return json.dumps(path, ensure_ascii=False), tokens("\n".join(said))


def with_following(chunks: Sequence[Chunk], length: int) -> Iterator[tuple[Chunk, int]]:
    """Each chunk of a text of some length with the start of the next one."""
    starts = [chunk.start for chunk in chunks]
    return zip(chunks, [*starts[1:], length], strict=True)
