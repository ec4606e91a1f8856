"""The Dockerfile: linted, pinned, and enough files for both programs.

How it can go wrong: a folder that is not copied, so that the container dies at its start; a folder
that .dockerignore keeps away from COPY, or that leaks into the image; a base image that moves.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.deploy import files

_IMPORT_ALL = """
import importlib, pkgutil, sys
import worker, starter
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(package.__path__, name + "."):
        importlib.import_module(found.name)
        print(found.name)
"""


def _dockerfile() -> str:
    return (files.ROOT / "Dockerfile").read_text("utf-8")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("image") / "app"
    files.lay_out(folder)
    return folder


def _python(app: Path, *arguments: str, home: Path | None = None) -> str:
    variables = {"SUREFOOT_HOME": str(home or app.parent / "data"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=app,
        env=files.environment(**variables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hadolint_finds_nothing() -> None:
    done = subprocess.run(
        [files.TOOLS / "hadolint", "--no-color", "Dockerfile"],
        cwd=files.ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_base_image_is_pinned_to_a_patch_and_a_debian_release() -> None:
    images = re.findall(r"^FROM (\S+)", _dockerfile(), re.MULTILINE)
    assert len(images) == 1
    assert re.fullmatch(r"python:3\.11\.\d+-slim-[a-z]+", images[0])


def test_it_runs_as_a_user_who_owns_the_state_directory() -> None:
    text = _dockerfile()
    lines = text.splitlines()
    assert "--uid 10001 surefoot" in text
    assert "install -d -o surefoot -g surefoot /data" in text
    assert lines.index("USER 10001") > max(n for n, x in enumerate(lines) if x.startswith("RUN "))
    assert files.config()["services"]["worker"]["environment"]["SUREFOOT_HOME"] == "/data"
    assert re.search(r"\bSUREFOOT_HOME=/data\b", text)


def test_the_extra_that_the_documentation_names_exists() -> None:
    project = tomllib.loads((files.ROOT / "pyproject.toml").read_text("utf-8"))
    named = re.search(r"SUREFOOT_EXTRAS=(\w+)", (files.ROOT / "docs/deployment.md").read_text())
    assert named
    assert named[1] in project["project"]["optional-dependencies"]
    assert '${EXTRAS:+"--extra=${EXTRAS}"}' in _dockerfile()


def test_the_build_context_is_what_is_copied() -> None:
    rules = [
        line
        for line in (files.ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    assert rules[0] == "*"
    allowed = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert allowed == {source for sources, _ in files.copied() for source in sources}
    assert rules[-1] == "**/__pycache__"


@pytest.mark.parametrize("program", ["worker.py", "starter.py"])
def test_both_programs_start_from_what_is_copied(app: Path, program: str) -> None:
    assert "Usage" in _python(app, program, "--help")


def test_every_module_loads_from_what_is_copied(app: Path) -> None:
    packages = sorted(path.name for path in app.iterdir() if (path / "__init__.py").is_file())
    assert packages == ["activities", "cli", "runtime", "workflows"]
    assert len(_python(app, "-c", _IMPORT_ALL, *packages).splitlines()) > 50


def test_the_command_line_works_from_what_is_copied(app: Path, tmp_path: Path) -> None:
    assert "no collection yet" in _python(app, "starter.py", "corpora", home=tmp_path / "home")
