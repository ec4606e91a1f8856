"""Tokens: what an index holds is what a query asks for.

How it can go wrong: query syntax leaks through; full-width forms or one Chinese character are not
found; an identifier hides its parts; a token that SQLite would split.
"""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.logic.tokens import TOKEN_CHARACTERS, query_tokens, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Save the Memory", ["save", "the", "memory"]),
        ("max_retries", ["max_retries", "max", "retries"]),
        ("copy-on-write", ["copy-on-write", "copy", "on", "write"]),
        ("asyncio.TaskGroup", ["asyncio.taskgroup", "asyncio", "taskgroup", "task", "group"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("__init__", ["__init__", "init"]),
        ("/etc/fstab", ["etc/fstab", "etc", "fstab"]),
        ("C++ and C#", ["c++", "c", "and", "c#", "c"]),
        ("Ubuntu 20.04.", ["ubuntu", "20.04", "20", "04"]),
        ("Python’s don't", ["python", "don"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("ＡＢＣ１２３", ["abc123", "abc", "123"]),
        ("straße", ["strasse"]),
        ("雨", ["雨"]),
        ("部署方案", ["部署", "署方", "方案", "部", "署", "方", "案"]),
        ("重跑gen-itgc后", ["重跑", "重", "跑", "gen-itgc", "gen", "itgc", "后"]),
        ("价格㎏计", ["价格", "价", "格", "kg", "计"]),
        ("配置\n文件", ["配置", "置文", "文件", "配", "置", "文", "件"]),
        ("ｶﾞｲﾄﾞ", ["ガイ", "イド", "ガ", "イ", "ド"]),
        ('( * -x " 😀 \0 {t}:a', ["x", "t", "a"]),
        (" \n\u3000", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("雨", ["雨"]),
        ("部署", ["部署"]),
        ("部署方案", ["部署", "署方", "方案"]),
        ("the task of the TaskGroup", ["the", "task", "of", "taskgroup", "group"]),
        ("(((", []),
    ],
)
def test_query_tokens(query: str, expected: list[str]) -> None:
    assert query_tokens(query) == expected


def test_a_blob_is_one_token() -> None:
    assert tokens("e3b0c44298fc1c149afbf4c8996fb924") == ["e3b0c44298fc1c149afbf4c8996fb924"]


@given(st.text(max_size=200))
def test_queries_ask_for_indexed_tokens(text: str) -> None:
    indexed = set(tokens(text))
    assert set(query_tokens(text)) <= indexed
    assert all(not any(c.isspace() or c in "\"*()^{}'" for c in token) for token in indexed)


@given(st.text(max_size=120))
def test_sqlite_keeps_each_token_whole(text: str) -> None:
    words = list(dict.fromkeys(tokens(text)))
    with closing(sqlite3.connect(":memory:")) as db:
        tokenizer = f"ascii tokenchars '{TOKEN_CHARACTERS}'"
        db.execute(f'CREATE VIRTUAL TABLE ft USING fts5(b, tokenize = "{tokenizer}")')
        db.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(ft, 'row')")
        db.execute("INSERT INTO ft VALUES (?)", (" ".join(words),))
        stored = {term for (term,) in db.execute("SELECT term FROM terms")}
        assert stored == set(words)
        for word in words:
            found = db.execute("SELECT count(*) FROM ft WHERE ft MATCH ?", (f'"{word}"',))
            assert found.fetchone() == (1,)
