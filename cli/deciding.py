"""`approve`, `reject`, `answer`, `requests`: people decide on what a run asks.

On a terminal what is decided on is shown, and the decision is sent after a yes. A script names the
request, whose id holds a digest of what it shows, or says `--yes`.
"""

import dataclasses
from typing import Any, Final, Literal, cast

from cli.asks import Ask, ask_text, asks_of, report_text, ways, whole_report
from cli.choosing import answer_arguments, changes, chosen, edits_of, given, is_yes
from cli.columns import columns
from cli.execute import CommandError
from cli.keyboard import is_terminal, typed
from cli.options import AnswerOptions, ApproveOptions, DecideOptions, Output, RejectOptions
from cli.outcome import OK, OTHER
from cli.pasted import pasted
from cli.queries import first_run_id, open_run, requests_of
from cli.screen import Screen, dump, write, write_markdown
from cli.sending import RefusedError, Taken, decision, send, user
from cli.session import Session, answering, connected, is_embedded, someone_polls
from cli.words import words_of
from runtime.errors import UsageError
from runtime.settings import load_env
from workflows.logic.headings import Words

Verb = Literal["approve", "reject", "answer"]
_QUESTIONS: Final = {"edit": "ask_approve_edited", "approve": "ask_approve", "answer": "ask_answer"}


@dataclasses.dataclass(frozen=True)
class _Wish:
    """What a person typed, and nothing that is blank; of `edits`, None is what was not given."""

    verb: Verb
    run: str
    request: str | None
    by: str
    yes: bool
    comment: str = ""
    edits: str | None = None
    text: str = ""


def _wish(
    verb: Verb, options: DecideOptions, comment: str | None = None, edits: str | None = None
) -> _Wish:
    """What a person typed.

    Raises:
        UsageError: something was given and is blank, which cannot be meant: an approval of no
            edits, a rejection for good where a comment was to be sent.
    """
    words = {"ID": options.run_id, "REQUEST": options.request, "--by": options.by}
    given({**words, "--comment": comment, "--edits": edits})
    by = options.by or user()
    return _Wish(verb, options.run_id, options.request, by, options.yes, comment or "", edits)


async def approve_command(options: ApproveOptions) -> int:
    """`approve ID [REQUEST]`."""
    return await _decide(_wish("approve", options, options.comment, options.edits), options)


async def reject_command(options: RejectOptions) -> int:
    """`reject ID [REQUEST]`."""
    return await _decide(_wish("reject", options, options.comment), options)


async def answer_command(options: AnswerOptions) -> int:
    """`answer ID [REQUEST] [TEXT]`."""
    request, text = answer_arguments(options.request, options.text)
    given({"TEXT": text})
    wish = _wish("answer", dataclasses.replace(options, request=request))
    return await _decide(dataclasses.replace(wish, text=text or ""), options)


async def _decide(wish: _Wish, output: Output) -> int:
    """Show, ask, send, tell what became of it."""
    env, embedded = load_env(), is_embedded()
    with Screen() as screen:
        async with connected(env, embedded=embedded) as session:
            described = await open_run(session, wish.run)
            worked_on = await someone_polls(session)
            async with answering(session) as answers:
                known = await requests_of(session, described, answers=answers)
                asks = asks_of(known)
                if not asks and not worked_on:  # what it would ask it may not have come to
                    screen.warn(_goes_on(session, wish.run))
                ask = chosen(asks, known["ended"], wish.verb, wish.request)
                whole = await whole_report(env, first_run_id(described), ask)
                ask, words = dataclasses.replace(ask, whole=whole), words_of(known["language"])
                try:
                    payload = await _agreed(wish, ask, words, screen)
                    if payload is None:
                        screen.say(words("not_sent"))
                        return OTHER
                    taken = await send(session, wish.run, payload, answers=answers)
                except RefusedError as error:
                    if error.mistake:
                        raise UsageError(str(error)) from None
                    raise CommandError(str(error)) from None
        _tell(wish, payload, taken, words, output)
        if not worked_on:
            screen.warn(_goes_on(session, wish.run))
    return OK


async def _agreed(wish: _Wish, ask: Ask, words: Words, screen: Screen) -> dict[str, Any] | None:
    """The decision to send, once it was agreed to; None if it was not."""
    asking = is_terminal() and not wish.yes
    if not asking and not (wish.request or wish.yes):
        raise UsageError(
            f"nobody can be asked here: name the request ({ask.id}), whose id holds a digest of "
            "what is decided on, or give --yes"
        )
    edits = edits_of(ask, wish.edits) if wish.edits is not None else None
    if asking:
        show(ask, words, screen)
        if edits is not None:
            screen.say(changes(ask, edits))
    wish = await _completed(wish, ask, words, asking=asking)
    if wish.verb == "answer" and not wish.text:
        return None
    kind = "edit" if edits is not None else wish.verb
    payload = decision(kind, ask.id, wish.by, comment=wish.comment, edits=edits, text=wish.text)
    question = _QUESTIONS.get(kind, "ask_reject" if wish.comment else "ask_reject_final")
    if asking and not is_yes(await typed(words(question, id=ask.id, by=wish.by))):
        return None
    return payload


async def _completed(wish: _Wish, ask: Ask, words: Words, *, asking: bool) -> _Wish:
    """With the words that a decision still lacks, asked for on a terminal."""
    if wish.verb == "answer" and not wish.text:
        if not asking:
            raise UsageError(f"{ask.id}: the text of the answer is missing")
        return dataclasses.replace(wish, text=await typed(words("ask_text", id=ask.id)) or "")
    if wish.verb == "reject" and not wish.comment and asking:
        return dataclasses.replace(wish, comment=await typed(words("ask_comment")) or "")
    return wish


def show(ask: Ask, words: Words, screen: Screen) -> None:
    """A request in full on standard error: standard output is for results."""
    screen.say(ask_text(ask, words))
    report = report_text(ask)
    if report:
        screen.markdown(report)


def _tell(wish: _Wish, payload: dict[str, Any], taken: Taken, words: Words, output: Output) -> None:
    request = payload["request_id"]
    if output.json:
        document = {
            "workflow_id": wish.run,
            "request_id": request,
            "decision": payload["decision"],
            "by": wish.by,
            "outcome": taken.outcome or None,
        }
        write(dump(document))
    elif taken.outcome:
        write(words(f"told_{taken.outcome}", id=request, by=wish.by))
    else:
        write(words("told_sent", id=request, command=pasted("requests", wish.run)))


def _goes_on(session: Session, workflow_id: str) -> str:
    if session.embedded:
        return f"no session works on it: `{pasted('resume', workflow_id)}` goes on with it"
    return (
        f"no worker polls on {session.address}: the run goes on as soon as one does "
        "(`uv run worker.py`)"
    )


async def requests_command(workflow_id: str, output: Output) -> int:
    """`requests ID`: what a run asks and has asked, and how it took the messages it got."""
    env, embedded = load_env(), is_embedded()
    async with connected(env, embedded=embedded) as session:
        described = await session.client.get_workflow_handle(workflow_id).describe()
        async with answering(session) as answers:
            known = await requests_of(session, described, answers=answers)
    if output.json:
        write(dump({**known, "messages": known["messages"] or []}))
        return OK
    words = words_of(known["language"])
    asks = asks_of(known)
    for ask in asks:
        whole = await whole_report(env, first_run_id(described), ask)
        _write_ask(dataclasses.replace(ask, whole=whole), words, workflow_id)
    if not asks:
        write("nothing is asked")
    _write_past(known)
    return OK


def _write_ask(ask: Ask, words: Words, workflow_id: str) -> None:
    write(ask_text(ask, words) + "\n")
    report = report_text(ask)
    if report:
        write_markdown(report + "\n")
    write("\n".join(ways(workflow_id, ask, words)) + "\n")


def _write_past(known: dict[str, Any]) -> None:
    ended = [
        (r["id"], r["outcome"], r["by"], r["decided_at"], r["comment"] or r["text"])
        for r in cast("list[Any]", known["ended"])
    ]
    if ended:
        write("\n" + columns([("REQUEST", "ENDED AS", "BY", "AT", "COMMENT"), *ended]))
    messages = [
        (m["at"], m["name"], m["by"], m["request"], m["fate"], m["reason"])
        for m in cast("list[Any]", known["messages"] or [])
    ]
    if messages:
        head = ("AT", "MESSAGE", "BY", "REQUEST", "FATE", "REASON")
        write("\n" + columns([head, *messages]))
    elif known["messages"] is None:
        write("(no worker answers, so earlier requests and messages are not shown)")
