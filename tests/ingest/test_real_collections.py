"""Real collections of Debian: a thousand files of HTML, PDF beside HTML of the same book, Chinese.

How it can go wrong: words of a page are lost or run together; a format is read worse than another
one of the same text; a page ends up empty without a status.
"""

import gzip
import html.parser
import io
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from activities.ingest.catalogue import file_statuses
from activities.ingest.database import collection_path
from activities.ingest.html import read_html
from activities.ingest.index import index_folder
from activities.ingest.pdf import read_pdf
from tests.search.debian import POLICY, needed
from tests.shown import show

pytestmark = pytest.mark.debian

POSTGRESQL = Path("/usr/share/doc/postgresql-doc-15/html")
_WORD = re.compile(r"[^\W\d_]{3,}")


class _Words(html.parser.HTMLParser):
    """Words of a page by another parser: everything but scripts, styles and the head."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self._skipped += tag in {"script", "style", "head"}

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in {"script", "style", "head"}

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.words += _WORD.findall(data.casefold())


def words_of(page: str) -> list[str]:
    parser = _Words()
    parser.feed(page)
    return parser.words


def test_a_thousand_pages(tmp_path: Path) -> None:
    folder = needed(POSTGRESQL, "postgresql-doc-15")
    result = index_folder(tmp_path, "pg", str(folder), [folder], lambda _: None)
    assert result.files["indexed"] > 1000
    assert set(result.files) <= {"indexed", "unsupported"}, result.problems
    with closing(sqlite3.connect(collection_path(tmp_path, "pg"))) as db:
        texts = dict(db.execute("SELECT path, text FROM documents"))
        untitled = db.execute("SELECT count(*) FROM documents WHERE title = ''").fetchone()[0]
    assert untitled == 0
    kept = total = 0
    for path in sorted(texts)[::9]:
        # Another parser sees the navigation too; what it sees in the body must be in the text.
        page = (folder / path).read_text("utf-8")
        body = page[page.find('<div class="titlepage">') : page.rfind('<div class="navfooter"')]
        found = set(_WORD.findall(texts[path].casefold()))
        words = words_of(body)
        kept += sum(word in found for word in words)
        total += len(words)
    show(f"words of postgresql-doc-15 kept: {kept} of {total}")
    assert kept >= 0.995 * total


def test_a_book_as_pdf_says_what_it_says_as_html() -> None:
    needed(POLICY, "debian-policy")
    (file,) = POLICY.glob("policy.pdf.gz")
    found = read_pdf(io.BytesIO(gzip.decompress(file.read_bytes())))
    assert found.problem == ""
    pages = [h for h in found.headings if h.title.startswith("p. ")]
    assert len({h.title for h in pages}) > 150
    outline = {h.title for h in found.headings} - {h.title for h in pages}
    assert {"Priorities", "Maintainer Scripts"} <= outline
    book = sorted((POLICY / "policy.html").glob("ch-*.html"))
    assert len(book) > 10
    words = [
        word
        for page in book
        for word in _WORD.findall(read_html(page.read_text("utf-8")).text.casefold())
    ]
    printed = set(_WORD.findall(found.text.casefold()))
    kept = sum(word in printed for word in words)
    show(f"words of debian-policy found in its PDF: {kept} of {len(words)}")
    assert kept >= 0.98 * len(words)


def test_statuses_of_a_mixed_folder(tmp_path: Path) -> None:
    folder = needed(POLICY, "debian-policy")
    index_folder(tmp_path, "policy", str(folder), [folder], lambda _: None)
    found = {file.path: file for file in file_statuses(tmp_path, "policy")}
    assert found["policy.pdf.gz"].status == "indexed"
    assert found["policy.epub"].reason == "EPUB book: not a format that is read"
    assert all(file.reason for file in found.values() if file.status != "indexed")
