"""One Chat Completions call (REQUIREMENTS 218, 221-223; DESIGN, "Models").

No retries here: Temporal owns them, so HTTP requests never outnumber attempts; for the same reason
redirects are not followed. `openai` is slow to import and is loaded at the first call, in a thread.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from activities.model.profiles import Profile
from activities.model.reply import BODY_BYTES, read_reply
from activities.model.request import Reply, Request
from activities.model.schema import strict_schema

if TYPE_CHECKING:
    from openai import AsyncAPIResponse, AsyncOpenAI

_NO_KEY = "none"  # the client library insists on a key; servers that need none ignore it


class OpenAIClients:
    """Clients of OpenAI-compatible servers, one per profile, opened at first use."""

    def __init__(self) -> None:
        self._clients: dict[str, AsyncOpenAI] = {}

    async def complete(self, profile: Profile, request: Request[Any]) -> Reply:
        """Make the one call and read its reply; everything within `request.timeout` seconds.

        Cancelling closes the connection.

        Raises:
            openai.OpenAIError: the server refused, or could not be reached.
            TimeoutError: no whole reply in time.
            ReplyError: the reply cannot be used.
            ReportedError: the body of a 200 holds an error object.
        """
        client = await self._client(profile)
        # The client's own timeout is per read: a server that drips would never reach it.
        async with asyncio.timeout(request.timeout):
            call = client.chat.completions.with_streaming_response.create(
                model=profile.model,
                messages=[],
                # As it is, messages too: the client walks through every key of its own parameters.
                extra_body={
                    "messages": [
                        {"role": "system", "content": request.system},
                        {"role": "user", "content": request.user},
                    ],
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": {
                            "name": request.schema_name,
                            "strict": True,
                            "schema": strict_schema(request.reply),
                        },
                    },
                },
                timeout=request.timeout,
            )
            async with call as response:
                data = await _body(response)
        return read_reply(data, request)

    async def close(self) -> None:
        """Close every client; one that is used again is opened again."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.close()

    async def _client(self, profile: Profile) -> "AsyncOpenAI":
        if profile.name not in self._clients:
            opened = await asyncio.to_thread(_open, profile)
            if profile.name in self._clients:  # another call was faster
                await opened.close()
            else:
                self._clients[profile.name] = opened
        return self._clients[profile.name]


async def _body(response: "AsyncAPIResponse[Any]") -> bytes:
    """The body up to what `read_reply` accepts; the rest is never taken into memory.

    Raises:
        openai.APIConnectionError: the connection broke while it was read.
    """
    import httpx2  # noqa: PLC0415 - with openai, whose transport it is
    import openai  # noqa: PLC0415 - half a second: loaded where it is used

    data = bytearray()
    try:
        async for chunk in response.iter_bytes():
            data += chunk
            if len(data) > BODY_BYTES:
                break
    except httpx2.HTTPError as error:
        raise openai.APIConnectionError(request=response.http_request) from error
    return bytes(data)


def _open(profile: Profile) -> "AsyncOpenAI":
    import openai  # noqa: PLC0415 - half a second: loaded where it is used

    return openai.AsyncOpenAI(
        api_key=profile.api_key.get_secret_value() if profile.api_key else _NO_KEY,
        base_url=profile.base_url,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
    )
