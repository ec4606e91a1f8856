"""What the rules of plans ask of a step or a result: anything with these fields will do."""

from collections.abc import Sequence
from typing import Protocol


class Node(Protocol):
    """A step in a graph."""

    @property
    def id(self) -> str:
        """Its id, compared exactly."""
        ...

    @property
    def depends_on(self) -> Sequence[str]:
        """Ids of the steps it waits for."""
        ...


class Goal(Protocol):
    """A step with what it is to find."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def goal(self) -> str:
        """What it is to find."""
        ...

    @property
    def topics(self) -> Sequence[str]:
        """Ids of the topics it serves."""
        ...


class Result(Protocol):
    """A result that is kept."""

    @property
    def goal(self) -> str:
        """What it was to find."""
        ...

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        ...

    @property
    def topics(self) -> Sequence[str]:
        """Ids of the topics it served."""
        ...
