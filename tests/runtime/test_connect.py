"""Which server is meant, and what is said when it does not answer."""

import socket
from pathlib import Path

import pytest

from runtime.connect import configured, connect, registered_search_attributes
from runtime.converter import data_converter
from runtime.embedded import EmbeddedServer
from runtime.errors import ConnectError, UsageError
from workflows.contracts import names

CONVERTER = data_converter(None)


def _profiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    file = tmp_path / "temporal.toml"
    file.write_text(text)
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(file))


def test_nothing_is_configured_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not configured()
    monkeypatch.setenv("TEMPORAL_ADDRESS", "")
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "team")
    _profiles(monkeypatch, tmp_path, '[profile.other]\naddress = "elsewhere:7233"\n')
    assert not configured()


def test_an_address_or_a_profile_is_a_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _profiles(monkeypatch, tmp_path, '[profile.default]\naddress = "elsewhere:7233"\n')
    assert configured()
    _profiles(monkeypatch, tmp_path, '[profile.team]\nnamespace = "team"\n')
    assert not configured()
    monkeypatch.setenv("TEMPORAL_PROFILE", "team")
    assert configured()
    monkeypatch.delenv("TEMPORAL_PROFILE")
    monkeypatch.setenv("TEMPORAL_ADDRESS", "localhost:1")
    assert configured()


@pytest.mark.parametrize("text", ["[profile", "[profile.default]\naddress = 1\n"])
def test_a_broken_profile_file_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    _profiles(monkeypatch, tmp_path, text)
    with pytest.raises(UsageError, match="Temporal client configuration"):
        configured()


def test_a_profile_that_does_not_exist_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _profiles(monkeypatch, tmp_path, '[profile.team]\naddress = "x:1"\n')
    monkeypatch.setenv("TEMPORAL_PROFILE", "missing")
    with pytest.raises(UsageError, match="missing"):
        configured()


async def test_a_profile_connects(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _profiles(monkeypatch, tmp_path, f'[profile.team]\naddress = "{server.address}"\n')
    monkeypatch.setenv("TEMPORAL_PROFILE", "team")
    client = await connect(CONVERTER)
    assert await registered_search_attributes(client) == list(names.SEARCH_ATTRIBUTES)


async def test_an_address_given_counts_alone(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "localhost:1")
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "team")
    assert (await connect(CONVERTER, server.address)).namespace == "default"


async def test_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    with pytest.raises(ConnectError) as error:
        await connect(CONVERTER)
    assert str(error.value).startswith("no Temporal server answers at 127.0.0.1:1")
    assert "Connection refused" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("address", ["not an address", "no.such.host.invalid:7233"])
async def test_an_address_that_cannot_be_one(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", address)
    with pytest.raises(ConnectError, match="no Temporal server answers at"):
        await connect(CONVERTER)


async def test_an_address_with_a_scheme_is_refused() -> None:
    with pytest.raises(ConnectError, match="expected host:port without a scheme"):
        await connect(CONVERTER, "http://localhost:7233")


async def test_something_listens_but_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.connect._SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(ConnectError, match="no Temporal server answers at"):
            await connect(CONVERTER)


async def test_a_namespace_that_does_not_exist_is_named(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "team")
    with pytest.raises(ConnectError, match=r"has no namespace 'team'; create it"):
        await connect(CONVERTER)


def test_the_compose_file_registers_the_same_search_attributes() -> None:
    text = (Path(__file__).parents[2] / "docker-compose.yml").read_text()
    for name, kind in names.SEARCH_ATTRIBUTES.items():
        assert f"{name}={kind}" in text
