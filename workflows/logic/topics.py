"""Which evidence belongs to a topic: declared by the source, or by the cover rule.

A source that declares a topic covers it; for a topic it does not declare, the cover rule counts.
"""

from collections.abc import Iterable

from workflows.contracts.evidence import Entry
from workflows.contracts.task import ResolvedTopic
from workflows.logic.terms import query_key


def declares(topics: Iterable[str], topic: ResolvedTopic) -> bool:
    """Whether a source declares the topic, by id or by question; width and case do not count."""
    names = {query_key(topic.id), query_key(topic.question)}
    return any(query_key(name) in names for name in topics)


def covers_topic(entry: Entry, topic: ResolvedTopic, index: int, threshold: float) -> bool:
    """Whether a passage is evidence for a topic."""
    if entry.kind == "empty" or not entry.number:
        return False
    return declares(entry.topics, topic) or entry.covers.get(str(index), 0.0) >= threshold
