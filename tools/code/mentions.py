"""Symbols that strings name: `getattr(module, "greet")`, `patch("a.greet")`, `"package.module:main"`."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tools.code.languages import words
from tools.code.scopes import FileScopes, Place, Scope
from tools.code.source import text_of
from tools.code.symbols import text_place

if TYPE_CHECKING:
    from tree_sitter import Node

#: Calls whose first argument has an attribute that a later argument names.
_ATTRIBUTE_CALLS = words(
    "getattr hasattr setattr delattr getattr_static object multiple spy spyOn stub replaceProperty"
)
#: Calls that take an attribute from an object that comes later.
_GETTER_CALLS = frozenset({"attrgetter", "methodcaller"})
#: Methods of the dictionary of a module or an object that take a name.
_ITEM_CALLS = frozenset({"get", "pop", "setdefault", "__getitem__"})
STRING_NODES = frozenset({"string_content", "string_fragment"})
_DOCTEST = re.compile(rb"^[ \t]*(?:>>>|\.\.\.)(?: |$)")


class AttributeMention(NamedTuple):
    """A string that names an attribute of `object`, which is unknown if None."""

    place: Place
    object: "Node | None"
    scope: Scope


class PathMention(NamedTuple):
    """`prefix` and the name, separated by a dot or a colon, are a whole string."""

    place: Place
    prefix: str


def path_mentions(text: bytes, name: str) -> Iterator[PathMention]:
    """Find dotted paths that end with the name, or go on behind it, in quotes or as a whole word of a settings file."""
    dotted = re.compile(rb"(?<![\w.:/-])((?:\w+\.)*\w+)[.:](" + re.escape(name.encode()) + rb")(?![\w/-])")
    for match in dotted.finditer(text):
        yield PathMention(text_place(text, *match.span(2)), match[1].decode("utf-8", "replace"))


def quoted_paths(file: FileScopes, name: str) -> Iterator[PathMention]:
    """Find dotted paths with the name in strings: a whole string, or one in a text such as `ext://a.greet`."""
    text, word = file.source.text, re.escape(name.encode())
    whole = re.compile(rb"(?:(?<=ext://)|(?<![\w.:/@-]))((?:\w+\.)*\w+)[.:](" + word + rb")(?![\w/-])")
    for match in whole.finditer(text):
        if _is_string(file.source.root.descendant_for_byte_range(*match.span(2))):
            yield PathMention(text_place(text, *match.span(2)), match[1].decode("utf-8", "replace"))


def code_mentions(text: bytes, name: str, carries: Callable[[str], bool], *, known: bool = False) -> Iterator[Place]:
    """Find the bare name in a text with code: where it is imported, and in doctests.

    `known`: code of this text can use the name without an import.
    """
    word = re.compile(rb"(?<![\w.$])" + re.escape(name.encode()) + rb"(?![\w$])")
    taken = re.compile(rb"\bfrom\s+((?:\w+\.)*\w+)\s+import\b[^\n;]*" + word.pattern)
    imports = any(carries(match[1].decode("utf-8", "replace")) for match in taken.finditer(text))
    if imports or known:
        for match in word.finditer(text):
            line = text[text.rfind(b"\n", 0, match.start()) + 1 : match.end()]
            if imports or _DOCTEST.match(line):
                yield text_place(text, *match.span())


def string_code_mentions(
    file: FileScopes, name: str, carries: Callable[[str], bool], *, known: bool
) -> Iterator[Place]:
    """Find the bare name in strings that are code, such as docstrings with doctests."""
    seen: set[int] = set()
    for match in re.finditer(rb"(?<![\w.$])" + re.escape(name.encode()) + rb"(?![\w$])", file.source.text):
        node = file.source.root.descendant_for_byte_range(*match.span())
        if node is None or not _is_string(node) or node.start_byte in seen:
            continue
        seen.add(node.start_byte)
        for place in code_mentions(node.text or b"", name, carries, known=known):
            start, end = node.start_byte + place.start, node.start_byte + place.end
            yield text_place(file.source.text, start, end)


def _is_string(node: "Node | None") -> bool:
    return node is not None and node.type in STRING_NODES


def attribute_mentions(file: FileScopes, name: str) -> Iterator[AttributeMention]:
    """Find strings that are the name of an attribute of some object."""
    text = file.source.text
    for match in re.finditer(rb"[\"'](" + re.escape(name.encode()) + rb")[\"']", text):
        node = file.source.root.descendant_for_byte_range(*match.span(1))
        if node is None or node.type not in STRING_NODES or node.parent is None or node.parent.parent is None:
            continue
        place, around = text_place(text, *match.span(1)), node.parent.parent
        scope = scope_at(file, match.start(1))
        value = around.child_by_field_name("value") if around.type == "subscript" else None
        if value is not None and (item := _names_of(value, file, scope)) is not None:
            yield AttributeMention(place, item[0], scope)
        elif around.type in ("argument_list", "arguments") and around.parent is not None:
            callee = text_of(around.parent.child_by_field_name("function")).rpartition(".")[2]
            first = around.named_children[0]
            if callee in _GETTER_CALLS:
                yield AttributeMention(place, None, scope)
            elif callee in _ATTRIBUTE_CALLS and first != node.parent:
                yield AttributeMention(place, first, scope)
            elif callee in _ITEM_CALLS and first == node.parent:
                taken = around.parent.child_by_field_name("function")
                owner = taken.child_by_field_name("object") if taken is not None else None
                if owner is not None and (item := _names_of(owner, file, scope)) is not None:
                    yield AttributeMention(place, item[0], scope)


def _names_of(value: "Node", file: FileScopes, scope: Scope) -> "tuple[Node | None] | None":
    """The object of `vars(object)` and `object.__dict__`; `globals()`, in a module also `locals()`, has the module."""
    if value.type == "attribute" and text_of(value.child_by_field_name("attribute")) == "__dict__":
        return (value.child_by_field_name("object"),)
    if value.type == "call":
        function = text_of(value.child_by_field_name("function"))
        arguments = value.child_by_field_name("arguments")
        if function == "vars" and arguments is not None and arguments.named_child_count:
            return (arguments.named_children[0],)
        if function == "globals" or (function in ("locals", "vars") and scope is file.module):
            return (file.source.root,)
    return None


def scope_at(file: FileScopes, offset: int) -> Scope:
    """The innermost scope around an offset."""
    inside = [each for each in file.scopes if each.node.start_byte <= offset < each.node.end_byte]
    return max(inside, key=lambda each: each.node.start_byte, default=file.module)
