"""Reads a command line as the shell does, if it is one simple command without expansion.

The grammar finds the structure. Every word must also match a strict pattern, so that a difference between the grammar
and the real shell can't change its meaning.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: Shells expand a tilde at the start, some also after = and :, but not in HEAD~1.
_PLAIN = re.compile(r"(?!.*[=:]~)[A-Za-z0-9_./:=,@%+^-][A-Za-z0-9_./:=,@%+^~-]*\Z")
#: The shell still expands between double quotes, and a backslash may escape.
_QUOTED = re.compile(r'[^$`"\\!\x00-\x1f\x7f]*\Z')
_RAW = re.compile(r"[^'\x00-\x1f\x7f]*\Z")
_BETWEEN = re.compile(r"[\s'\"]")
_LONGEST = 4_000


def simple(command: str) -> list[str] | str:
    """The words of the command, or the reason why it isn't one simple command."""
    if len(command) > _LONGEST:
        return "it is too long to check"
    text = command.strip(" \t\n")
    if not text or not text.isprintable():
        return "it contains control characters or several lines"
    root = _parser().parse(text.encode("utf-8", "replace")).root_node
    if root.has_error or root.child_count != 1:
        return "it is more than one command"
    node = root.children[0]
    if node.type == "redirected_statement":
        return "it redirects its input or output"
    if node.type != "command":
        return "it isn't one simple command"
    words = []
    for child in node.children:
        if child.type == "variable_assignment":
            return "it sets a variable for the command"
        if child.type.endswith("_redirect"):
            return "it redirects its input or output"
        word = _word(child.children[0] if child.type == "command_name" and child.child_count == 1 else child)
        if word is None:
            return "the shell would expand a part of it"
        words.append(word)
    # Text that the grammar skipped would be missing here.
    if re.sub(_BETWEEN, "", "".join(words)) != re.sub(_BETWEEN, "", text):
        return "the shell would expand a part of it"
    return words


def names(command: str) -> list[str]:
    """The name of every command in a line, at any depth; only to find their files, never to allow them."""
    if len(command) > _LONGEST:
        return []
    root = _parser().parse(command.encode("utf-8", "replace")).root_node
    return [name for node in _commands(root) if (name := _text(node).strip("\"'\\"))]


def _commands(node: "Node") -> Iterator["Node"]:
    open_nodes = [node]
    while open_nodes:
        each = open_nodes.pop()
        if each.type == "command_name":
            yield each
        open_nodes.extend(reversed(each.children))


def _word(node: "Node") -> str | None:
    text = _text(node)
    match node.type:
        case "word" | "number":
            return text if _PLAIN.match(text) else None
        case "raw_string":
            return text[1:-1] if _RAW.match(text[1:-1]) else None
        case "string":
            return text[1:-1] if _QUOTED.match(text[1:-1]) else None
        case "concatenation":
            parts = [_word(child) for child in node.children]
            return None if None in parts else "".join(part for part in parts if part is not None)
        case _:
            return None


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


@cache
def _parser() -> "Parser":
    # Imported on first use, to keep the start fast.
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
