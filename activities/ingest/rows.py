"""A chunk as a row of the index: its range, its headings, its tokens."""

import json
from collections.abc import Iterator, Sequence

from activities.ingest.document import Chunk, is_page
from activities.ingest.stems import stems
from workflows.logic.tokens import tokens

# start, end, headings (JSON), share of links, text up to the next chunk; tokens of body, of head,
# stems of both
Row = tuple[int, int, str, float, str, str, str, str]


def head_tokens(title: str, path: str) -> list[str]:
    """What every passage of a document is found by: its title and its path."""
    return tokens(f"{title}\n{path}")


def row_of(chunk: Chunk, text: str, head: list[str]) -> tuple[Row, list[str]]:
    """A chunk as a row, and the tokens of its body.

    Args:
        chunk: the chunk.
        text: from its start to the start of the next one, so that neighbours can be joined.
        head: tokens of the document's head.
    """
    body = tokens(text[: chunk.end - chunk.start])
    said = [heading for heading in chunk.headings if not is_page(heading)]
    words = list(dict.fromkeys([*head, *tokens("\n".join(said))]))
    row = (
        chunk.start,
        chunk.end,
        json.dumps(chunk.headings, ensure_ascii=False),
        chunk.links,
        text,
        " ".join(body),
        " ".join(words),
        " ".join(stems([*body, *words])),
    )
    return row, body


def with_texts(chunks: Sequence[Chunk], text: str) -> Iterator[tuple[Chunk, str]]:
    """Each chunk with the text from its start to the start of the next one."""
    starts = [chunk.start for chunk in chunks]
    for chunk, following in zip(chunks, [*starts[1:], len(text)], strict=True):
        yield chunk, text[chunk.start : following]
