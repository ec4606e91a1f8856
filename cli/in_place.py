"""Requests of a run that is followed: shown as they come, and answered in place on a terminal.

One at a time, oldest first. A request that is decided elsewhere, or that ends, takes its question
off the screen; whoever says "later" is not asked again.
"""

import asyncio
import dataclasses
from typing import Any, Final, cast

from temporalio.service import RPCError

from cli.asks import Ask, ask_text, asks_of, report_text, ways, whole_report
from cli.choosing import changes, edited, is_yes
from cli.keyboard import is_terminal, typed
from cli.pasted import pasted
from cli.plain import line
from cli.queries import first_run_id
from cli.screen import Screen
from cli.sending import RefusedError, decision, send, user
from cli.session import Session
from cli.words import words_of

_SENDING: Final = 15.0  # seconds that a decision may be on its way when the run ends
_LETTERS: Final = {
    "a": "approve", "y": "approve", "r": "reject", "n": "reject", "e": "edit", "l": "later",
    "approve": "approve", "yes": "approve", "reject": "reject", "no": "reject", "edit": "edit",
    "later": "later", "批准": "approve", "拒绝": "reject", "修改": "edit", "稍后": "later",
}  # fmt: skip


class InPlace:
    """What a followed run asks of people."""

    def __init__(self, session: Session, workflow_id: str, screen: Screen) -> None:
        self._session = session
        self._id = workflow_id
        self._screen = screen
        self._asking = is_terminal() and not screen.events
        self._words = words_of("en")
        self._seen: set[str] = set()
        self._open: list[str] = []
        self._waiting: list[Ask] = []
        self._mine: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._now = ""  # the request whose answer is being typed
        self._sending = False
        self._closed = False

    async def take(self, known: dict[str, Any]) -> None:
        """Take over what query `requests` says: show what is new, drop what has ended."""
        self._words = words_of(str(known.get("language", "en")))
        asks = asks_of(known)
        self._open = [ask.id for ask in asks]
        await self._drop(cast("list[dict[str, Any]]", known["ended"]))
        for ask in asks:
            if ask.id in self._seen or self._closed:
                continue
            described = await self._session.client.get_workflow_handle(self._id).describe()
            whole = await whole_report(self._session.env, first_run_id(described), ask)
            self._seen.add(ask.id)
            self._waiting.append(dataclasses.replace(ask, whole=whole))
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._serve())

    async def close(self) -> None:
        """The run has ended, or nobody follows it any more: ask nothing, lose no decision."""
        self._closed = True
        self._waiting.clear()
        if self._sending and self._task is not None:
            await asyncio.wait([self._task], timeout=_SENDING)
        await self._give_up()

    async def _drop(self, ended: list[dict[str, Any]]) -> None:
        self._waiting = [ask for ask in self._waiting if ask.id in self._open]
        gone = self._now and self._now not in self._open
        if gone:
            await self._give_up()
        for item in ended:
            name = str(item["id"])
            if name in self._seen and name not in self._mine:
                self._mine.add(name)
                told = self._words(f"told_{item['outcome']}", id=name, by=item["by"])
                self._screen.say(line(told))

    async def _give_up(self) -> None:
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _serve(self) -> None:
        while self._waiting:
            ask = self._waiting.pop(0)
            self._screen.hold()
            try:
                self._show(ask)
                if self._asking:
                    await self._decided(ask)
            except Exception as error:  # noqa: BLE001 - told; no question costs a run's report
                told = f"{ask.id} cannot be asked here ({type(error).__name__}: {error})"
                self._screen.say(line(f"{told}; `{pasted('requests', self._id)}` shows it"))
            finally:
                self._now = ""
                self._screen.release()

    def _show(self, ask: Ask) -> None:
        self._screen.say("\n" + ask_text(ask, self._words))
        report = report_text(ask)
        if report and self._asking:
            self._screen.markdown(report)
        if not self._asking:
            whole = [pasted("requests", self._id)] if report else []
            for way in [*whole, *ways(self._id, ask, self._words)]:
                self._screen.say(f"  {way}")

    async def _decided(self, ask: Ask) -> None:
        """Ask until the run has taken a decision, or the person wants to leave it."""
        while True:
            self._now = ask.id
            try:
                payload = await self._payload(ask)
                if payload is None:
                    self._screen.say(self._words("told_later", id=ask.id))
                    return
                await self._sent(ask, payload)
            except RefusedError as error:
                self._screen.say(line(self._words("told_refused", reason=error)))
                if ask.id not in self._open:
                    return
            else:
                return

    async def _sent(self, ask: Ask, payload: dict[str, Any]) -> None:
        """Send a decision and tell what became of it; from here on nothing gives it up."""
        self._now, self._sending = "", True
        self._mine.add(ask.id)
        try:
            taken = await send(self._session, self._id, payload, answers=True)
        except RefusedError:
            self._mine.discard(ask.id)
            raise
        except RPCError as error:
            self._mine.discard(ask.id)
            raise RefusedError("not sent", error.message) from None
        finally:
            self._sending = False
        key = f"told_{taken.outcome}" if taken.outcome else "told_sent"
        told = self._words(key, id=ask.id, by=user(), command=pasted("requests", self._id))
        self._screen.say(line(told))

    async def _payload(self, ask: Ask) -> dict[str, Any] | None:
        """What a person decides; None for later."""
        if ask.kind == "question":
            text = await typed(self._words("ask_text", id=ask.id))
            return decision("answer", ask.id, user(), text=text) if text else None
        while True:
            line = await typed(self._words("ask_decide", id=ask.id))
            choice = "later" if line is None else _LETTERS.get(line.lower(), "")
            if choice == "later":
                return None
            if choice == "approve":
                return decision("approve", ask.id, user())
            if choice == "reject":
                comment = await typed(self._words("ask_comment"))
                if comment is not None and await self._final(ask, comment):
                    return decision("reject", ask.id, user(), comment=comment)
            elif choice == "edit":
                found = await self._edited(ask)
                if found is not None:
                    return found
            else:
                self._screen.say(self._words("ask_unread"))

    async def _final(self, ask: Ask, comment: str) -> bool:
        """Whether a rejection is meant; one without a comment ends the run."""
        if comment:
            return True
        return is_yes(await typed(self._words("ask_reject_final", id=ask.id, by=user())))

    async def _edited(self, ask: Ask) -> dict[str, Any] | None:
        edits = await edited(ask)
        if edits is None:
            self._screen.say(self._words("told_unchanged"))
            return None
        self._screen.say(changes(ask, edits))
        if is_yes(await typed(self._words("ask_approve_edited", id=ask.id, by=user()))):
            return decision("edit", ask.id, user(), edits=edits)
        return None
