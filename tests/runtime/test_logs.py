"""One formatter for both kinds of logger; no key and no local variable ever in a line."""

import io
import json
import logging
from collections.abc import Generator
from typing import Literal

import pytest
import structlog
from temporalio.testing import ActivityEnvironment

from runtime.logs import configure_logging

SECRET = 'geheim-密钥"x'
LOCAL = "a local variable"
Kind = Literal["console", "json"]


@pytest.fixture(autouse=True)
def _restored() -> Generator[None]:  # pyright: ignore[reportUnusedFunction]  # autouse
    """The other tests log as before."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


def _configured(kind: Kind, secrets: list[str] | None = None) -> io.StringIO:
    out = io.StringIO()
    configure_logging(kind, secrets=secrets or [], stream=out)
    return out


def test_both_kinds_of_logger_write_json_lines() -> None:
    out = _configured("json")
    structlog.get_logger("a").info("hello %s", "世界", n=1)
    logging.getLogger("b").warning("old %d", 2)
    ours, theirs = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (ours["event"], ours["n"], ours["level"], ours["logger"]) == (
        "hello 世界",
        1,
        "info",
        "a",
    )
    assert (theirs["event"], theirs["level"], theirs["logger"]) == ("old 2", "warning", "b")


@pytest.mark.parametrize("kind", ["console", "json"])
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"is {SECRET} it", "is *** it"),
        ("key sk-proj-abcdefgh123 end", "key *** end"),
        ("Authorization: Bearer abc.def-1 end", "Authorization: *** end"),
        ("authorization=Basic Zm9vOmJhcg== end", "authorization=*** end"),
        ("url?api_key=12345&x=1", "url?api_key=***&x=1"),
        ("X-Api-Key: 12345 end", "X-Api-Key: *** end"),
        ("the risk-free task is a desk-research", "the risk-free task is a desk-research"),
    ],
)
def test_keys_are_masked(kind: Kind, text: str, kept: str) -> None:
    out = _configured(kind, [SECRET])
    logging.getLogger("x").info(text)
    assert kept in out.getvalue()


def _refuse(_local: str) -> None:
    raise ValueError(f"refused: {SECRET}")


@pytest.mark.parametrize("kind", ["console", "json"])
def test_keys_are_masked_in_fields_and_tracebacks_and_locals_are_not_shown(kind: Kind) -> None:
    out = _configured(kind, [SECRET])
    log = structlog.get_logger("x")
    log.warning("headers", headers={"Authorization": "Bearer abc"}, key=SECRET)
    try:
        _refuse(LOCAL)
    except ValueError:
        log.exception("failed")
        logging.getLogger("y").exception("failed")
    assert LOCAL not in out.getvalue()
    for part in (SECRET, json.dumps(SECRET), "密钥", "Bearer abc"):
        assert part not in out.getvalue()
    assert out.getvalue().count("refused: ***") == 2


def test_an_empty_or_tiny_secret_masks_nothing() -> None:
    out = _configured("json", ["", "a"])
    logging.getLogger("x").info("banana")
    assert json.loads(out.getvalue())["event"] == "banana"


def test_the_sdk_is_quiet_but_our_lines_in_it_are_not() -> None:
    out = _configured("json")
    logging.getLogger("temporalio.worker").info("noise")
    logging.getLogger("httpx").info("noise")
    logging.getLogger("temporalio.worker").warning("trouble")
    logging.getLogger("temporalio.activity").info("ours")
    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == [
        "trouble",
        "ours",
    ]


async def test_a_line_says_which_activity_it_belongs_to() -> None:
    out = _configured("json")

    async def act() -> None:
        structlog.get_logger("a").info("working")

    await ActivityEnvironment().run(act)
    line = json.loads(out.getvalue())
    assert (line["workflow_id"], line["activity"], line["attempt"]) == ("test", "unknown", 1)


def test_what_the_workflow_logger_adds_is_merged() -> None:
    out = _configured("json")
    extra = {"temporal_workflow": {"workflow_id": "w", "workflow_type": "AgentRun", "attempt": 1}}
    logging.getLogger("temporalio.workflow").info("step", extra=extra)
    line = json.loads(out.getvalue())
    assert (line["workflow_id"], line["workflow"]) == ("w", "AgentRun")
    assert "temporal_workflow" not in line


def test_configuring_twice_writes_once() -> None:
    _configured("json")
    out = _configured("json")
    logging.getLogger("x").info("once")
    assert len(out.getvalue().splitlines()) == 1
