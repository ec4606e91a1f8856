"""What a terminal does with the bytes of a log, and no reader sees: colours, links, spinners.

Escape sequences go; a character behind which the cursor steps back is overwritten by the next one.
Only on bytes of one-byte or of UTF-8-like encodings, in which none of these bytes is part of a
character.
"""

import re
from typing import Final

# Colours and movements (CSI), titles and links (OSC, OSC 8): ECMA-48, 5.4 and 5.6. What other
# sequences begin with also switches the characters of ISO 2022 and is left to its decoder.
_SEQUENCE: Final = re.compile(rb"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\))")
_BACK: Final = re.compile(rb"(\x08+)")
# Double strikes: manual pages print a bold letter twice and underline by a line at its place.
_DOUBLE: Final = re.compile(rb"([\x00-\x7f]|[\xc0-\xff][\x80-\xbf]+)\x08(?=\1)|_\x08|\x08_")


def as_shown(data: bytes) -> bytes:
    """The bytes of a text as a terminal shows them in the end."""
    if b"\x1b" in data:
        data = _SEQUENCE.sub(b"", data)
    if b"\x08" not in data:
        return data
    data = _DOUBLE.sub(b"", data)
    if b"\x08" not in data:
        return data
    return b"\n".join(_stepped_back(line) for line in data.split(b"\n"))


def _stepped_back(line: bytes) -> bytes:
    if b"\x08" not in line:
        return line
    shown = bytearray()
    for place, part in enumerate(_BACK.split(line)):
        if place % 2 == 0:
            shown += part
        else:
            _step_back(shown, len(part))
    return bytes(shown)


def _step_back(shown: bytearray, characters: int) -> None:
    for _ in range(characters):
        while shown and 0x80 <= shown[-1] < 0xC0:  # noqa: PLR2004 - all but the first of UTF-8
            shown.pop()
        if not shown:
            return
        shown.pop()
