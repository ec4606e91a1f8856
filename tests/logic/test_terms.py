"""Terms of a question: language, content words, names, query key."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import load
from workflows.logic.terms import content_query, language_of, names_of, query_key

CASES = "control_flow_cases.json"


@pytest.mark.cases(CASES)
@pytest.mark.parametrize("pair", load(CASES)["query_key_pairs"])
def test_query_keys_of_the_cases(pair: dict[str, Any]) -> None:
    assert query_key(pair["a"]) == pair["key_a"]
    assert query_key(pair["b"]) == pair["key_b"]
    assert (query_key(pair["a"]) == query_key(pair["b"])) is pair["same_key"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How does the agent loop end?", "en"),
        ("agent_loop", "en"),
        ("智能体循环如何结束？", "zh"),
        ("如何配置 systemd service unit 文件", "zh"),
        ("What does 写时复制 mean?", "en"),
        ("ライブラリのインストール方法", "ja"),
        ("파이썬 설치 방법", "ko"),
        ("", "en"),
        ("42", "en"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (
            "Which in-kernel features save memory, and how is each enabled?",
            "in-kernel features save memory enabled",
        ),
        (
            "How does asyncio.TaskGroup handle cancellation?",
            "asyncio.TaskGroup handle cancellation",
        ),
        ("什么是 systemd 的单元文件？", "systemd 单元文件"),
        ("Debian 软件包的依赖关系有哪些？", "Debian 软件包 依赖关系"),
        ("这个项目的目的是什么", "项目 目的"),
        ("agent_loop", "agent_loop"),
        ("What is it?", "What is it?"),
        ("是什么", "是什么"),
    ],
)
def test_content_query(text: str, query: str) -> None:
    assert content_query(text) == query


def test_a_long_question_keeps_its_names() -> None:
    text = "ordinary words " * 12 + "about the flag TASK_LIMIT of Debian"
    query = content_query(text)
    assert len(query) <= 80
    assert "TASK_LIMIT" in query
    assert "Debian" in query


@given(st.text(min_size=1, max_size=300).filter(lambda text: bool(text.strip())))
def test_a_query_is_short_and_never_blank(text: str) -> None:
    query = content_query(text)
    assert query.strip()
    assert len(query) <= 80 or query == text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("How does asyncio.TaskGroup handle cancellation?", ["asyncio.TaskGroup"]),
        ("Which in-kernel features save memory?", []),
        ("a read-only, well-known end-to-end test", []),
        (
            "the purpose of update-alternatives and /etc/fstab",
            ["update-alternatives", "/etc/fstab"],
        ),
        ("How are Kubernetes pods scheduled on Debian 12.4?", ["Kubernetes", "Debian", "12.4"]),
        ("It takes 1.5 seconds and 10GB at the 3rd try in 2024", []),
        ("what does `copy on write` mean", ["copy on write"]),
        ("APIs for C++, IPv6 and iPhone", ["APIs", "C++", "IPv6", "iPhone"]),
        ("Docker Compose networking", ["Docker", "Compose"]),
        ("Memory Management In Modern Systems", []),
        ("HOW DO I CONFIGURE THE NETWORK INTERFACE", []),
        ("agent_loop", ["agent_loop"]),
        ("recovery", []),
        ("如何配置 systemd 服务", ["systemd"]),
        ("使用API接口", ["API"]),
        ("《红楼梦》的作者", ["红楼梦"]),
        ("写时复制是什么", []),
        ("Explain the 写时复制 technique", []),
        ("", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert names_of(text) == names
