"""Errors that people see as one line, without a traceback (exit code 2).

`UsageError` is the root; its subclasses say what kind of thing to put right. Messages name what was
found, where, and what is expected; they never hold the value of a secret.
"""


class UsageError(Exception):
    """Something the person at the keyboard can put right: a setting, an argument, a path."""


class ConnectError(UsageError):
    """The configured Temporal server does not answer, or refuses us."""


class ServerError(UsageError):
    """The embedded Temporal server cannot be started or joined."""
