"""The outline of a source file from its syntax tree: symbols, imports, calls, and how much each function branches."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tools.code.languages import Language, language_of, parser

if TYPE_CHECKING:
    from tree_sitter import Node

_NESTED = frozenset({"class", "struct", "interface", "trait", "impl", "module", "namespace", "enum"})
_CALLABLE = frozenset({"function", "method", "constructor"})


class Symbol(NamedTuple):
    name: str
    kind: str
    line: int
    end_line: int
    parent: str
    signature: str
    #: Branches plus one, for what can be called; nothing for the rest.
    complexity: int | None


class Outline(NamedTuple):
    language: str
    symbols: list[Symbol]
    imports: list[str]
    calls: Counter[str]
    errors: list[int]


def outlined(path: str, content: bytes) -> Outline | None:
    """Nothing for a language that is not known."""
    language = language_of(path)
    if language is None:
        return None
    tree = parser(language.module, language.function).parse(readable(content))
    reading = _Reading(language)
    reading.read(tree.root_node)
    return Outline(language.name, reading.symbols, reading.imports, reading.calls, error_lines(tree.root_node))


def readable(content: bytes) -> bytes:
    """Without what is correct and newer than the grammars; each byte stays in its place."""
    return content.replace(b"export type *", b"export      *")


def error_lines(root: "Node") -> list[int]:
    """The lines of what the grammar could not read, and of what it misses; only what holds one is looked into."""
    found, stack = [], [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            found.append(node.start_point[0] + 1)
        elif node.has_error:
            stack.extend(reversed(node.children))
    return found


class _Reading:
    def __init__(self, language: Language) -> None:
        self._language = language
        self.symbols: list[Symbol] = []
        self.imports: list[str] = []
        self.calls: Counter[str] = Counter()

    def read(self, root: "Node") -> None:
        # A stack of our own: generated code nests deeper than Python recurses.
        stack: list[tuple[Node, str]] = [(root, "")]
        while stack:
            node, parent = stack.pop()
            kind = node.type
            if kind in self._language.imports:
                self.imports.append(" ".join(_text(node).split())[:200])
                continue
            if kind in self._language.calls and (target := node.child_by_field_name(self._language.calls[kind])):
                self.calls[_text(target)[:100]] += 1
            word = self._language.definitions.get(kind)
            if word is not None and (name := _name(node)) and self._counts(node, word):
                self._add(node, name, word, parent)
                parent = f"{parent}.{name}" if parent else name
            elif kind == "impl_item" and (target := node.child_by_field_name("type")):
                parent = _text(target)[:100]
            stack.extend((child, parent) for child in reversed(node.named_children))

    def _counts(self, node: "Node", word: str) -> bool:
        if word == "variable":
            # Only a variable that holds a function is a part of the outline.
            value = node.child_by_field_name("value")
            return value is not None and value.type in ("arrow_function", "function_expression", "class")
        if node.type in ("struct_specifier", "enum_specifier", "union_specifier", "class_specifier"):
            return node.child_by_field_name("body") is not None
        return True

    def _add(self, node: "Node", name: str, word: str, parent: str) -> None:
        word = "function" if word == "variable" else word
        if word == "function" and parent and self._language.name in ("Python", "Rust", "C++"):
            word = (
                "method" if any(each.kind in _NESTED or each.kind == "struct" for each in self._named(parent)) else word
            )
        complexity = 1 + sum(1 for each in _below(node) if each.type in self._language.branches)
        self.symbols.append(
            Symbol(
                name=name,
                kind=word,
                line=node.start_point[0] + 1,
                end_line=node.end_point[0] + 1,
                parent=parent,
                signature=_text(node).split("\n", 1)[0].strip()[:200],
                complexity=complexity if word in _CALLABLE else None,
            )
        )

    def _named(self, full: str) -> Iterator[Symbol]:
        return (each for each in self.symbols if (f"{each.parent}.{each.name}" if each.parent else each.name) == full)


def _below(node: "Node") -> Iterator["Node"]:
    stack = list(node.named_children)
    while stack:
        child = stack.pop()
        yield child
        stack.extend(child.named_children)


def _name(node: "Node") -> str:
    found = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    # In C a name is wrapped in what it declares: pointers, parameters, arrays.
    while found is not None and (inner := found.child_by_field_name("declarator")) is not None:
        found = inner
    return _text(found)[:200] if found is not None else ""


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")
