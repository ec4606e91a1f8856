"""Active time: what a run is charged for (DESIGN, "State and history: Time").

At each activation it grows by min(now - last tick, longest start-to-close in flight), and by 0
when nothing is in flight: waiting for people is free and an outage of the workers costs at most
the timeout of the act it interrupted (REQUIREMENTS 157).
"""

EXECUTION_MARGIN = 30.0  # seconds before a server execution timeout at which a run closes
CLOSING_RESERVE = 60.0  # seconds kept back by code for closing


def closing_reserve(limit: float) -> float:
    """Seconds of a run's active time that are kept back for closing: 60, of a short run a tenth."""
    return min(CLOSING_RESERVE, limit / 10)


def active_delta(now: float, last_tick: float, longest_in_flight: float) -> float:
    """Seconds to charge since the last tick; clocks that run backwards charge nothing."""
    return max(0.0, min(now - last_tick, longest_in_flight))


def execution_deadline(started: float, execution_timeout: float | None) -> float | None:
    """When to close because the server will end the run: 30 s before, or half of a short one."""
    if not execution_timeout:
        return None
    return started + execution_timeout - min(EXECUTION_MARGIN, execution_timeout / 2)
