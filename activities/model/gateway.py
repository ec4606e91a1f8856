"""One validated model call, whatever the profile (DESIGN, "Models").

The pydantic model that made the schema validates the reply strictly; what a server enforces is
never trusted (REQUIREMENTS 57, 219).
"""

from pydantic import ValidationError
from temporalio.exceptions import ApplicationError

from activities.model.errors import application_error
from activities.model.openai_client import OpenAIClients
from activities.model.profiles import Profile, ProfileError, Profiles
from activities.model.reply import ReplyError, ReportedError
from activities.model.request import M, Reply, Request
from activities.model.tokens import estimate_tokens
from workflows.contracts.acts import TokenUsage
from workflows.contracts.names import MODEL_ERROR

_SHOWN_PROBLEMS = 3


class Gateway:
    """The only way to a model server."""

    def __init__(self, profiles: Profiles) -> None:
        self.profiles = profiles
        self._clients = OpenAIClients()

    def profile(self, name: str) -> Profile:
        """The profile of a name.

        Raises:
            ApplicationError: type `ModelError`, retryable: another worker may have it.
        """
        try:
            return self.profiles.get(name)
        except ProfileError as error:
            raise ApplicationError(f"This worker has {error}.", type=MODEL_ERROR) from None

    async def complete(self, profile: Profile, request: Request[M]) -> tuple[M, TokenUsage]:
        """Call the model of an `openai` profile once and validate its reply.

        Raises:
            ApplicationError: type `ModelError` or `ProtocolError`, details one `FailedAct`.
            asyncio.CancelledError: passed on; the connection is closed.
        """
        reply = await self._reply(profile, request)
        try:
            return _validated(reply, request), reply.usage
        except ReplyError as error:
            raise application_error(error, profile, reply.usage) from None

    async def _reply(self, profile: Profile, request: Request[M]) -> Reply:
        usage = TokenUsage(
            prompt_tokens=estimate_tokens(request.system + request.user),
            estimated=True,
            attempt=request.attempt,
        )
        try:
            return await self._clients.complete(profile, request)
        except _failures() as error:
            # Without the cause: it would carry the server's raw words into the history.
            raise application_error(error, profile, usage) from None

    async def content(self, profile: Profile, request: Request[M]) -> tuple[str, TokenUsage]:
        """Call the model once and give its content as it came; who asks validates it.

        Raises:
            ApplicationError, asyncio.CancelledError: as `complete`.
        """
        reply = await self._reply(profile, request)
        return reply.content, reply.usage

    async def close(self) -> None:
        """Close the connections."""
        await self._clients.close()


def _failures() -> tuple[type[Exception], ...]:
    """What a call may fail with; asked for only when something was raised.

    So the slow import of `openai` is left to the client, which does it in a thread.
    """
    import openai  # noqa: PLC0415

    return (openai.OpenAIError, TimeoutError, ReplyError, ReportedError)


def _validated(reply: Reply, request: Request[M]) -> M:
    try:
        return request.reply.model_validate_json(reply.content)
    except ValidationError as error:
        raise ReplyError(problems_of(error), reply.usage) from None


def problems_of(error: ValidationError) -> str:
    """The first problems of a reply in a line, without what was found: that may be long."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    shown = [
        ": ".join(part for part in (".".join(map(str, each["loc"])), each["msg"]) if part)
        for each in found[:_SHOWN_PROBLEMS]
    ]
    more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return "; ".join(shown) + more
