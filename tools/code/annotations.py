"""Names in quoted annotations, `x: "Node"`: they are code, though they stand between quotes."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tools.code.scopes import Place
from tools.code.tree import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")


def quoted(node: "Node") -> Iterator[tuple[str, Place]]:
    """The names in the strings of an annotation; not in those that are values (`Literal["a"]`)."""
    stack = [node]
    while stack:
        each = stack.pop()
        if each.type in ("generic_type", "subscript") and _of_values(each):
            continue
        if each.type == "string" and each.named_child_count == 3:
            yield from _names(each.named_children[1])
        else:
            stack.extend(each.named_children)


def _of_values(node: "Node") -> bool:
    return text_of(node.named_children[0]).rpartition(".")[2] in ("Literal", "Annotated")


def _names(content: "Node") -> Iterator[tuple[str, Place]]:
    if content.type != "string_content" or content.named_child_count:
        return
    text = text_of(content)
    if "'" in text or '"' in text or "\n" in text:
        return
    for match in _NAME.finditer(text):
        start = content.start_byte + len(text[: match.start()].encode())
        line = content.start_point[0] + 1
        yield match[0], Place(start, start + len(match[0].encode()), line, "quoted")
