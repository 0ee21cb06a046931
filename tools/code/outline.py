"""The outline of a source file: symbols, imports, calls, and the complexity of each function."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tools.code.definitions import holds_code
from tools.code.languages import Language
from tools.code.source import SourceText, descendants, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = frozenset({"class", "struct", "interface", "trait", "impl", "module", "namespace", "enum"})
_CALLABLE = frozenset({"function", "method", "constructor"})


class OutlineItem(NamedTuple):
    name: str
    kind: str
    line: int
    end_line: int
    parent: str
    signature: str
    #: Branches plus one, for functions and methods.
    complexity: int | None


class Outline(NamedTuple):
    language: str
    items: list[OutlineItem]
    imports: list[str]
    calls: Counter[str]
    errors: list[int]


def outline_of(source: SourceText) -> Outline | None:
    """Return None for an unknown language."""
    if source.language is None:
        return None
    walk = _OutlineWalk(source.language)
    walk.read(source.root)
    return Outline(source.language.name, walk.items, walk.imports, walk.calls, source.errors)


class _OutlineWalk:
    def __init__(self, language: Language) -> None:
        self._language = language
        self.items: list[OutlineItem] = []
        self.imports: list[str] = []
        self.calls: Counter[str] = Counter()

    def read(self, root: "Node") -> None:
        # No recursion: generated code nests deeply.
        stack: list[tuple[Node, str]] = [(root, "")]
        while stack:
            node, parent = stack.pop()
            kind = node.type
            if kind in self._language.imports:
                self.imports.append(" ".join(text_of(node).split())[:200])
                continue
            if kind in self._language.calls and (target := node.child_by_field_name(self._language.calls[kind])):
                self.calls[text_of(target)[:100]] += 1
            word = self._language.definitions.get(kind)
            if word is not None and (name := _name(node)) and self._counts(node):
                self._add(node, name, word, parent)
                parent = f"{parent}.{name}" if parent else name
            elif kind == "impl_item" and (target := node.child_by_field_name("type")):
                parent = text_of(target)[:100]
            stack.extend((child, parent) for child in reversed(node.named_children))

    def _counts(self, node: "Node") -> bool:
        if node.type in ("struct_specifier", "enum_specifier", "union_specifier", "class_specifier"):
            return node.child_by_field_name("body") is not None
        return holds_code(node)

    def _add(self, node: "Node", name: str, word: str, parent: str) -> None:
        word = "function" if word == "variable" else word
        if word == "function" and parent and self._language.name in ("Python", "Rust", "C++"):
            word = "method" if any(each.kind in _TYPES for each in self._named(parent)) else word
        complexity = None
        if word in _CALLABLE:
            complexity = 1 + sum(each.type in self._language.branches for each in descendants(node))
        signature = text_of(node).split("\n", 1)[0].strip()[:200]
        end_line = node.end_point[0] + 1
        self.items.append(OutlineItem(name, word, line_of(node), end_line, parent, signature, complexity))

    def _named(self, full: str) -> Iterator[OutlineItem]:
        return (each for each in self.items if (f"{each.parent}.{each.name}" if each.parent else each.name) == full)


def _name(node: "Node") -> str:
    found = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    # In C, declarators wrap the name.
    while found is not None and (inner := found.child_by_field_name("declarator")) is not None:
        found = inner
    return text_of(found)[:200]
