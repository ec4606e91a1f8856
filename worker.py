"""A worker: connect, inject, register, run, drain (INTERFACE, "Command line").

It serves the server that the Temporal CLI's profiles and `TEMPORAL_*` variables name,
localhost:7233 by default. SIGTERM and SIGINT drain it: acts in flight get a grace period, what
does not end in time is tried again by another worker. Exit code 0 then, 2 for usage errors.
"""

import asyncio
import contextlib
import signal
import traceback
from typing import Annotated

import typer

from runtime.errors import UsageError
from runtime.settings import Env, load_env


async def _serve(env: Env, role: str) -> None:
    from runtime.connect import connect  # noqa: PLC0415  # the SDK is slow to import: not for --help
    from runtime.converter import data_converter  # noqa: PLC0415
    from runtime.workers import parse_role, running_workers  # noqa: PLC0415

    chosen = parse_role(role)
    client = await connect(data_converter(env.codec))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows has neither; Ctrl-C interrupts
            loop.add_signal_handler(number, stop.set)
    async with running_workers(client, env, role=chosen) as serving:
        say = f"serving {', '.join(serving.queues)} at {client.service_client.config.target_host}"
        typer.echo(f"{say}, namespace {client.namespace}, model {serving.model}", err=True)
        await stop.wait()
        typer.echo("draining", err=True)
    typer.echo("stopped", err=True)


def main(
    role: Annotated[
        str, typer.Option(help="Which queues to serve: all, workflow, model or tools.")
    ] = "all",
) -> None:
    """Run a worker until SIGTERM or Ctrl-C; it drains before it stops."""
    from runtime.leaving import leave  # noqa: PLC0415
    from runtime.logs import configure_logging  # noqa: PLC0415

    code = 1
    try:
        env = load_env()
        configure_logging(env.log, secrets=env.secrets)
        asyncio.run(_serve(env, role))
        code = 0
    except UsageError as error:
        typer.echo(f"worker.py: {error}", err=True)
        code = 2
    except KeyboardInterrupt:  # where the event loop takes no signal handlers (Windows)
        code = 130
    except BaseException:  # noqa: BLE001 - a defect of ours: told whole, as the interpreter would
        traceback.print_exc()
    finally:
        leave(code)


if __name__ == "__main__":
    typer.run(main)
