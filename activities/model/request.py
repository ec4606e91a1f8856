"""What is asked of a model, and what came back."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from workflows.contracts.acts import TokenUsage

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Request(Generic[M]):
    """One model call.

    Attributes:
        reply: the model that makes the schema and validates the reply (REQUIREMENTS 219).
        schema_name: `next_action` or `answer`.
        timeout: seconds for everything, connecting and reading included.
        attempt: the attempt of the activity, from 1.
    """

    reply: type[M]
    schema_name: str
    system: str
    user: str
    timeout: float
    attempt: int = 1


@dataclass(frozen=True)
class Reply:
    """Content of an accepted first choice, not validated yet."""

    content: str
    usage: TokenUsage
