"""Usages of a definition, and what a definition calls."""

import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from tools.code.classes import ClassIndex
from tools.code.definitions import Definition, defined_by, enclosing_name, find_definitions
from tools.code.go_names import may_name, package_of
from tools.code.languages import words
from tools.code.modules import Modules
from tools.code.project import Project, ResolvedImport, resolve_imports
from tools.code.references import find_references
from tools.code.script_scopes import required_module
from tools.code.source import SourceText, ancestors, descendants, is_field, line_of, text_of
from tools.code.symbols import Certainty, Reference, References, Symbol, symbols_in
from tools.test_files import is_test

if TYPE_CHECKING:
    from tree_sitter import Node

UsageKind = Literal["call", "import", "base", "name"]
#: Whether a node that holds a name may be the definition of that name.
NameTest = Callable[["Node", SourceText], bool]
_ROUNDS = 4
_TITLED = frozenset({"it", "test", "describe"})
_CALLING = words("jsx_self_closing_element jsx_opening_element decorator")
_IMPORTS = words(
    "import_statement import_from_statement import_clause named_imports import_specifier namespace_import "
    "dotted_name aliased_import export_specifier export_clause"
)
_COMMONJS = words("object_pattern pair_pattern shorthand_property_identifier_pattern object pair member_expression")
_EXPORTED = ("exports.", "module.exports.")
_SELF = frozenset({"self", "cls", "this"})


class SymbolUsage(NamedTuple):
    path: str
    line: int
    #: The enclosing definition: `Class.method`; empty at the top of a module.
    within: str
    kind: UsageKind
    certainty: Certainty

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class UsageReport(NamedTuple):
    usages: list[SymbolUsage]
    #: The names under which the definition can be imported, and the files that export it as default.
    names: Collection[str] = ()
    default_exporters: Collection[str] = ()


class UsageFinder:
    """Finds usages in the sources it was given; analyzes only the parts that hold one of the searched words."""

    def __init__(self, modules: Modules, searched: Iterable[str], *, members: bool) -> None:
        self.project = Project(modules)
        self._words = frozenset(searched)
        self._members = members
        self._others: dict[str, SourceText] = {}
        self._classes = ClassIndex(self.project)

    def add(self, sources: Iterable[SourceText]) -> None:
        for source in sources:
            if source.family is None:
                self._others[source.path] = source
            else:
                self.project.add(source, self._words, members=self._members)
        self._classes = ClassIndex(self.project)

    def find(self, definition: Definition, paths: Iterable[str] | None = None) -> UsageReport:
        """Search these files, or all."""
        sources = self._sources(paths)
        if definition.family is None:
            related = [source for source in sources if _is_related(source, definition)]
            is_meant = self._name_test(definition)
            return UsageReport(sorted({each for source in related for each in _by_name(definition, source, is_meant)}))
        references = References()
        found: set[SymbolUsage] = set()
        for _ in range(_ROUNDS):
            symbol = self._symbol(definition)
            if symbol is None:
                break
            files = {source.path: self.project.files[source.path] for source in sources if self._is_analyzed(source)}
            references = find_references(symbol, self.project, aliases=True, files=files, classes=self._classes)
            found = {usage for each in references.found if (usage := self._usage(each, symbol)) is not None}
            if not self._learn(references.names):
                break
        for source in sources:
            # Without an analysis, only the name is known.
            if _is_related(source, definition) and (symbol is None or not self._is_analyzed(source)):
                found.update(_by_name(definition, source))
        return UsageReport(sorted(found), references.names, references.default_exporters)

    def _name_test(self, definition: Definition) -> NameTest | None:
        source = self._others.get(definition.path)
        if definition.language != "Go" or source is None or definition.kind == "method" or definition.owner:
            return None
        return may_name(definition, package_of(source))

    def _sources(self, paths: Iterable[str] | None) -> list[SourceText]:
        every = {**self.project.sources, **self._others}
        return list(every.values()) if paths is None else [every[path] for path in paths if path in every]

    def _is_analyzed(self, source: SourceText) -> bool:
        return source.path in self.project.files

    def _learn(self, names: set[str]) -> bool:
        """Search for new aliases too: analyze the files that hold them again."""
        fresh = names - self._words - {"default"}
        if not fresh:
            return False
        self._words |= fresh
        held = [name.encode() for name in fresh]
        self.add([each for each in self.project.sources.values() if any(name in each.text for name in held)])
        return True

    def _symbol(self, definition: Definition) -> Symbol | None:
        file = self.project.files.get(definition.path)
        for symbol in symbols_in(file, definition.name) if file is not None else ():
            places = [place for binding in symbol.bindings for place in binding.places]
            body = self._classes.body(symbol.owner) if symbol.is_member and symbol.owner is not None else None
            places += body.members.get(symbol.name, ()) if body is not None else ()
            if any(place.start == definition.start for place in places):
                return symbol
        return None

    def _usage(self, reference: Reference, symbol: Symbol) -> SymbolUsage | None:
        place, source = reference.place, self.project.sources[reference.path]
        node = source.node_at(place.start, place.end)
        if reference.role == "text":
            # Names in `__all__` are exports, not usages.
            node = source.root.descendant_for_byte_range(place.start, place.end)
            listed = self.project.files[reference.path].listed
            is_export = any(where[:2] == place[:2] for _, where in listed)
            return _usage(node, source, reference.certainty) if node is not None and not is_export else None
        certainty: Certainty | None = reference.certainty
        if node is None or ((_is_definition(node, source) or place.defines) and not _in_import(node)):
            return None
        if certainty == "likely" and not _is_member(node):
            return None  # a key or a pattern of unknown type
        if reference.receiver is not None:
            certainty = self._dispatch(reference, symbol, node)
        return _usage(node, source, certainty) if certainty is not None else None

    def _dispatch(self, reference: Reference, symbol: Symbol, node: "Node") -> Certainty | None:
        """Whether a member taken from this class is the symbol, and not that of another class that overrides it."""
        receiver, owner = reference.receiver, symbol.owner
        assert receiver is not None and owner is not None
        line_of_inheritance = self._classes.ancestors(receiver)
        if _receiver_text(node).startswith("super"):
            line_of_inheritance = line_of_inheritance[1:]
        for key in line_of_inheritance:
            body = self._classes.body(key)
            if body is not None and symbol.name in body.members:
                if key == owner:
                    return "certain"
                break
        return "likely" if receiver in self._classes.ancestors(owner) else None


def _is_related(source: SourceText, definition: Definition) -> bool:
    if definition.family is None:
        return source.language_name == definition.language
    return source.family == definition.family


def _by_name(definition: Definition, source: SourceText, is_meant: NameTest | None = None) -> Iterator[SymbolUsage]:
    for node in source.named(definition.name):
        if not _is_definition(node, source) and (is_meant is None or is_meant(node, source)):
            yield _usage(node, source, "likely")


def _usage(node: "Node", source: SourceText, certainty: Certainty) -> SymbolUsage:
    assert source.language is not None
    parent = node.parent if not _is_member(node) or node.parent is None else node.parent.parent
    kind: UsageKind = "name"
    if _in_import(node):
        kind = "import"
    elif parent is not None and _is_called(node, parent, source):
        kind = "call"
    elif _is_base(node):
        kind = "base"
    within = "" if kind == "import" else enclosing_name(node, source.language)
    if not within and kind != "import" and source.family == "script" and is_test(source.path):
        within = _test_title(node)
    return SymbolUsage(source.path, line_of(node), within, kind, certainty)


def _is_member(node: "Node") -> bool:
    """Whether a node is `name` in `object.name`."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "attribute":
        return is_field(node, "attribute")
    if parent.type == "dotted_name":
        # `case module.Name():`
        return parent.named_children[0] != node and not _in_import(node)
    if parent.type == "nested_type_identifier":
        return is_field(node, "name")
    return parent.type in ("member_expression", "subscript_expression") and is_field(node, "property")


def _receiver_text(node: "Node") -> str:
    return text_of(node.parent.child_by_field_name("object")) if node.parent is not None else ""


def _in_import(node: "Node") -> bool:
    """Whether a statement imports or exports the name here."""
    if _in_commonjs(node):
        return True
    parent = node.parent
    while parent is not None and parent.type in _IMPORTS:
        if parent.type in ("import_statement", "import_from_statement", "export_clause"):
            return True
        parent = parent.parent
    return False


def _in_commonjs(node: "Node") -> bool:
    """Whether it is a name in `const { name } = require(…)`, `module.exports = { name }` or `exports.name = name`."""
    whole = node.parent
    while whole is not None and whole.type in _COMMONJS:
        whole = whole.parent
    if whole is None or whole.type not in ("variable_declarator", "assignment_expression"):
        return False
    value = whole.child_by_field_name("value")
    if value is not None and value.type == "member_expression":
        value = value.child_by_field_name("object")
    left = text_of(whole.child_by_field_name("left"))
    return required_module(value) is not None or left == "module.exports" or left.startswith(_EXPORTED)


def _is_definition(node: "Node", source: SourceText) -> bool:
    assert source.language is not None
    if defined_by(node, source.language) is not None:
        return True
    return node.parent is not None and node.parent.type == "assignment" and is_field(node, "left")


def _is_called(node: "Node", parent: "Node", source: SourceText) -> bool:
    assert source.language is not None
    if parent.type in _CALLING:
        return True
    part = source.language.calls.get(parent.type)
    target = parent.child_by_field_name(part) if part else None
    return target is not None and target.end_byte == node.end_byte


def _is_base(node: "Node") -> bool:
    kinds = [above.type for above, _ in zip(ancestors(node), range(4), strict=False)]
    around = kinds[1:] if kinds[:1] == ["attribute"] else kinds
    return "class_heritage" in kinds or around[:2] == ["argument_list", "class_definition"]


def _test_title(node: "Node") -> str:
    """Return the call that titles a script's test: `it "adds"`."""
    for above in ancestors(node):
        if above.type == "call_expression":
            function = text_of(above.child_by_field_name("function")).partition(".")[0]
            arguments = above.child_by_field_name("arguments")
            first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
            if function in _TITLED and first is not None and first.type == "string":
                return f"{function} {text_of(first)}"
    return ""


class Callee(NamedTuple):
    name: str
    #: The file of the project that it comes from.
    file: str | None
    word: str
    #: Whether it surely comes from a package or from Python itself.
    outside: bool


def find_callees(definition: Definition, source: SourceText, modules: Modules) -> list[Callee]:
    """Return what a definition calls, each once, in text order."""
    assert source.language is not None
    whole = source.root.descendant_for_byte_range(*definition.span)
    if whole is None:
        return []
    imported = {each.local: each for each in resolve_imports(source, modules)}
    found: dict[str, Callee] = {}
    for node in descendants(whole):
        part = source.language.calls.get(node.type)
        name = " ".join(text_of(node.child_by_field_name(part) if part else None).split())
        if name and len(name) < 100 and name not in found:
            outside = _is_outside(name, source, imported)
            found[name] = Callee(name, _callee_file(name, source, imported), name.rpartition(".")[2], outside)
    return list(found.values())


def _is_outside(name: str, source: SourceText, imported: Mapping[str, ResolvedImport]) -> bool:
    first = imported.get(name.partition(".")[0])
    if first is not None:
        return first.file is None
    return source.family == "python" and name in vars(builtins) and not find_definitions(source, name)


def _callee_file(name: str, source: SourceText, imported: Mapping[str, ResolvedImport]) -> str | None:
    receiver, _, word = name.rpartition(".")
    if receiver in _SELF or not receiver:
        if word in imported and not receiver:
            return imported[word].file
        return source.path if find_definitions(source, word) else None
    return imported[receiver].file if receiver in imported else None


def locate_callee(callee: Callee, sources: Mapping[str, SourceText], modules: Modules) -> Definition | None:
    """Find the definition of a callee, through packages that re-export it."""
    path, word = callee.file, callee.word
    for _ in range(5):
        source = sources.get(path or "")
        if source is None:
            return None
        if found := find_definitions(source, word):
            return found[0]
        imported = next((each for each in resolve_imports(source, modules) if each.local == word), None)
        if imported is None:
            return None
        path, word = imported.file, imported.name or word
    return None
