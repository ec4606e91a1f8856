"""docker-compose.yml, as the real Compose reads it.

How it can go wrong: a port that the whole network reaches, an image that changes by itself, a
second worker that clashes with the first, a job that nobody waits for, a key in the file, a setting
that never reaches the worker, search attributes that the code does not write.
"""

import re
import shlex
from typing import Any, cast

import pytest

from runtime.readiness import RETENTION
from runtime.settings import Env
from tests.deploy import files
from workflows.contracts.names import SEARCH_ATTRIBUTES

SET = {
    "OPENAI_API_KEY": "key-of-a-test",
    "OPENAI_BASE_URL": "http://models.test/v1",
    "OPENAI_MODEL": "large",
    "SUREFOOT_CODEC_KEYS": "k1:a2tr",
    "SUREFOOT_DOCS": "/srv/manuals",
    "SUREFOOT_EXTRAS": "semantic",
    "SUREFOOT_WORKER_MEMORY": "4g",
    "POSTGRES_PASSWORD": "other",
}
_ONE_HOST_ONLY = {"SUREFOOT_STORE"}
_TEMPORAL = {"schema", "temporal", "namespace"}


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    return files.config()["services"]


@pytest.mark.parametrize("variables", [{}, SET], ids=["nothing set", "all set"])
def test_compose_takes_it(variables: dict[str, str]) -> None:
    files.compose("config", "-q", **variables)


def test_every_published_port_is_on_loopback(services: dict[str, dict[str, Any]]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert sorted(port["published"] for port in ports) == ["7233", "8233"]
    assert {port.get("host_ip") for port in ports} == {"127.0.0.1"}
    assert not any("network_mode" in service for service in services.values())


def test_every_image_has_a_whole_version(services: dict[str, dict[str, Any]]) -> None:
    images = {name: str(service.get("image")) for name, service in services.items()}
    assert images.pop("worker") == "None", "it is built"
    for image in images.values():
        assert re.fullmatch(r"[\w./-]+:\d+\.\d+(\.\d+)?(-[a-z]+)?", image), image
    versions = {image.partition(":")[2] for name, image in images.items() if name in _TEMPORAL}
    assert len(versions) == 1, "the schema job must be of the server's version"


def test_there_can_be_many_workers(services: dict[str, dict[str, Any]]) -> None:
    worker = services["worker"]
    assert not {"ports", "container_name", "hostname", "image"} & set(worker)
    assert worker["init"] is True
    assert worker["restart"] == "unless-stopped"
    volumes = {volume["target"]: volume for volume in worker["volumes"]}
    assert (volumes["/data"]["type"], volumes["/data"]["source"]) == ("volume", "data")
    assert volumes["/documents"]["read_only"] is True


def test_everyone_waits_for_what_they_need(services: dict[str, dict[str, Any]]) -> None:
    waits = {
        name: {other: how["condition"] for other, how in service.get("depends_on", {}).items()}
        for name, service in services.items()
    }
    assert waits == {
        "postgres": {},
        "schema": {"postgres": "service_healthy"},
        "temporal": {"schema": "service_completed_successfully"},
        "namespace": {"temporal": "service_healthy"},
        "ui": {"temporal": "service_healthy"},
        "worker": {"namespace": "service_completed_successfully"},
    }
    for needed in waits.values():
        for other, condition in needed.items():
            if condition == "service_healthy":
                assert services[other]["healthcheck"]["test"]
            else:  # a job: it ends, and is repeated only when it fails
                assert services[other]["restart"].startswith("on-failure:")


def test_the_file_holds_no_secret(services: dict[str, dict[str, Any]]) -> None:
    worker = services["worker"]["environment"]
    secret = [name for name in worker if name.endswith(("KEY", "KEYS", "TOKEN", "PASSWORD"))]
    assert sorted(secret) == ["OPENAI_API_KEY", "SUREFOOT_CODEC_KEYS"]
    assert all(worker[name] is None for name in secret)
    text = (files.ROOT / "docker-compose.yml").read_text("utf-8")
    assert not re.search(r"sk-\w{8}|[A-Za-z0-9+/]{40,}", text)


def test_settings_reach_the_worker() -> None:
    config = files.config(**SET)
    worker, postgres = config["services"]["worker"], config["services"]["postgres"]
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "SUREFOOT_CODEC_KEYS"):
        assert worker["environment"][name] == SET[name]
    assert worker["build"]["args"] == {"EXTRAS": "semantic"}
    assert worker["mem_limit"] == str(4 * 1024**3)
    assert "/srv/manuals" in [volume["source"] for volume in worker["volumes"]]
    passwords = [
        postgres["environment"]["POSTGRES_PASSWORD"],
        config["services"]["schema"]["environment"]["SQL_PASSWORD"],
        config["services"]["temporal"]["environment"]["POSTGRES_PWD"],
    ]
    assert passwords == ["other"] * 3


def test_every_setting_of_the_product_can_be_set(services: dict[str, dict[str, Any]]) -> None:
    known = {cast("str", field.validation_alias) for field in Env.model_fields.values()}
    given = {n for n in services["worker"]["environment"] if not n.startswith("TEMPORAL_")}
    assert given == known - _ONE_HOST_ONLY


def test_the_server_reads_its_dynamic_configuration(services: dict[str, dict[str, Any]]) -> None:
    server = services["temporal"]
    (mounted,) = server["configs"]
    assert server["environment"]["DYNAMIC_CONFIG_FILE_PATH"] == mounted["target"]
    assert "history.transferProcessorMaxPollRPS" in files.config()["configs"]["dynamic"]["content"]


def test_the_worker_stops_in_time(services: dict[str, dict[str, Any]]) -> None:
    from runtime.workers import _GRACE  # noqa: PLC0415  # the SDK, for this test only

    seconds = int(services["worker"]["stop_grace_period"].removesuffix("s"))
    assert seconds > 2 * _GRACE.total_seconds()


def test_the_namespace_job_registers_what_the_code_writes() -> None:
    job = files.script("namespace")
    assert dict(re.findall(r"\b(\w+)=(Keyword|KeywordList|Bool)\b", job)) == SEARCH_ATTRIBUTES
    words = shlex.split(job)
    assert words[words.index("--retention") + 1] == f"{RETENTION.days}d" == "90d"
