"""A workflow that shows what it was given; the worker of the converter's tests runs it."""

import random
from typing import Any

from temporalio import workflow


@workflow.defn(name="Echo")
class Echo:
    """Ends on the first signal, with its input, its signals and what unknown ones brought."""

    @workflow.init
    def __init__(self, *args: Any) -> None:
        self._initial = list(args)
        self._signals: list[list[Any]] = []

    @workflow.run
    async def run(self, *args: Any) -> dict[str, Any]:
        """Give back what came in."""
        wait = bool(args) and args[0] == "wait"
        await workflow.wait_condition(lambda: not wait or len(self._signals) > 0)
        return {"initial": self._initial, "input": list(args), "signals": self._signals}

    @workflow.signal
    def note(self, *args: Any) -> None:
        """Keep whatever comes."""
        self._signals.append(list(args))

    @workflow.query
    def show(self, *args: Any) -> list[Any]:
        """Give back what was asked with."""
        return list(args)

    @workflow.update
    def change(self, *args: Any) -> list[Any]:
        """Give back what came."""
        return list(args)


@workflow.defn(failure_exception_types=[Exception])
class Rolls:
    """Rolls dice, once with the run's own random numbers and once with what replay forbids."""

    @workflow.run
    async def run(self, forbidden: bool) -> int:
        """A number; with `forbidden`, the sandbox refuses it."""
        return random.randint(1, 6) if forbidden else workflow.random().randint(1, 6)
