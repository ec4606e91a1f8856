"""Model profiles from the environment: complete, or a message that says what is missing."""

from typing import Any

import pytest

from activities.model.profiles import ProfileError, profiles_from
from workflows.contracts.price import Price

FULL = {"api_key": "sk-secret-value", "model": "m1"}


def test_nothing_configured_is_the_extractive_model() -> None:
    profiles = profiles_from(None, None, None, None, None, None)
    assert profiles.names() == ["extractive"]
    planner = profiles.for_role("planner", None)
    assert (planner.kind, planner.display) == ("extractive", "extractive (built in)")


def test_blank_values_count_as_unset() -> None:
    assert profiles_from("", " ", "", None, "", "　").names() == ["extractive"]


def test_one_model_serves_every_role() -> None:
    profiles = profiles_from(**FULL)
    assert profiles.names() == ["default", "extractive"]
    assert {profiles.for_role(role).model for role in ("planner", "executor", "judge")} == {"m1"}
    assert profiles.get("default").display == "m1"


def test_a_role_may_have_a_model_of_its_own() -> None:
    profiles = profiles_from(None, "http://127.0.0.1:8080/v1", "m1", "m2", None, "m3")
    assert profiles.names() == ["default", "extractive", "judge", "planner"]
    assert profiles.for_role("planner").model == "m2"
    assert profiles.for_role("executor").model == "m1"
    assert profiles.for_role("judge").setting == "OPENAI_MODEL_JUDGE"
    assert profiles.for_role("judge").api_key is None


def test_prices_go_by_the_name_of_the_model() -> None:
    price = Price(prompt="2", completion="8")
    profiles = profiles_from(**FULL, judge="m3").priced({"m1": price, "m2": price})
    assert [profiles.for_role(role).price for role in ("planner", "judge")] == [price, None]
    assert profiles.get("extractive").price == Price(prompt="0", completion="0")
    assert profiles_from(**FULL).get("default").price is None


def test_a_task_may_choose() -> None:
    profiles = profiles_from(**FULL)
    assert profiles.for_role("planner", "extractive").kind == "extractive"
    with pytest.raises(ProfileError, match=r"'fast'.*default, extractive"):
        profiles.for_role("planner", "fast")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"api_key": "sk-secret-value"}, "OPENAI_API_KEY without OPENAI_MODEL"),
        ({"base_url": "http://h/v1"}, "OPENAI_BASE_URL without OPENAI_MODEL"),
        (
            {"api_key": "sk-secret-value", "base_url": "http://h/v1", "judge": "j"},
            "OPENAI_API_KEY and OPENAI_BASE_URL without OPENAI_MODEL",
        ),
        ({"model": "m"}, "OPENAI_MODEL without OPENAI_API_KEY or OPENAI_BASE_URL"),
        ({"planner": "m"}, "OPENAI_MODEL_PLANNER without OPENAI_MODEL"),
        ({"model": "m", "base_url": "localhost:8080"}, "not a web address"),
        ({"model": "m", "base_url": "http://"}, "not a web address"),
        ({"model": "m", "base_url": "http://h:port/v1"}, "not a web address"),
    ],
)
def test_incomplete_settings_are_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ProfileError) as caught:
        profiles_from(**given)
    assert words in str(caught.value)
    assert "sk-secret-value" not in str(caught.value)


def test_a_profile_never_shows_its_key() -> None:
    profile = profiles_from(**FULL).get("default")
    assert "sk-secret-value" not in repr(profile) + str(profile) + profile.model_dump_json()
