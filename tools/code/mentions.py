"""Symbols that strings and documents name: `getattr(module, "greet")`, `"package.module:main"`, `greet` in a README."""

import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tools.code.languages import words
from tools.code.scopes import FileScopes, Place, Scope
from tools.code.source import text_of
from tools.code.symbols import References, Symbol, symbols_named, text_place

if TYPE_CHECKING:
    from tree_sitter import Node

    from tools.code.project import Project

#: Calls whose first argument has an attribute that a later argument names.
ATTRIBUTE_CALLS = words("getattr hasattr setattr delattr getattr_static object multiple spy spyOn stub replaceProperty")
#: Calls that take an attribute from an object that comes later.
_GETTER_CALLS = frozenset({"attrgetter", "methodcaller"})
#: Methods of the dictionary of a module or an object that take a name.
_ITEM_CALLS = frozenset({"get", "pop", "setdefault", "__getitem__"})
STRING_NODES = frozenset({"string_content", "string_fragment"})
_DOCTEST = re.compile(rb"^[ \t]*(?:>>>|\.\.\.)(?: |$)")
_DOCUMENTS = (".md", ".rst", ".txt", ".adoc", ".mdx")
_QUALIFIER = re.compile(rb"(?<![\w.])((?:\w+\.)*\w+)\.\Z")
_FENCE = re.compile(rb"^([ \t]*)(```+|~~~+)[^\n]*\n.*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
#: Lines of a document that are code: doctests, and directives that take names from a module.
_CODE_LINE = re.compile(rb"[ \t]*(?:>>> |\.\.\. |\.\. (?:py:)?(?:auto)?\w+:: |:members: )")
#: How far a dotted name reaches back.
_REACH = 200
_LOCAL = ("local variable", "local function", "parameter")


class AttributeMention(NamedTuple):
    """A string that names an attribute of `object`, which is unknown if None."""

    place: Place
    object: "Node | None"
    scope: Scope
    #: It may as well be the key of a dictionary: it counts only if the object is known.
    keyed: bool = False


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
        value = around.child_by_field_name("value" if around.type == "subscript" else "object")
        if around.type not in ("subscript", "subscript_expression"):
            value = None
        if value is not None and (item := _names_of(value, file, scope)) is not None:
            yield AttributeMention(place, item[0], scope)
        elif value is not None and value != node.parent:
            yield AttributeMention(place, value, scope, keyed=True)
        elif around.type in ("argument_list", "arguments") and around.parent is not None:
            callee = text_of(around.parent.child_by_field_name("function")).rpartition(".")[2]
            first = around.named_children[0]
            if callee in _GETTER_CALLS:
                yield AttributeMention(place, None, scope)
            elif callee in ATTRIBUTE_CALLS and first != node.parent:
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


def is_document(path: str) -> bool:
    return path.lower().endswith(_DOCUMENTS)


class DocumentedNames:
    """Decides which words of documents are the symbol that a rename changes.

    Only sure ones: behind its module or class, or in code if nothing else has its name.
    """

    def __init__(self, symbol: Symbol, found: References, project: "Project") -> None:
        self._name = symbol.name.encode()
        self._qualifiers = _qualifiers(symbol, found, project)
        self._alone = _has_name_alone(symbol, found, project)

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        word = re.compile(rb"(?<![\w$])" + re.escape(self._name) + rb"(?![\w$])")
        fences = [match.span() for match in _FENCE.finditer(text)]
        return [match.span() for match in word.finditer(text) if self._is_meant(text, *match.span(), fences)]

    def _is_meant(self, text: bytes, start: int, end: int, fences: Collection[tuple[int, int]]) -> bool:
        before, after = text[max(0, start - _REACH) : start], text[end : end + 1]
        if before.endswith(b"."):
            qualifier = _QUALIFIER.search(before)
            return qualifier is not None and qualifier[1].decode(errors="replace").split(".")[-1] in self._qualifiers
        quoted = before.endswith((b"`", b"`~")) and after in (b"`", b"(")
        coded = _CODE_LINE.match(text, text.rfind(b"\n", 0, start) + 1) is not None
        return self._alone and (quoted or coded or any(first < start < last for first, last in fences))


def _qualifiers(symbol: Symbol, found: References, project: "Project") -> set[str]:
    """The names behind which documents write the symbol: its classes, or the modules that will export the new name."""
    if symbol.is_member:
        return {symbol.containers[-1], *(key.binding.name for key in found.family)}
    paths = [symbol.path, *(path for path, binding in found.bindings if binding.scope.kind == "module")]
    names = set()
    for path in paths:
        if path.endswith((".py", ".pyi")):
            names.add(project.modules.python_name(path).rpartition(".")[2])
        else:
            folder, _, name = path.rpartition("/")
            stem = name.partition(".")[0]
            names.add(folder.rpartition("/")[2] if stem == "index" else stem)
    return names - {""}


def _has_name_alone(symbol: Symbol, found: References, project: "Project") -> bool:
    """Whether the rename takes this name from everything in the project that documents may mean."""
    renamed = {*symbol.bindings, *(binding for _, binding in found.bindings)}
    family = {symbol.owner, *found.family}
    for each in symbols_named(symbol.name, project.files):
        if each.kind in _LOCAL or renamed.intersection(each.bindings):
            continue
        if not (symbol.is_member and each.is_member and each.owner in family):
            return False
    return True
