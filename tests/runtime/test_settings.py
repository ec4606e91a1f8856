"""Environment variables, and the folders they allow to be indexed."""

import os
from pathlib import Path

import pytest

from runtime.errors import UsageError
from runtime.roots import add_root, allowed_roots, recorded_roots
from runtime.settings import load_env
from workflows.contracts.price import Price


def test_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    env = load_env()
    assert env.home == tmp_path / ".surefoot"
    assert env.store == str(tmp_path / ".surefoot" / "store")
    assert (env.log, env.attempts, env.roots, env.codec, env.api_key) == (
        "console",
        4,
        [],
        None,
        None,
    )
    assert env.settings(embedded=True).heartbeat_seconds == 5
    assert env.settings(embedded=False).heartbeat_seconds == 30


def test_blank_counts_as_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        *("OPENAI_API_KEY", "OPENAI_MODEL", "SUREFOOT_HOME", "SUREFOOT_STORE", "SUREFOOT_ROOTS"),
        *("SUREFOOT_CODEC_KEYS", "SUREFOOT_LOG", "SUREFOOT_ATTEMPTS"),
    ):
        monkeypatch.setenv(name, " \t")
    env = load_env()
    assert (env.api_key, env.openai_model, env.attempts) == (None, None, 4)
    assert env.home == tmp_path / ".surefoot"


def test_a_variable_without_our_prefix_is_never_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Fields are named like variables that everybody has."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "STORE", "LOG", "ROOTS", "ATTEMPTS"):
        monkeypatch.setenv(name, "elsewhere")
    assert load_env().home == tmp_path / ".surefoot"


def test_paths_become_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUREFOOT_HOME", "资料/state")
    monkeypatch.setenv("SUREFOOT_ROOTS", os.pathsep.join(["docs", "", str(tmp_path / "b")]))
    env = load_env()
    assert env.home == tmp_path / "资料" / "state"
    assert env.store == str(tmp_path / "资料" / "state" / "store")
    assert env.roots == [tmp_path / "docs", tmp_path / "b"]


def test_an_s3_store_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_STORE", "s3://bucket/prefix")
    assert load_env().store == "s3://bucket/prefix"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SUREFOOT_ATTEMPTS", "four"),
        ("SUREFOOT_ATTEMPTS", "0"),
        ("SUREFOOT_LOG", "xml"),
        ("SUREFOOT_MODEL_SECONDS", "nan"),
        ("SUREFOOT_SEARCH_SECONDS", "-1"),
        ("SUREFOOT_HEARTBEAT_SECONDS", "inf"),
        ("SUREFOOT_PRICES", "gpt-4.1"),
        ("SUREFOOT_PRICES", "=1/2"),
        ("SUREFOOT_PRICES", "gpt-4.1=2.00"),
        ("SUREFOOT_PRICES", "gpt-4.1=2.00/-1"),
        ("SUREFOOT_PRICES", "gpt-4.1=1e3/2"),
        ("SUREFOOT_PRICES", "gpt-4.1=NaN/2"),
        ("SUREFOOT_PRICES", "m=1/2,m=1/3"),
    ],
)
def test_a_bad_value_is_one_line_with_variable_and_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError) as error:
        load_env()
    assert str(error.value).startswith(f"{name}: ")
    assert repr(value) in str(error.value)
    assert "\n" not in str(error.value)


def test_prices_by_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_env().prices == {}
    monkeypatch.setenv("SUREFOOT_PRICES", " gpt-4.1=2.00/8.00, org/m:a=b = 0/0.000001 ,")
    assert load_env().prices == {
        "gpt-4.1": Price(prompt="2.00", completion="8.00"),
        "org/m:a=b": Price(prompt="0", completion="0.000001"),
    }


def test_secrets_are_known_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecret")
    monkeypatch.setenv("SUREFOOT_CODEC_KEYS", "a:" + "QUJD" * 10 + "QUI=")
    env = load_env()
    assert env.secrets == ["sk-verysecret", "QUJD" * 10 + "QUI="]
    assert "secret" not in repr(env)
    assert "QUJD" not in repr(env)


def test_roots_of_the_command_line_count_only_when_embedded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    docs, other = tmp_path / "docs", tmp_path / "中文"
    docs.mkdir()
    other.mkdir()
    monkeypatch.setenv("SUREFOOT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SUREFOOT_ROOTS", str(docs))
    env = load_env()
    for _ in range(2):
        add_root(env.home, other)
    add_root(env.home, docs)
    assert recorded_roots(env.home) == [other, docs]
    assert allowed_roots(env, embedded=True) == [docs, other]
    assert allowed_roots(env, embedded=False) == [docs]


def test_a_root_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        add_root(tmp_path, tmp_path / "missing")


@pytest.mark.parametrize("text", ["{}", "[1]", "nonsense", '"x"'])
def test_a_damaged_roots_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "roots.json").write_text(text)
    with pytest.raises(UsageError, match=r"roots\.json: expected a JSON list of paths"):
        recorded_roots(tmp_path)
