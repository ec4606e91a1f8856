"""Contracts round-trip exactly as plain JSON: strict for people, tolerant between workers.

How it can go wrong: a NaN that becomes null, a lone surrogate that cannot be sent, an integer that
becomes a float, a field of a newer worker that an older one chokes on (REQUIREMENTS 4, 185).
"""

import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

import workflows.contracts
from runtime.converter import data_converter
from tests.situations import HISTORIES, INDEXING
from workflows.contracts.acts import CloseInput, SearchResult
from workflows.contracts.base import Compact, Mutable, Strict, Wire
from workflows.contracts.decision import NextAction
from workflows.contracts.evidence import Hit
from workflows.contracts.observation import Observation
from workflows.contracts.plan import Plan
from workflows.contracts.state import RunState
from workflows.contracts.task import Limits, Task
from workflows.contracts.verdict import Verdict


def models() -> Iterator[type[BaseModel]]:
    """Every contract."""
    for info in pkgutil.iter_modules(workflows.contracts.__path__):
        module = importlib.import_module(f"workflows.contracts.{info.name}")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, BaseModel) and kind.__module__ == module.__name__:
                yield kind


CONTRACTS = [m for m in models() if m not in (Strict, Wire, Mutable, Compact)]


@pytest.mark.parametrize("model", CONTRACTS, ids=lambda m: m.__name__)
def test_every_contract_is_strict_and_refuses_what_json_has_not(model: type[BaseModel]) -> None:
    config = model.model_config
    assert config.get("strict") is True
    assert config.get("allow_inf_nan") is False
    assert config.get("extra") == ("forbid" if issubclass(model, Strict) else "ignore")


@pytest.mark.parametrize(
    "model", [m for m in CONTRACTS if issubclass(m, Wire | Mutable)], ids=lambda m: m.__name__
)
def test_a_field_of_a_newer_worker_is_ignored(model: type[BaseModel]) -> None:
    required = {name for name, field in model.model_fields.items() if field.is_required()}
    assert wrong_fields(model, {"a_field_of_tomorrow": 1}) <= required


def wrong_fields(model: type[BaseModel], value: Any) -> set[str]:
    """The fields that a value does not fit."""
    try:
        model.model_validate(value)
    except ValidationError as error:
        return {str(e["loc"][0]) for e in error.errors()}
    return set()


text = st.text(max_size=30)
numbers = st.integers(0, 10**6)
hits = st.builds(
    Hit, source_id=text, title=text, sha=text, start=numbers, end=numbers, known=numbers,
    declared=st.lists(numbers, max_size=3), covers=st.lists(numbers, max_size=3),
)  # fmt: skip
results = st.builds(
    SearchResult,
    ok=st.booleans(),
    error=text,
    hits=st.lists(hits, max_size=3),
    page_ref=text,
    note=text,
)
observations = st.builds(
    Observation, ok=st.booleans(), error=text, numbers=st.lists(numbers, max_size=4), note=text
)
verdicts = st.builds(Verdict, passed=st.booleans(), score=st.floats(0, 1), reason=text)


@given(st.one_of(hits, results, observations, verdicts))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_values_cross_a_boundary_unchanged(value: BaseModel) -> None:
    converter = data_converter(None).payload_converter
    (payload,) = converter.to_payloads([value])
    (back,) = converter.from_payloads([payload], [type(value)])
    assert back == value
    assert type(value).model_validate_json(value.model_dump_json()) == value


def test_the_state_of_every_recorded_run_round_trips_exactly() -> None:
    paths = [p for p in sorted(HISTORIES.glob("*.state.json")) if INDEXING not in p.name]
    assert paths
    for path in paths:
        recorded = json.loads(path.read_text("utf-8"))
        state = RunState.model_validate(recorded)
        small = state.model_dump(mode="json", exclude_defaults=True)
        assert RunState.model_validate(small) == state
        inp = CloseInput(run_id="r", workflow_id="w", status="failed", state=state)
        assert CloseInput.model_validate_json(inp.model_dump_json()).state == state


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_json_has_not_are_refused(number: float) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate({"max_active_seconds": number})
    with pytest.raises(ValidationError):
        Verdict.model_validate({"passed": True, "score": number})


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (Task, {"goal": "a\ud800"}),
        (
            NextAction,
            {"plan": ["x"], "action": "finish", "query": "", "sufficient": 1, "draft": ""},
        ),
        (
            NextAction,
            {"plan": ["x"], "action": "finish", "query": "", "sufficient": True, "draft": 5},
        ),
        (Hit, {"source_id": "s", "title": "t", "sha": "h", "start": "0", "end": 1}),
        (Plan, {"steps": []}),
        (Plan, {"steps": [{"id": "s", "goal": "g", "accept": "a", "tool": "no/slash"}]}),
    ],
)
def test_nothing_is_converted_silently(model: type[BaseModel], value: Any) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(value)


def test_defaults_of_compact_models_stay_out_of_history_and_come_back() -> None:
    hit = Hit(source_id="s", title="t", sha="h", start=0, end=9)
    assert json.loads(hit.model_dump_json()) == {
        "source_id": "s", "title": "t", "sha": "h", "start": 0, "end": 9,
    }  # fmt: skip
    assert Hit.model_validate_json(hit.model_dump_json()) == hit
