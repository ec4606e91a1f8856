"""A model for plans, behind real HTTP: answers by schema, honestly unless told to lie.

A script is a table from schema name (`plan`, `step_action`, `written_result`, `support`, `goal`,
`topic`, `conflicts`) to a function from the request's user message to a reply, or to a list of
such replies in order. What is not in the table is answered as an honest model would.
"""

import json
import re
import threading
from collections.abc import Callable
from typing import Any

Reply = dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]
_DATA = re.compile(r"<data>(.*?)</data>", re.DOTALL)


class PlannedModel:
    """Replies for `ScriptedModel.script`: `model.script(PlannedModel(...))`."""

    def __init__(self, **script: Reply | list[Any]) -> None:
        self._script: dict[str, Any] = {
            name: list(replies) if isinstance(replies, list) else replies
            for name, replies in script.items()
        }
        self._lock = threading.Lock()
        self.tokens: tuple[int, int] = (100, 10)  # what the server says that a call took
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def count(self, name: str) -> int:
        """How often a schema was asked for."""
        return sum(asked == name for asked, _ in self.asked)

    def users(self, name: str) -> list[dict[str, Any]]:
        """The user messages of a schema, in order."""
        return [user for asked, user in self.asked if asked == name]

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to a Chat Completions request."""
        name = request["response_format"]["json_schema"]["name"]
        user = json.loads(request["messages"][-1]["content"])
        with self._lock:
            self.asked.append((name, user))
            reply = self._script.get(name, HONEST[name])
            if isinstance(reply, list):
                reply = reply.pop(0) if len(reply) > 1 else reply[0]
        made: Any = reply(user) if callable(reply) else reply
        if isinstance(made, dict) and "kind" in made and made["kind"] in _KINDS:
            return made
        return {"kind": "decision", "value": made, "tokens": self.tokens}


_KINDS = ("http", "hang", "error", "body", "no_choices", "raw", "decision")


def step(id_: str, goal: str, *, topics: list[str], **more: Any) -> dict[str, Any]:
    """A step as the planner writes it."""
    return {
        "id": id_,
        "goal": goal,
        "accept": "at least one quote that names it",
        "depends_on": [],
        "expected_output": "",
        "topics": topics,
        "tool_hint": "",
        "risk": "low",
        "required": True,
        **more,
    }


def plan_for(user: dict[str, Any]) -> dict[str, Any]:
    """One step a topic; a single topic gets two."""
    topics = [t if isinstance(t, str) else t["id"] for t in user["required_topics"]]
    steps = [step(f"s{n}", f"Find {topic}", topics=[topic]) for n, topic in enumerate(topics, 1)]
    if len(steps) == 1:
        steps.append(step("s2", f"Find more on {topics[0]}", topics=topics, depends_on=["s1"]))
    return {"steps": steps}


def action(kind: str, *queries: str, **more: Any) -> dict[str, Any]:
    """A `step_action` reply."""
    return {
        "answer_quote": "",
        "enough": "no",
        "action": kind,
        "queries": list(queries),
        "evidence_id": "",
        "locator": "",
        "tool": "",
        "arguments_json": "",
        "question": "",
        **more,
    }


def act(user: dict[str, Any]) -> dict[str, Any]:
    """Search the step's topics once, then write."""
    if sources(user) or "search" not in user["allowed_actions"]:
        return action("write", enough="yes")
    return action("search", *queries_of(user))


def queries_of(user: dict[str, Any]) -> list[str]:
    """What an honest model would search for."""
    topics = [t if isinstance(t, str) else t["id"] for t in user["step"].get("topics", [])]
    return [topic[:80] for topic in topics[:3]] or [user["step"]["goal"][:80]]


def sources(user: dict[str, Any]) -> list[tuple[str, str]]:
    """(evidence id, first passage) of what the request shows."""
    return [
        (source["id"], found[1].strip())
        for source in user.get("evidence", [])
        if source.get("passages") and (found := _DATA.search(source["passages"][0]))
    ]


def id_of(user: dict[str, Any], word: str) -> str:
    """The evidence id of the source whose passages, as the request shows them, hold a word."""
    return next(s["id"] for s in user["evidence"] if word in str(s["passages"]))


def sentence(passage: str) -> str:
    """The first sentence of a passage."""
    return re.split(r"(?<=[.!?])\s|(?<=[。！？])", passage.strip())[0]


def claim(text: str, *quotes: tuple[str, str], **more: Any) -> dict[str, Any]:
    """A written claim with its marks."""
    marks = "".join(f"[{number}]" for number in dict.fromkeys(number for number, _ in quotes))
    return {
        "text": f"{text} {marks}".strip(),
        "kind": "fact",
        "quotes": [{"evidence_id": number, "quote": quote} for number, quote in quotes],
        "topics": [],
        "expression": "",
        **more,
    }


def write(user: dict[str, Any]) -> dict[str, Any]:
    """One claim a source: its first sentence, quoted."""
    topics = [t if isinstance(t, str) else t["id"] for t in user["step"].get("topics", [])]
    claims = [
        claim(sentence(passage), (number, sentence(passage)), topics=topics)
        for number, passage in sources(user)[:3]
    ]
    if not claims:
        return {"insufficient": "the sources say nothing of it", "claims": []}
    return {"insufficient": "", "claims": claims}


def support(verdict: str = "supported", **more: Any) -> dict[str, Any]:
    """A `support` reply."""
    return {
        "verdict": verdict,
        "limitation": "",
        "counter_evidence_id": "",
        "counter_quote": "",
        "problem": "" if verdict == "supported" else "scripted",
        **more,
    }


def goal(score: Any = 0.9, **more: Any) -> dict[str, Any]:
    """A `goal` reply."""
    return {"score": score, "passed": True, "reason": "scripted", **more}


def topic(user: dict[str, Any]) -> dict[str, Any]:
    """Every finding answers."""
    return {"answer": "answered", "claims": [each["number"] for each in user["findings"]]}


HONEST: dict[str, Reply] = {
    "plan": plan_for,
    "step_action": act,
    "written_result": write,
    "support": support(),
    "goal": goal(),
    "topic": topic,
    "conflicts": {"conflicts": []},
}
