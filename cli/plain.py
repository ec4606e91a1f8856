r"""Foreign text that is shown: a terminal sees every character and obeys none.

Names, comments, ids and signals come from whoever may signal a run. Control and direction
characters are shown as JSON writes them (`\u001b`): what is shown of an object stays that object.
"""

import re
from typing import Final

_OBEYED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Text of several lines, whatever it holds."""
    return _OBEYED.sub(lambda m: f"\\u{ord(m.group()):04x}", text.replace("\r\n", "\n"))


def line(text: object) -> str:
    """Text on one line: a line end of somebody else could begin what looks like a line of ours."""
    return plain(" ".join(str(text).split()))


def indented(text: str, by: str = "  ") -> str:
    """Text of somebody else in a block of its own: each of its lines is indented."""
    return "\n".join(by + each for each in plain(text).splitlines())
