"""A model server's replies, and what tests send to it."""

import json
from typing import Any

from pydantic import SecretStr
from pytest_httpserver import HTTPServer

from activities.model.profiles import Profile, Profiles
from activities.model.request import Request
from workflows.contracts.decision import NextAction

PATH = "/v1/chat/completions"
KEY = "sk-canary-4711-abcdef"
SEARCH: dict[str, Any] = {
    "plan": ["look up agent_loop", "wrap up"],
    "action": "search",
    "query": "agent_loop",
    "sufficient": False,
    "draft": "",
}


def completion(content: Any, **choice: Any) -> dict[str, Any]:
    """The body of a normal completion; `choice` replaces fields of its first choice."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text, "refusal": None},
                **choice,
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def profile_at(url: str, **fields: Any) -> Profile:
    """A profile of the server at an address."""
    given: dict[str, Any] = {
        "name": "default",
        "kind": "openai",
        "model": "m",
        "base_url": url,
        "api_key": SecretStr(KEY),
        "display": "m",
    }
    return Profile(**(given | fields))


def profiles_at(server: HTTPServer) -> Profiles:
    """The profiles of a worker whose default model is the test server."""
    default = profile_at(server.url_for("/v1"))
    return Profiles([default], {"planner": "default", "executor": "default", "judge": "default"})


def next_action(timeout: float = 10.0, **fields: Any) -> Request[NextAction]:
    """A request for a decision."""
    given: dict[str, Any] = {"system": "rules", "user": '{"goal": "g"}'} | fields
    return Request(reply=NextAction, schema_name="next_action", timeout=timeout, **given)
