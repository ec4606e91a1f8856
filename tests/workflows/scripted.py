"""A scripted model behind a real HTTP server, and a scripted search tool: fakes of the world.

Kinds of replies are those of the case files: decision, raw, error, http, no_choices, hang.
"""

import json
import select
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from workflows.logic.terms import query_key

HANG_SECONDS = 120.0  # longer than any time limit of a test; a hanging reply is never waited for


class ScriptedModel:
    """Answers Chat Completions requests with replies in order; keeps every request body."""

    def __init__(self) -> None:
        self.replies: list[dict[str, Any]] | Callable[[dict[str, Any]], dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.left: list[float] = []  # when clients closed connections that never got an answer
        self._released = threading.Event()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                request = json.loads(self.rfile.read(length))
                model.requests.append(request)
                model._answer(self, request)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Base URL as OPENAI_BASE_URL takes it."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def script(self, replies: Any) -> None:
        """Start a new script: a list of replies, or a function from request to reply."""
        self._released.set()
        self._released = threading.Event()
        self.replies = replies
        self.requests, self.left = [], []

    def user_messages(self) -> list[dict[str, Any]]:
        """The JSON of the user message of each request."""
        return [json.loads(r["messages"][-1]["content"]) for r in self.requests]

    def _answer(self, handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        released = self._released
        if callable(self.replies):
            reply = self.replies(request)
        elif len(self.requests) <= len(self.replies):
            reply = self.replies[len(self.requests) - 1]
        else:
            reply = dict[str, Any](kind="http", status=500)
        kind = reply["kind"]
        if kind == "hang" or reply.get("error") in ("request_timeout", "builtin_timeout"):
            if _has_left(handler.connection, released):
                self.left.append(time.time())
            handler.close_connection = True
        elif kind == "error" and reply["error"] == "connection_error":
            handler.connection.close()
            handler.close_connection = True
        elif kind in ("http", "error"):
            self._send(handler, reply.get("status", 500), {"error": {"message": "scripted"}})
        else:
            time.sleep(reply.get("sleep", 0))
            self._send(handler, 200, _completion(reply))

    def _send(self, handler: BaseHTTPRequestHandler, status: int, body: Any) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


def _has_left(connection: socket.socket, released: threading.Event) -> bool:
    """Never answer; whether the client closed the connection before the script ended."""
    ends = time.monotonic() + HANG_SECONDS
    while not released.is_set() and time.monotonic() < ends:
        readable, _, _ = select.select([connection], [], [], 0.02)
        if readable:
            return not connection.recv(1, socket.MSG_PEEK)
    return False


def decision(
    action: str, query: str = "", *, draft: str = "", sufficient: bool = False
) -> dict[str, Any]:
    """A reply that is a decision of the react loop."""
    plan = [f"look up {query}"[:120], "wrap up"] if query else ["wrap up"]
    value = {
        "plan": plan,
        "action": action,
        "query": query,
        "sufficient": sufficient,
        "draft": draft,
    }
    return {"kind": "decision", "value": value}


def _completion(reply: dict[str, Any]) -> Any:
    if reply["kind"] == "body":
        return reply["body"].encode() if isinstance(reply["body"], str) else reply["body"]
    if reply["kind"] == "no_choices":
        return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    if reply["kind"] == "decision":
        content, finish, refusal = json.dumps(reply["value"], ensure_ascii=False), "stop", None
    else:
        content, finish, refusal = reply["content"], reply["finish_reason"], reply["refusal"]
    message = {"role": "assistant", "content": content, "refusal": refusal}
    prompt, written = reply.get("tokens", (100, 10))
    total = prompt + written
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": total},
    }


class ScriptedSearch:
    """The teaching search: a corpus matched by query key, or results in call order."""

    def __init__(self) -> None:
        self.results: str | list[dict[str, Any]] = "corpus"
        self.corpus: list[dict[str, Any]] = []
        self.queries: list[str] = []

    def script(self, results: Any, corpus: list[dict[str, Any]]) -> None:
        """Start a new script."""
        self.results, self.corpus, self.queries = results, corpus, []

    def __call__(self, query: str) -> Any:
        """Answer one search, in a thread of the worker."""
        self.queries.append(query)
        if self.results == "corpus":
            return {"ok": True, "items": self._matching(query), "error": ""}
        step: Any = self.results[len(self.queries) - 1]
        time.sleep(step.get("sleep", 0))
        if "raises" in step:
            kinds: dict[str, type[Exception]] = {
                "OSError": OSError,
                "ConnectionError": ConnectionError,
                "TimeoutError": TimeoutError,
            }
            raise kinds.get(step["raises"], RuntimeError)("scripted")
        return step["returns"]

    def _matching(self, query: str) -> list[dict[str, Any]]:
        key = query_key(query)
        return [
            {k: v for k, v in note.items() if k != "keywords"}
            for note in self.corpus
            if any(query_key(word) in key for word in note["keywords"])
        ]
