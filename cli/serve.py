"""`serve`: the embedded server on a fixed port and a worker, until stopped."""

import asyncio
import logging
from typing import Final

from cli.outcome import OK
from cli.screen import write
from cli.session import Session, connected, profiles_of, working
from runtime.settings import load_env

DEFAULT_PORT: Final = 7233


async def serve_command(port: int) -> int:
    """Serve until SIGINT or SIGTERM; both are a regular end."""
    env = load_env()
    profiles_of(env)
    try:
        async with (
            connected(env, embedded=True, port=port, log_level=logging.INFO) as session,
            working(session),
        ):
            write(_how_to(session, port))
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        write("stopped; open runs are kept and go on with the next `serve` or `resume`")
    return OK


def _how_to(session: Session, port: int) -> str:
    address = "" if port == DEFAULT_PORT else f"--address {session.address} "
    return "\n".join(
        [
            f"Temporal server: {session.address}",
            f"Web UI:          {session.ui}",
            "A worker is running. In another terminal, for example:",
            f"  uv run temporal workflow start {address}--type AgentRun --task-queue surefoot \\",
            '    --workflow-id run-1 --input \'{"goal": "What is wanted", "corpora": ["NAME"]}\'',
            f"  uv run temporal workflow show {address}--workflow-id run-1 --follow",
            f"  uv run temporal workflow result {address}--workflow-id run-1",
            f"  uv run temporal workflow query {address}--workflow-id run-1 --type status",
            f"  uv run temporal workflow signal {address}--workflow-id run-1 --name stop",
            "Ctrl-C stops; nothing is lost.",
        ]
    )
