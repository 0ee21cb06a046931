"""One source file as a syntax tree, looked at only where a name stands."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tools.code.languages import Language, language_of, parser, words

if TYPE_CHECKING:
    from tree_sitter import Node

#: Languages whose scopes and imports are known here; in the others a name is only a name.
PYTHON = frozenset({"Python"})
SCRIPT = frozenset({"JavaScript", "TypeScript", "TSX"})
SCOPED = PYTHON | SCRIPT

_FUNCTIONS = words(
    "function_definition lambda function_declaration function_expression generator_function "
    "generator_function_declaration arrow_function method_definition"
)
_CLASSES = words("class_definition class_declaration abstract_class_declaration class interface_declaration")
_SCOPES = (
    _FUNCTIONS
    | _CLASSES
    | words(
        "list_comprehension dictionary_comprehension set_comprehension generator_expression statement_block "
        "for_statement for_in_statement catch_clause switch_body"
    )
)
#: A loop is no scope of its own in Python.
_NO_SCOPE = {"Python": frozenset({"for_statement"})}
_VALUES = frozenset({"arrow_function", "function_expression", "class"})


class Source:
    """A file's content, and its tree when something is looked up in it."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content
        self.language: Language | None = language_of(path)
        self._root: Node | None = None

    @property
    def root(self) -> "Node":
        if self._root is None:
            assert self.language is not None
            self._root = parser(self.language.module, self.language.function).parse(self.content).root_node
        return self._root

    @property
    def kind(self) -> str:
        return self.language.name if self.language else ""

    @property
    def scoped(self) -> bool:
        return self.kind in SCOPED

    def named(self, word: str) -> Iterator["Node"]:
        """Every identifier of that name, in order; what stands in strings and comments is none."""
        if self.language is None:
            return
        for match in re.finditer(rb"(?<![\w$])" + re.escape(word.encode()) + rb"(?![\w$])", self.content):
            node = self.root.descendant_for_byte_range(match.start(), match.end())
            if (
                node is not None
                and (node.start_byte, node.end_byte) == match.span()
                and "identifier" in node.type
                and node.type != "private_property_identifier"
            ):
                yield node

    def line(self, number: int) -> str:
        lines = self.content.split(b"\n", number)
        return lines[number - 1].decode("utf-8", "replace").strip() if number <= len(lines) else ""


def text(node: "Node | None") -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def is_field(node: "Node", name: str) -> bool:
    """Whether a node is that part of what it stands in."""
    return node.parent is not None and node.parent.child_by_field_name(name) == node


def ancestors(node: "Node") -> Iterator["Node"]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def below(node: "Node") -> Iterator["Node"]:
    """What stands in a node, in order; a stack of our own, because generated code nests deeper than Python recurses."""
    stack = [*reversed(node.named_children)]
    while stack:
        child = stack.pop()
        yield child
        stack.extend(reversed(child.named_children))


def is_function(node: "Node") -> bool:
    return node.type in _FUNCTIONS


def is_class(node: "Node") -> bool:
    return node.type in _CLASSES


def is_scope(node: "Node", language: str) -> bool:
    return node.type in _SCOPES and node.type not in _NO_SCOPE.get(language, ())


def defined_by(node: "Node", language: Language) -> "Node | None":
    """The definition that a node is the name of."""
    parent = node.parent
    # In C a name is wrapped in what it declares.
    while parent is not None and is_field(node, "declarator") and parent.type not in language.definitions:
        node, parent = parent, parent.parent
    if parent is None or parent.type not in language.definitions:
        return None
    return parent if is_field(node, "name") or is_field(node, "declarator") else None


def holds_code(definition: "Node") -> bool:
    """A variable is a part of the outline if it holds a function or a class; everything else always is."""
    if definition.type != "variable_declarator":
        return True
    value = definition.child_by_field_name("value")
    return value is not None and value.type in _VALUES


def enclosing(node: "Node", language: Language) -> list["Node"]:
    """The definitions that a node stands in, the outermost first."""
    found = []
    for above in ancestors(node):
        if above.type in language.definitions and holds_code(above) and text(above.child_by_field_name("name")):
            found.append(above)
    return found[::-1]


def qualified(node: "Node", language: Language) -> str:
    """The name of the definition that a node stands in: `Class.method`; nothing at the top of a module."""
    names = [text(each.child_by_field_name("name")) for each in enclosing(node, language)]
    return ".".join(names)
