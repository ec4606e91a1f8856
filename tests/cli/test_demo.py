"""The demo, and the command-line cases of the seed (C58, C59): `demo --json --events`."""

from pathlib import Path
from typing import Any

import pytest

from tests.case_files import departs, load
from tests.cli.console import Console, Done

CASES: list[dict[str, Any]] = load("control_flow_cases.json")["cli_cases"]
_COUNTERS = ("model_calls", "tool_calls")
_SECRETS = {"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_MODEL": "some-model"}


@pytest.mark.cases("control_flow_cases.json")
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_case(case: dict[str, Any], console: Console, request: pytest.FixtureRequest) -> None:
    arguments = [a for a in case["args"] if a != "--demo"]
    if "--demo" in case["args"]:
        arguments = ["demo", "--json", "--events", *arguments]
    else:
        arguments = ["run", "Neutral goal", *arguments]
    console.extra.update({name: _SECRETS[name] for name in case["env"]})
    done = console.run(*arguments)
    if case["traceback"]:  # the seed's own defect: a usage error, no traceback
        departs(request, "C58")
        assert done.code == 2
        assert "goal" in done.err
    else:
        assert done.code == case["exit_code"], done.err
    if not case["stdout_is_one_json_document"]:
        assert done.out == ""
        return
    departs(request, "C59")
    _same_outcome(case, done)


def _same_outcome(case: dict[str, Any], done: Done) -> None:
    result = done.document
    for key, value in case["result"].items():
        found = result["usage"][key] if key in _COUNTERS else result[key]
        assert found == value, key
    for key in case["result_keys"]:
        assert key in result or key in _COUNTERS or key == "plan"
    assert len(done.events) == case["stderr_json_lines"]
    assert [event["event"] for event in done.events] == case["event_names"]


def test_what_the_third_topic_costs(console: Console) -> None:
    done = console.run("demo", "--include-recovery", "--json", "--events")
    result = done.document
    assert result["usage"]["searches"] == 3
    assert result["missing_topics"] == ["recovery"]
    assert done.events[-1] == {
        "event": "task_finished",
        "status": "partially_succeeded",
        "stop_reason": "no_progress",
        "model_calls": 4,
        "tool_calls": 4,
    }
    repeated = [e for e in done.events if e["event"] == "observation_recorded"][-1]
    assert repeated["error"] == "repeated_query"
    assert repeated["no_progress"] == 2


def test_strict_makes_partial_three(console: Console) -> None:
    assert console.run("demo", "--include-recovery", "--json", "--strict").code == 3


def test_a_chinese_goal_gives_a_chinese_report_and_no_server_or_key_counts(
    console: Console,
) -> None:
    console.extra.update(TEMPORAL_ADDRESS="127.0.0.1:1", OPENAI_API_KEY="sk-test-0123456789")
    done = console.run("demo", "--goal", "智能体循环和工具契约如何配合？", "--json")
    assert done.code == 0, done.err
    assert done.document["language"] == "zh"
    assert "extractive" in done.document["model"]


def test_people_get_the_report_on_stdout_and_progress_on_stderr(console: Console) -> None:
    done = console.run("demo")
    assert done.code == 0
    assert done.out.startswith("# ")
    assert "[E1]" in done.out
    assert "Web UI: http://127.0.0.1:" in done.err
    assert "succeeded (model_finished), 3 model calls, 2 tool calls" in done.err


def test_somebody_elses_collection_of_that_name_is_left_alone(
    console: Console, folder: Path
) -> None:
    assert console.run("index", str(folder), "--name", "demo").code == 0
    sources = {e["source_id"] for e in console.run("demo", "--json").document["evidence"]}
    assert all(source.startswith("demo-") for source in sources)
    mine = console.run("corpora", "demo", "--json").document
    assert "ksm.md" in {file["path"] for file in mine["statuses"]}
