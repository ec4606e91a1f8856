"""The deployment files as the tools that use them see them: Compose's own view, the image's files.

How it can go wrong: a file that only looks right. So the real Compose parses, and the folder of the
image is laid out by the Dockerfile's COPY lines.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
_OURS = ("OPENAI_", "SUREFOOT_", "TEMPORAL_", "COMPOSE_", "POSTGRES_")


def environment(**variables: str) -> dict[str, str]:
    """The caller's environment without what would configure Compose or the product."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {**kept, "COMPOSE_DISABLE_ENV_FILE": "1", **variables}


def compose(*arguments: str, **variables: str) -> str:
    """What `docker-compose` prints; it must succeed without a warning."""
    done = subprocess.run(
        [TOOLS / "docker-compose", "--file", ROOT / "docker-compose.yml", *arguments],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def config(**variables: str) -> dict[str, Any]:
    """The whole configuration with these variables set."""
    return json.loads(compose("config", "--format", "json", **variables))


def script(service: str) -> str:
    """The shell script of a job as its container gets it."""
    job = config()["services"][service]
    assert job["entrypoint"] == ["/bin/sh", "-euc"]
    (command,) = job["command"]
    return str(command).replace("$$", "$")


def copied() -> list[tuple[list[str], str]]:
    """Sources and target of each COPY line of the Dockerfile."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    parts = [line.split()[1:] for line in lines if line.startswith("COPY ")]
    assert parts
    assert not any(part.startswith("--") for line in parts for part in line), "not understood here"
    return [(line[:-1], line[-1]) for line in parts]


def lay_out(app: Path) -> None:
    """Copy into a folder exactly what the Dockerfile copies into the image's."""
    for sources, target in copied():
        for source in sources:
            where = app / target
            if (ROOT / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, where, dirs_exist_ok=True, ignore=ignored)
            else:
                where = where / source if target.endswith("/") else where
                where.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, where)
