"""structlog and standard logging through one formatter, to standard error.

Lines of both kinds look the same (`console` for people, `json` for machines), carry the workflow
and activity they belong to, and are masked: values of the known secrets, and whatever looks like a
key, never reach a log (REQUIREMENTS 226).
"""

import json
import logging
import re
import sys
from collections.abc import Iterable
from typing import Any, Final, Literal, TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger
from temporalio import activity, workflow

_MASK: Final = "***"
_SHORTEST_SECRET: Final = 6  # masking every 'test' would make a log unreadable
_KEYS: Final = re.compile(  # what stands before a key is kept
    r"()\bsk-[A-Za-z0-9_-]{8,}"  # what providers' keys look like
    r"|(\bbearer )[A-Za-z0-9._~+/=-]+"
    r"|(\bauthorization[\"']?\s*[:=]\s*[\"']?)(?:[a-z]+ )?[^\"'\s,}]+"
    r"|(\b(?:x-)?api[-_]?key[\"']?\s*[:=]\s*[\"']?)[^\"'\s,}&]+",
    re.IGNORECASE,
)
_QUIET: Final = ("temporalio", "httpx", "httpcore", "httpx2", "httpcore2", "openai", "asyncio")
_OURS_IN_SDK: Final = ("temporalio.workflow", "temporalio.activity")
_CONTEXT: Final = {
    "workflow_id": "workflow_id",
    "run_id": "run_id",
    "workflow_run_id": "run_id",
    "workflow_type": "workflow",
    "activity_type": "activity",
    "attempt": "attempt",
}


def configure_logging(
    kind: Literal["console", "json"] = "console",
    *,
    secrets: Iterable[str] = (),
    level: int = logging.INFO,
    stream: TextIO | None = None,
) -> None:
    """Set logging up for this process; calling it again replaces what was set.

    Args:
        kind: `console` or `json`.
        secrets: values that must never be written (`Env.secrets`).
        level: the least severe level shown.
        stream: where to; standard error by default.
    """
    out = stream or sys.stderr
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.stdlib.ExtraAdder(allow=["temporal_workflow", "temporal_activity"]),
        _add_context,
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *_renderers(kind, colors=out.isatty()),
            _masking(secrets),
        ],
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    for old in list(root.handlers):
        if isinstance(old.formatter, structlog.stdlib.ProcessorFormatter):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    for name in _OURS_IN_SDK:
        logging.getLogger(name).setLevel(level)
    # The context stands in fields; in the message as well it would be there twice.
    workflow.logger.workflow_info_on_message = False
    activity.logger.activity_info_on_message = False
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _renderers(kind: str, *, colors: bool) -> list[Processor]:
    if kind == "json":
        return [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
        ]
    # Not the default tracebacks: they print local variables, which hold keys and contents.
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain)]


def _add_context(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Merge in which workflow and activity a line belongs to."""
    for key in ("temporal_workflow", "temporal_activity"):
        _merge(event, event.pop(key, None))
    if activity.in_activity():
        info = activity.info()
        known = {
            "workflow_id": info.workflow_id,
            "run_id": info.workflow_run_id,
            "activity": info.activity_type,
            "attempt": info.attempt,
        }
        for key, value in known.items():
            event.setdefault(key, value)
    return event


def _merge(event: EventDict, found: Any) -> None:
    if isinstance(found, dict):
        fields = cast("dict[str, Any]", found)
        for source, target in _CONTEXT.items():
            if source in fields:
                event.setdefault(target, fields[source])


def _masking(secrets: Iterable[str]) -> Processor:
    """The last processor: masks the finished line, tracebacks included."""
    long_enough = [secret for secret in secrets if len(secret) >= _SHORTEST_SECRET]
    forms = {
        form
        for secret in long_enough
        for form in (secret, *(json.dumps(secret, ensure_ascii=a)[1:-1] for a in (True, False)))
    }
    # The longest first: one secret can be a part of another.
    known = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or r"(?!)")

    def mask(_logger: WrappedLogger, _method: str, line: EventDict) -> str:
        text = known.sub(_MASK, str(line))  # rendered by now
        return _KEYS.sub(lambda match: "".join(filter(None, match.groups())) + _MASK, text)

    return mask
