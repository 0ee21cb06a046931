"""File names are bytes, text is Unicode: each name has one text, and each such text is that name again.

A name that is not UTF-8 cannot stand in JSON. Its stray bytes are shown as the private characters U+EF80 to U+EFFF. A
name that really holds one of those characters is shown byte by byte in the same way, so that no two names look alike.
"""

import os
import re

_BASE = 0xEF00
_STRAY = re.compile("[\udc80-\udcff]")
_PRIVATE = re.compile("[\uef80-\uefff]")


def shown(name: str) -> str:
    """A name as the operating system's calls give it, as text that is valid everywhere."""
    if name.isascii():
        return name
    plain = _PRIVATE.sub(lambda match: "".join(chr(_BASE + byte) for byte in match[0].encode()), name)
    return _STRAY.sub(lambda match: chr(ord(match[0]) - 0xDC00 + _BASE), plain)


def meant(text: str) -> str:
    """The name for the operating system's calls that `shown` made a text of."""
    if text.isascii():
        return text
    raw = _PRIVATE.sub(lambda match: chr(ord(match[0]) - _BASE + 0xDC00), text)
    # Stray bytes that together are a valid character are that character.
    return os.fsdecode(os.fsencode(raw))
