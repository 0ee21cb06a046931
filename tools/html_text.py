"""The visible text of an HTML page, in time linear in its size: pages come from anybody.

The parser of the standard library takes hours for a megabyte of `<a `.
"""

import re
from collections.abc import Iterator
from html import unescape

_BLOCK_TAGS = "p div br li tr h1 h2 h3 h4 h5 h6 pre section article table ul ol dt dd"
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "head"})
#: Elements whose content has no tags.
_RAW = frozenset({"script", "style"})
#: A tag to its end; a quoted value may contain `>`. Nothing here is tried twice: each group is possessive.
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)((?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+)>")
#: More digits than any character has, which `unescape` would convert in quadratic time or not at all.
_HUGE_NUMBER = re.compile(r"&#(?:[xX][0-9a-fA-F]{9,}|[0-9]{9,});?")


def visible_text(page: str) -> str:
    """Its lines, with spaces collapsed and no more than one empty line between two others."""
    text = "".join(_texts(page))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return "\n".join(line for line, before in zip(lines, ["", *lines], strict=False) if line or before)


def _texts(page: str) -> Iterator[str]:
    """The texts between the tags, and a line break for each block."""
    place, unseen = 0, 0
    while place < len(page):
        start = page.find("<", place)
        if start < 0:
            start = len(page)
        if start > place and not unseen:
            yield _plain(page[place:start])
        if start == len(page):
            return
        tag = _TAG.match(page, start)
        if tag is None:
            end = _end_of_other(page, start)
            if end == start + 1 and not unseen:
                yield "<"
            place = end
            continue
        place, closing, name = tag.end(), bool(tag[1]), tag[2].lower()
        if name in _UNSEEN:
            # `<svg/>` has no content; other elements ignore the slash.
            alone = name == "svg" and tag[3].endswith("/")
            unseen = max(unseen - 1, 0) if closing else unseen + (not alone)
        elif name in _BLOCKS:
            yield "\n"
        if name in _RAW and not closing:
            found = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(page, place)
            place = found.start() if found else len(page)


def _end_of_other(page: str, start: int) -> int:
    """Where a comment, a declaration or a tag without an end stops. A `<` that begins nothing is a character."""
    if page.startswith("<!--", start):
        # `<!-->` is a whole comment.
        end, length = page.find("-->", start + 2), 3
    elif page[start + 1 : start + 2] in ("!", "?") or page.startswith("</", start):
        end, length = page.find(">", start), 1
    elif page[start + 1 : start + 2].isalpha() and page[start + 1 : start + 2].isascii():
        end, length = -1, 0
    else:
        return start + 1
    return end + length if end >= 0 else len(page)


def _plain(text: str) -> str:
    return unescape(_HUGE_NUMBER.sub("\ufffd", text))
