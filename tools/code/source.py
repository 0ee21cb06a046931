"""One source file, its syntax tree, and helpers for tree nodes."""

import codecs
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from tools.code.languages import Language, language_of, parse

if TYPE_CHECKING:
    from tree_sitter import Node, Query

#: Languages whose scopes are analyzed. In the others a name is only a name.
Family = Literal["python", "script"]
PYTHON_SUFFIXES = (".py", ".pyi")
SCRIPT_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_TYPE_STAR = re.compile(rb"(\bexport\s+)type(\s+\*)")
_MAX_ERRORS = 100
_GARBLED = 2_000
_WORD_BYTES = frozenset(bytes([byte]) for byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$")


def family_of(path: str) -> Family | None:
    if path.endswith(PYTHON_SUFFIXES):
        return "python"
    return "script" if path.endswith(SCRIPT_SUFFIXES) else None


class SourceText:
    """A file's content; the tree is parsed on first use. All byte offsets count from the start of `text`."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content
        self.language: Language | None = language_of(path)
        self.family: Family | None = family_of(path)
        self.bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        self.text = content[len(self.bom) :]
        self._is_cut = False

    @cached_property
    def root(self) -> "Node":
        assert self.language is not None
        text = self.text
        if self.family == "script" and b"type" in text:
            # The grammar lacks `export type *`; blanks keep every offset.
            text = _TYPE_STAR.sub(lambda match: match[1] + b" " * 4 + match[2], text)
        root, self._is_cut = parse(self.language, text)
        return root

    @property
    def language_name(self) -> str:
        return self.language.name if self.language else ""

    @cached_property
    def errors(self) -> list[int]:
        """The first lines with a syntax error."""
        found: list[int] = []
        stack = [self.root] if self.root.has_error else []
        while stack and len(found) < _MAX_ERRORS:
            node = stack.pop()
            if node.is_error or node.is_missing:
                found.append(line_of(node))
            elif node.has_error:
                stack.extend(reversed(node.children))
        if self._is_cut and not found:
            found.append(self.root.end_point[0] + 1)
        return found

    @cached_property
    def is_garbled(self) -> bool:
        """Whether the grammar can make no sense of a long run of tokens."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            if node.is_error and node.child_count > _GARBLED:
                return True
            if node.has_error:
                stack.extend(node.children)
        return False

    @cached_property
    def is_utf8(self) -> bool:
        try:
            self.text.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    @property
    def is_valid(self) -> bool:
        return self.is_utf8 and not self.errors

    def named(self, word: str) -> Iterator["Node"]:
        """Yield every identifier of that name in order, not those in strings and comments."""
        if self.language is None:
            return
        name, text = word.encode(), self.text
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            if text[start - 1 : start] not in _WORD_BYTES and text[end : end + 1] not in _WORD_BYTES:
                node = self.node_at(start, end)
                if node is not None and "identifier" in node.type and node.type != "private_property_identifier":
                    yield node
            start = text.find(name, end)

    def node_at(self, start: int, end: int) -> "Node | None":
        """Return the node that covers exactly these bytes."""
        node = self.root.descendant_for_byte_range(start, end)
        return node if node is not None and (node.start_byte, node.end_byte) == (start, end) else None

    def line(self, number: int) -> str:
        lines = self.content.split(b"\n", number)
        return lines[number - 1].decode("utf-8", "replace").strip() if number <= len(lines) else ""


def captures(query: "Query", source: SourceText) -> "dict[str, list[Node]]":
    """What the query finds, by name. Nothing in a garbled file, where it would take quadratic time."""
    from tree_sitter import QueryCursor

    return {} if source.is_garbled else QueryCursor(query).captures(source.root)


def text_of(node: "Node | None") -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def line_of(node: "Node") -> int:
    return node.start_point[0] + 1


def is_field(node: "Node", name: str) -> bool:
    return node.parent is not None and node.parent.child_by_field_name(name) == node


def ancestors(node: "Node") -> Iterator["Node"]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def descendants(node: "Node") -> Iterator["Node"]:
    """Yield the named nodes below this one in text order, without recursion: generated code nests deeply."""
    stack = [*reversed(node.named_children)]
    while stack:
        child = stack.pop()
        yield child
        stack.extend(reversed(child.named_children))
