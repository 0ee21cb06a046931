"""Every place where a symbol is written in the project, each `certain` or `likely`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.code.classes import ClassIndex
from tools.code.keyword_references import KeywordFinder
from tools.code.lookups import note_own_lookups, note_risks, note_text_risks
from tools.code.member_references import MemberFinder
from tools.code.mentions import (
    ATTRIBUTE_CALLS,
    AttributeMention,
    PathMention,
    attribute_mentions,
    code_mentions,
    path_mentions,
    quoted_paths,
    string_code_mentions,
)
from tools.code.scopes import (
    COMPUTED,
    Binding,
    BindingRef,
    FileScopes,
    ModuleRef,
    Scope,
    find_export,
)
from tools.code.source import text_of
from tools.code.symbols import ReferenceFinder, References, Symbol, text_place

if TYPE_CHECKING:
    from tree_sitter import Node

    from tools.code.project import Project

_LOADS = re.compile(rb"\b(?:import_module|__import__|module_from_spec|importorskip)\(")
_MOCKS = re.compile(rb"\b(?:mock|doMock|unstable_mockModule)\(\s*['\"]([^'\"\n]+)['\"]")
#: How often a name may be re-exported under another one.
_ALIAS_STEPS = 6


def find_references(
    symbol: Symbol,
    project: "Project",
    *,
    aliases: bool = False,
    files: Mapping[str, FileScopes] | None = None,
    classes: ClassIndex | None = None,
    texts: Mapping[str, bytes] | None = None,
) -> References:
    """Search all analyzed files, or only `files`; with `aliases`, also for other names of the symbol.

    `texts` are settings files that may name it as an entry point.
    """
    found = References(names={symbol.name})
    files = project.files if files is None else files
    classes = classes or ClassIndex(project)
    if symbol.is_member:
        finder = MemberFinder(symbol, project, classes, found, files)
        finder.find()
        for path, text in (texts or {}).items():
            finder.search_text(path, text)
    else:
        _BindingFinder(symbol, project, classes, found, files).find(aliases=aliases, texts=texts or {})
    return found


@dataclass(eq=False)
class _BindingFinder(ReferenceFinder):
    _carried: dict[tuple[str, str], bool] = field(default_factory=dict, init=False)

    def find(self, *, aliases: bool, texts: Mapping[str, bytes]) -> None:
        symbol, found = self._symbol, self._found
        for binding in symbol.bindings:
            self._add_binding(symbol.path, binding)
        if any(binding.kind == "parameter" for binding in symbol.bindings):
            KeywordFinder(symbol, self._project, self._classes, found, self._files).find()
        if not any(binding.scope.kind == "module" for binding in symbol.bindings):
            note_own_lookups(symbol, found)
            return
        for path, file in self._files.items():
            self._search(path, file)
        for path, text in texts.items():
            self.search_text(path, text)
        self._find_fixture_uses()
        for export in self._project.files[symbol.path].exports:
            if export.aliased and export.local == symbol.name and export.name != "default":
                found.notes.append(f"{symbol.path} exports it as {export.name}, which stays.")
        if aliases:
            for _ in range(_ALIAS_STEPS):
                known = len(found.names)
                for path, file in self._files.items():
                    self._search_aliases(path, file)
                if len(found.names) == known:
                    break

    def _add_binding(self, path: str, binding: Binding) -> None:
        self._found.bindings.append((path, binding))
        for place in binding.places:
            self._found.add(path, place)
        file = self._project.files[path]
        if binding.scope is file.module:
            for name, place in file.listed:
                if name == binding.name:
                    self._found.add(path, place, "text")

    def _search(self, path: str, file: FileScopes) -> None:
        """Add what another file takes under the symbol's own name."""
        name = self._symbol.name
        for binding in file.bindings:
            imported = binding.imported
            if imported is None or imported.name != name or imported.source is None:
                continue
            source = self._project.resolve(imported.module, path)
            if source is not None and self._carries(source, name):
                self._found.add(path, imported.source)
                if not imported.aliased:
                    self._add_binding(path, binding)
            elif source is not None:
                self._note_unbound(source, path, imported.source.line)
        for export in file.exports:
            if export.module is not None and export.local == name and export.place is not None:
                source = self._project.resolve(export.module, path)
                if source is not None and self._carries(source, name):
                    self._found.add(path, export.place)
        for access in file.accesses:
            if access.name == name and access.object is not None:
                owner = self._project.expression_meaning(access.object, access.scope, file)
                if not isinstance(owner, ModuleRef) or owner.path.endswith("/"):
                    continue
                if self._carries(owner.path, name):
                    self._found.add(path, access.place, "property")
                elif file.source.family == "python":
                    self._note_unbound(owner.path, path, access.place.line)
        self._search_mentions(path, file)
        if file.source.family == "python" and any(self._carries(star, name) for star in self._stars(file)):
            for use in file.free:
                if use.name == name:
                    self._found.add(path, use.place)
            for word, place in file.listed:
                if word == name:
                    self._found.add(path, place, "text")

    def _note_unbound(self, source: str, path: str, line: int) -> None:
        """Add a use of a name that the module gets at run time, maybe from the symbol's own: `__getattr__`."""
        name = self._symbol.name
        if source.endswith("/") or (file := self._project.file(source)) is None:
            return
        outside = any(self._project.resolve(star, source) is None for star in file.stars)
        if file.source.family == "script":
            outside = outside or not file.commonjs or find_export(file, name) is not None
        if not outside and self._project.member(source, name) is None:
            self._found.risks.append(f"{path}:{line} takes {name} from {source}, which binds it only at run time.")

    def _search_mentions(self, path: str, file: FileScopes) -> None:
        """Add uses that no import shows: modules loaded at run time, and names in strings."""
        name = self._symbol.name
        if file.source.family == "script":
            self._search_loads(path, file)
            for each in attribute_mentions(file, name):
                self._search_attribute(path, file, each)
            self._search_mocks(path, file)
            self._note_handed_on(path, file)
            note_risks(path, file, self._symbol, self._found, self._project)
            return
        for mention in quoted_paths(file, name):
            self._search_path(path, mention)
        here = file.module.values.get(name)
        bound = here is not None and self._imports_symbol(here, file)
        for place in string_code_mentions(file, name, lambda module: self._is_carrier(module, path), known=bound):
            self._found.add(path, place, "text")
        for each in attribute_mentions(file, name):
            self._search_attribute(path, file, each)
        if _LOADS.search(file.source.text):
            self._search_loaded(path, file)
        note_risks(path, file, self._symbol, self._found, self._project)

    def _search_loads(self, path: str, file: FileScopes) -> None:
        """Add what a script may take from a module with the symbol that it loads at run time."""
        name, sources = self._symbol.name, [self._project.resolve(module, path) for module in file.loaded]
        if not any(source is not None and self._carries(source, name) for source in sources):
            return
        known = {each.place for each in self._found.found if each.path == path}
        for access in file.accesses:
            if access.name == name and access.place not in known:
                self._found.add_likely(path, access.place)
            elif access.name == COMPUTED:
                self._found.risks.append(f"{path}:{access.place.line} takes a name that only a run knows.")

    def _search_mocks(self, path: str, file: FileScopes) -> None:
        """Add the keys of what `jest.mock("./a", () => ({ greet: … }))` puts in place of the module."""
        for match in _MOCKS.finditer(file.source.text):
            source = self._project.resolve(match[1].decode("utf-8", "replace"), path)
            if source is None or not self._carries(source, self._symbol.name):
                continue
            node = file.source.root.descendant_for_byte_range(*match.span(1))
            while node is not None and node.type != "call_expression":
                node = node.parent
            for access in file.accesses if node is not None else ():
                inside = node is not None and node.start_byte < access.place.start < node.end_byte
                if inside and access.name == self._symbol.name and access.object is None:
                    self._found.add(path, access.place, "property")

    def _note_handed_on(self, path: str, file: FileScopes) -> None:
        """Add the lines where code takes a name from the whole module that no rule can follow: `lib[name]`."""
        for use, binding in file.uses:
            if binding.imported is None or binding.imported.name not in (None, "default"):
                continue
            meaning = self._project.meaning(binding, file)
            if not isinstance(meaning, ModuleRef) or not self._carries(meaning.path, self._symbol.name):
                continue
            node = file.source.node_at(*use.place[:2])
            if node is not None and node.parent is not None and not _takes_known(node.parent, node):
                self._found.risks.append(
                    f"{path}:{use.place.line} hands on all of {meaning.path}, with {binding.name}."
                )

    def _search_loaded(self, path: str, file: FileScopes) -> None:
        """Add uses of objects that may be modules which the file loads itself."""
        for access in file.accesses:
            if access.name != self._symbol.name or access.object is None:
                continue
            owner = self._project.expression_meaning(access.object, access.scope, file)
            if not isinstance(owner, ModuleRef) and self._may_be_module(access.object, owner, access.scope, file):
                self._found.add_likely(path, access.place)

    def _search_attribute(self, path: str, file: FileScopes, mention: AttributeMention) -> None:
        name = self._symbol.name
        if mention.object is not None and mention.object == file.source.root:
            owner: object = ModuleRef(path)
        else:
            owner = None
            if mention.object is not None:
                owner = self._project.expression_meaning(mention.object, mention.scope, file)
        if isinstance(owner, ModuleRef):
            if not owner.path.endswith("/") and self._carries(owner.path, name):
                self._found.add(path, mention.place, "text")
        elif not mention.keyed and (
            mention.object is None or self._may_be_module(mention.object, owner, mention.scope, file)
        ):
            self._found.add_likely(path, mention.place, "text")

    def _may_be_module(self, item: "Node", meaning: object, scope: Scope, file: FileScopes) -> bool:
        """Whether an object of unknown type may be the symbol's module, loaded at run time."""
        if isinstance(meaning, BindingRef) and meaning.binding.kind in ("class", "function", "type"):
            return False
        return self._classes.of(item, scope, file) is None

    def _search_path(self, path: str, mention: PathMention) -> None:
        if self._is_carrier(mention.prefix, path):
            self._found.add(path, mention.place, "text")
        elif source := self._project.modules.package(mention.prefix, path):
            self._note_unbound(source, path, mention.place.line)

    def _is_carrier(self, module: str, path: str) -> bool:
        source = self._project.modules.package(module, path)
        return source is not None and not source.endswith("/") and self._carries(source, self._symbol.name)

    def search_text(self, path: str, text: bytes) -> None:
        """Add the entry points of a settings file, `shop = "shop.cli:main"`, and lines of code in a script."""
        for mention in path_mentions(text, self._symbol.name):
            self._search_path(path, mention)
        for start, line in _lines(text):
            for place in code_mentions(line, self._symbol.name, lambda module: self._is_carrier(module, path)):
                self._found.add(path, text_place(text, start + place.start, start + place.end), "text")
        note_text_risks(path, text, self._symbol, self._found, self._project)

    def _find_fixture_uses(self) -> None:
        """Add the parameters by which tests ask pytest for a fixture."""
        nodes = [binding.node.parent for binding in self._symbol.bindings if binding.node is not None]
        marks = [
            text_of(each) for node in nodes if node is not None for each in node.children if each.type == "decorator"
        ]
        if not any("fixture" in mark for mark in marks):
            return
        for path, file in self._files.items():
            for binding in file.bindings:
                if binding.name == self._symbol.name and binding.kind == "parameter":
                    for place in binding.places:
                        self._found.add_likely(path, place, "name")

    def _search_aliases(self, path: str, file: FileScopes) -> None:
        names = self._found.names
        known = {binding for where, binding in self._found.bindings if where == path}
        for export in file.exports:
            renames = export.aliased or export.name == "default"
            if renames and export.local in names and self._is_symbol(self._project.member(path, export.name)):
                names.add(export.name)
                if export.name == "default":
                    self._found.default_exporters.add(path)
                if export.place is not None and export.module is not None:
                    self._found.add(path, export.place, "alias")
        for binding in file.bindings:
            if binding.imported is None or binding in known:
                continue
            if binding.imported.name is None and file.commonjs:
                # `const build = require("./build")`, where that file says `module.exports = build`.
                source = self._project.resolve(binding.imported.module, path)
                if source in self._found.default_exporters and self._project.files[source].commonjs:
                    self._add_alias(path, binding)
                continue
            if binding.imported.name not in names:
                continue
            if self._is_symbol(self._project.meaning(binding, file)):
                self._add_alias(path, binding)
        for access in file.accesses:
            if access.name in names and access.name != self._symbol.name and access.object is not None:
                owner = self._project.expression_meaning(access.object, access.scope, file)
                if isinstance(owner, ModuleRef) and self._is_symbol(self._project.member(owner.path, access.name)):
                    self._found.add(path, access.place, "alias")

    def _add_alias(self, path: str, binding: Binding) -> None:
        for place in binding.places:
            self._found.add(path, place, "alias")
        self._found.names.add(binding.name)

    def _is_symbol(self, meaning: object) -> bool:
        return isinstance(meaning, BindingRef) and meaning.binding in self._symbol.bindings

    def _carries(self, path: str, name: str) -> bool:
        """Whether a module offers the symbol under its own name, without an alias on the way."""
        key = (path, name)
        if key not in self._carried:
            self._carried[key] = False  # ends cycles
            file = self._project.file(path)
            self._carried[key] = file is not None and self._offers(file, name)
        return self._carried[key]

    def _offers(self, file: FileScopes, name: str) -> bool:
        if file.source.family == "script":
            export = find_export(file, name)
            if export is None:
                return any(self._carries(path, name) for path in self._stars(file))
            if export.aliased:
                return False
            if export.module is not None:
                path = self._project.resolve(export.module, file.path)
                return path is not None and self._carries(path, name)
            if export.local is not None and export.local != name:
                return False
            own = [each for each in (file.module.values.get(name), file.module.types.get(name)) if each is not None]
        else:
            own = [binding] if (binding := file.module.values.get(name)) is not None else []
            if not own:
                return any(self._carries(path, name) for path in self._stars(file))
        return any(self._imports_symbol(binding, file) for binding in own)

    def _imports_symbol(self, binding: Binding, file: FileScopes) -> bool:
        if binding in self._symbol.bindings:
            return True
        imported = binding.imported
        if imported is None or imported.aliased or imported.name != self._symbol.name:
            return False
        path = self._project.resolve(imported.module, file.path)
        return path is not None and self._carries(path, self._symbol.name)

    def _stars(self, file: FileScopes) -> Iterator[str]:
        for star in file.stars:
            if path := self._project.resolve(star, file.path):
                yield path


def _takes_known(parent: "Node", node: "Node") -> bool:
    """Whether code calls a module or takes a name from it that is written there."""
    if parent.type in ("member_expression", "nested_identifier", "nested_type_identifier", "jsx_opening_element"):
        return True
    if parent.type == "subscript_expression":
        index = parent.child_by_field_name("index")
        return index is not None and index.type == "string"
    if parent.type == "arguments" and parent.parent is not None:
        function = text_of(parent.parent.child_by_field_name("function"))
        return function.rpartition(".")[2] in ATTRIBUTE_CALLS or function == "expect"
    if parent.type in ("call_expression", "new_expression"):
        return node in (parent.child_by_field_name("function"), parent.child_by_field_name("constructor"))
    return parent.type in ("class_heritage", "extends_clause", "type_query", "export_specifier")


def _lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, line
        start += len(line)
