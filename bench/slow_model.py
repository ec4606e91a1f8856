"""An honest model whose every call takes 200 ms, in a process of its own as a real one is.

Prints its base URL and serves until its standard input ends.
"""

import sys
from typing import Any, Final

from tests.workflows.planned import PlannedModel
from tests.workflows.scripted import ScriptedModel

CALL_SECONDS: Final = 0.2


class Slow(PlannedModel):
    """Honest, and late."""

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply, late."""
        return {**super().__call__(request), "sleep": CALL_SECONDS}


def main() -> None:
    """Serve."""
    with ScriptedModel() as model:
        model.script(Slow())
        print(model.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
