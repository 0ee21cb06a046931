"""A source file as a syntax tree."""

import codecs
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from tools.code.languages import language_of, parser

if TYPE_CHECKING:
    from tree_sitter import Node

Family = Literal["python", "script"]
_TYPE_STAR = re.compile(rb"(\bexport\s+)type(\s+\*\s)")
PYTHON = (".py", ".pyi")
SCRIPT = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")


class Source(NamedTuple):
    """`text` is the content without its byte order mark: all places count from there."""

    path: str
    family: Family
    text: bytes
    bom: bytes
    root: "Node"
    #: Lines with a syntax error, the first ones.
    errors: tuple[int, ...]


def family_of(path: str) -> Family | None:
    if path.endswith(PYTHON):
        return "python"
    return "script" if path.endswith(SCRIPT) else None


def parsed(path: str, content: bytes) -> Source | None:
    """Nothing for a language that is not understood, and for what is not UTF-8."""
    family, language = family_of(path), language_of(path)
    if family is None or language is None:
        return None
    bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    text = content[len(bom) :]
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return None
    # The grammar does not know `export type *`; blanks in place of the word leave every place where it is.
    known = text if family == "python" else _TYPE_STAR.sub(lambda found: found[1] + b" " * 4 + found[2], text)
    root = parser(language.module, language.function).parse(known).root_node
    return Source(path, family, text, bom, root, tuple(_errors(root)) if root.has_error else ())


def _errors(root: "Node") -> Iterator[int]:
    found = 0
    stack = [root]
    while stack and found < 10:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            found += 1
            yield node.start_point[0] + 1
        elif node.has_error:
            stack.extend(reversed(node.children))


def text_of(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


def line_of(node: "Node") -> int:
    return node.start_point[0] + 1


def below(node: "Node") -> Iterator["Node"]:
    """Every node under this one, in the order of the text."""
    stack = list(reversed(node.children))
    while stack:
        child = stack.pop()
        yield child
        stack.extend(reversed(child.children))
