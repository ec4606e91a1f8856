"""The command line of Surefoot: parsing and help; what each command does lives in `cli`."""

# ruff: noqa: PLC0415 - a command imports what it needs when it runs, so that --help is fast

from typing import Annotated

import typer

from cli.execute import execute
from cli.options import (
    AnswerOptions,
    ApproveOptions,
    DemoOptions,
    Follow,
    Output,
    RejectOptions,
    RunOptions,
    StartOptions,
    takes,
)

app = typer.Typer(
    help="Research that holds up: every claim backed by a source, every gap admitted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the run.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Events = Annotated[bool, typer.Option("--events", help="Events as JSON lines on standard error.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 3 when succeeded in part only.")]


@app.command()
@takes(RunOptions)
def run(options: RunOptions) -> None:
    """Research GOAL to its end and print the cited report.

    Exit code 0: succeeded, also in part (3 with --strict); 1: any other status; 2: usage error.
    """
    from cli.runs import run_command

    execute(lambda: run_command(options))


@app.command()
@takes(StartOptions)
def start(options: StartOptions) -> None:
    """Start a run and return at once with its id and the commands to follow it."""
    from cli.runs import start_command

    execute(lambda: start_command(options))


@app.command()
def resume(
    run_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Id of the run; all open ones without.")
    ] = None,
    json: Json = False,
    events: Events = False,
    strict: Strict = False,
) -> None:
    """Go on with runs that an ended or killed session left behind."""
    from cli.runs import resume_command

    execute(lambda: resume_command(run_id, Follow(json=json, events=events, strict=strict)))


@app.command()
def watch(run_id: Id, json: Json = False, events: Events = False, strict: Strict = False) -> None:
    """Follow a run to its end and print its report."""
    from cli.runs import watch_command

    execute(lambda: watch_command(run_id, Follow(json=json, events=events, strict=strict)))


@app.command()
def show(run_id: Id, json: Json = False) -> None:
    """Look at one run: its report if it has ended, else where it stands."""
    from cli.look import show_command

    execute(lambda: show_command(run_id, Output(json=json)))


@app.command(name="list")
def list_runs(
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most this many.")] = 50,
    json: Json = False,
) -> None:
    """List runs, newest first."""
    from cli.look import list_command

    execute(lambda: list_command(limit, Output(json=json)))


@app.command()
def requests(run_id: Id, json: Json = False) -> None:
    """What a run asks of people, and how it took the messages it got."""
    from cli.deciding import requests_command

    execute(lambda: requests_command(run_id, Output(json=json)))


@app.command()
@takes(ApproveOptions)
def approve(options: ApproveOptions) -> None:
    """Grant what a run asks for: its plan, a call, its report. It is shown first."""
    from cli.deciding import approve_command

    execute(lambda: approve_command(options))


@app.command()
@takes(RejectOptions)
def reject(options: RejectOptions) -> None:
    """Refuse what a run asks for. It is shown first."""
    from cli.deciding import reject_command

    execute(lambda: reject_command(options))


@app.command()
@takes(AnswerOptions)
def answer(options: AnswerOptions) -> None:
    """Answer a question of a run."""
    from cli.deciding import answer_command

    execute(lambda: answer_command(options))


@app.command()
def stop(
    run_id: Id,
    reason: Annotated[str, typer.Option("--reason", help="Why; stands in the report.")] = "",
    by: Annotated[str, typer.Option("--by", help="Who; default: the name of the user.")] = "",
) -> None:
    """Have a run finish now, with a partial report."""
    from cli.look import stop_command

    execute(lambda: stop_command(run_id, reason, by))


@app.command()
def index(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A folder or a file.")],
    name: Annotated[
        str | None, typer.Option("--name", help="The collection's name; default: the folder's.")
    ] = None,
    json: Json = False,
) -> None:
    """Build a collection of documents, or bring it up to date."""
    from cli.indexing import index_command

    execute(lambda: index_command(path, name, Output(json=json)))


@app.command()
def corpora(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One collection, with its files.")
    ] = None,
    json: Json = False,
) -> None:
    """List the collections of the state directory, or one with the status of each file."""
    from cli.catalogue import corpora_command

    execute(lambda: corpora_command(name, Output(json=json)))


@app.command()
@takes(DemoOptions)
def demo(options: DemoOptions) -> None:
    """Research the built-in teaching notes: no key, no network."""
    from cli.demo import demo_command

    execute(lambda: demo_command(options))


@app.command()
def serve(
    port: Annotated[
        int,
        typer.Option(
            "--port", min=1, max=64535, help="Of the server; the Web UI is on port + 1000."
        ),
    ] = 7233,
) -> None:
    """Run the embedded server and a worker until stopped, for the plain Temporal CLI."""
    from cli.serve import serve_command

    execute(lambda: serve_command(port))


@app.command()
def doctor(
    json: Json = False,
    model_call: Annotated[
        bool, typer.Option(help="Whether a configured model is really asked, once.")
    ] = True,
) -> None:
    """Check server, worker, model, store, corpora and search attributes; say what to fix."""
    from cli.doctor import doctor_command

    execute(lambda: doctor_command(Output(json=json), model_call=model_call))


if __name__ == "__main__":
    app()
