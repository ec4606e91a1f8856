"""Index pages: numbers are unique and grow, whatever searches bring and however pages fill."""

from hypothesis import given
from hypothesis import strategies as st

from workflows.contracts.evidence import PAGE_ENTRIES, Entry, Page
from workflows.logic.pages import appended, new_sources, numbered

# Each search: how many passages each of its new sources has (none: an empty result).
SEARCHES = st.lists(st.lists(st.integers(1, 3), max_size=4), max_size=60)


def found(passages: list[int], search: int) -> list[Entry]:
    if not passages:
        return [Entry(kind="empty", query=f"q{search}")]
    return [
        Entry(fresh=fresh, source_id=f"s{search}-{fresh}", start=i, end=i + 1, query=f"q{search}")
        for fresh, count in enumerate(passages)
        for i in range(count)
    ]


@given(SEARCHES)
def test_numbers_grow_over_linked_pages(searches: list[list[int]]) -> None:
    store: dict[str, Page] = {}
    page, first, count = Page(), 1, 0
    for search, passages in enumerate(searches):
        page = numbered(page, first)
        first = count + 1  # what the workflow gives the new sources of this search
        ref = f"sha256:{len(store):064x}"
        store[ref] = page
        entries = found(passages, search)
        count += new_sources(entries)
        page = appended(page, ref, entries)
        assert len(page.entries) <= PAGE_ENTRIES
    page = numbered(page, first)
    chain = [page]
    while page.previous is not None:
        page = store[page.previous]
        chain.append(page)
    every = [entry for page in reversed(chain) for entry in page.entries]
    assert len(every) == sum(max(1, sum(passages)) for passages in searches)
    numbers = [entry.number for entry in every]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, count + 1))
    by_number: dict[int, set[str]] = {}
    for entry in every:
        by_number.setdefault(entry.number, set()).add(f"{entry.query} {entry.source_id}")
    assert all(len(sources) == 1 for sources in by_number.values())
    assert chain[0].count == len(every) - len(chain[0].entries)
