"""The index of a project: analyzed files, and the way of a name from one file to another."""

from typing import TYPE_CHECKING, NamedTuple

from sidecar.wire.base import JsonObject
from tools.code.modules import Modules
from tools.code.python_definitions import name_of
from tools.code.python_scopes import PythonScopes
from tools.code.scopes import (
    Binding,
    BindingRef,
    FileScopes,
    ImportedName,
    Meaning,
    ModuleRef,
    Scope,
    find_export,
    lookup,
)
from tools.code.script_scopes import ScriptScopes, required_module
from tools.code.source import SourceText, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DEPTH = 20
_IMPORT_WORDS = frozenset({"import", "require"})


class Refusal(Exception):
    """A change is not made, for this reason."""

    def __init__(self, code: str, message: str, details: JsonObject | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class Project:
    """Files are added as they are read; a question that needs another file puts it into `wanted`."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self.sources: dict[str, SourceText] = {}
        self.files: dict[str, FileScopes] = {}
        #: Files that cannot be analyzed, with the reason.
        self.skipped: dict[str, str] = {}
        self.wanted: set[str] = set()

    def add(self, source: SourceText, words: frozenset[str] | None = None, *, members: bool = False) -> None:
        """Analyze a file, or with `words` only those parts that hold one of them."""
        path = source.path
        self.wanted.discard(path)
        self.sources[path] = source
        if source.family is None:
            self.skip(path, "its language is not supported")
        elif not source.is_utf8:
            self.skip(path, "it is not UTF-8 text")
        elif source.errors:
            self.skip(path, f"it has a syntax error at line {source.errors[0]}")
        else:
            try:
                self.files[path] = analyze(source, words, members=members)
            except RecursionError:
                self.skip(path, "it nests too deeply")

    def skip(self, path: str, reason: str) -> None:
        self.wanted.discard(path)
        self.files.pop(path, None)
        self.skipped[path] = reason

    def file(self, path: str) -> FileScopes | None:
        if path not in self.files and path not in self.skipped and path in self.modules.paths:
            self.wanted.add(path)
        return self.files.get(path)

    def resolve(self, module: str, importer: str) -> str | None:
        """Return the file that an import means, or None if it is outside the project."""
        if self.files[importer].source.family == "python":
            return self.modules.package(module, importer)
        return self.modules.script(module, importer)

    def meaning(self, binding: Binding, file: FileScopes, depth: int = 0) -> Meaning | None:
        """Follow imports to where a binding comes from."""
        imported = binding.imported
        if imported is None:
            return BindingRef(file.path, binding)
        path = self.resolve(imported.module, file.path)
        if path is None:
            return None
        if imported.name is None:
            return ModuleRef(path)
        if imported.default and (whole := self.file(path)) is not None and whole.commonjs:
            return self.member(path, "default", depth + 1) or ModuleRef(path)
        if path == file.path:
            # `from . import module` of a package itself.
            below = self.modules.submodule(path, imported.name)
            return ModuleRef(below) if below else None
        return self.member(path, imported.name, depth + 1)

    def member(self, path: str, name: str, depth: int = 0) -> Meaning | None:
        """Return what a module offers under a name."""
        if depth > _DEPTH:
            return None
        if path.endswith("/"):
            below = self.modules.submodule(path, name)
            return ModuleRef(below) if below else None
        file = self.file(path)
        if file is None:
            return None
        if file.source.family == "script":
            return self._exported(file, name, depth)
        binding = file.module.values.get(name)
        if binding is not None:
            return self.meaning(binding, file, depth)
        if found := self._from_stars(name, file, depth):
            return found
        below = self.modules.submodule(path, name)
        return ModuleRef(below) if below else None

    def _exported(self, file: FileScopes, name: str, depth: int) -> Meaning | None:
        export = find_export(file, name)
        if export is None:
            return self._from_stars(name, file, depth)
        if export.module is not None:
            path = self.resolve(export.module, file.path)
            if path is None or export.local == "*":
                return ModuleRef(path) if path else None
            return self.member(path, export.local or name, depth + 1)
        local = name if export.local is None else export.local
        binding = file.module.values.get(local) or file.module.types.get(local)
        return self.meaning(binding, file, depth) if binding is not None else None

    def _from_stars(self, name: str, file: FileScopes, depth: int = 0) -> Meaning | None:
        for star in file.stars:
            if (path := self.resolve(star, file.path)) and (found := self.member(path, name, depth + 1)):
                return found
        return None

    def expression_meaning(self, node: "Node", scope: Scope, file: FileScopes) -> Meaning | None:
        """Return what a name or a dotted chain of names means."""
        kind = node.type
        if kind in ("identifier", "type_identifier"):
            name = name_of(node) if file.source.family == "python" else text_of(node)
            binding = lookup(name, scope, "type" if kind == "type_identifier" else "value") or lookup(name, scope)
            if binding is not None:
                return self.meaning(binding, file)
            return self._from_stars(name, file) if file.source.family == "python" else None
        if kind in ("attribute", "member_expression", "nested_type_identifier", "nested_identifier"):
            item = node.child_by_field_name("object") or node.child_by_field_name("module")
            name_node = (
                node.child_by_field_name("attribute")
                or node.child_by_field_name("property")
                or node.child_by_field_name("name")
            )
            if item is None or name_node is None:
                return None
            owner = self.expression_meaning(item, scope, file)
            return self.member(owner.path, text_of(name_node)) if isinstance(owner, ModuleRef) else None
        if (module := required_module(node)) is not None and (path := self.resolve(module, file.path)):
            return ModuleRef(path)
        return None


def analyze(source: SourceText, words: frozenset[str] | None = None, *, members: bool = False) -> FileScopes:
    walk_type = PythonScopes if source.family == "python" else ScriptScopes
    walk = walk_type(source, words, members=members)
    walk.block(source.root, walk.module)
    walk.resolve()
    return walk.file


class ResolvedImport(NamedTuple):
    """An imported name with the file it comes from; `file` is None outside the project."""

    local: str
    module: str
    name: str | None
    line: int
    file: str | None


def resolve_imports(source: SourceText, modules: Modules) -> list[ResolvedImport]:
    """Return the imports of one file, also of a file with syntax errors."""
    if source.family is None:
        return []
    walk_type = PythonScopes if source.family == "python" else ScriptScopes
    walk = walk_type(source, _IMPORT_WORDS)
    try:
        walk.block(source.root, walk.module)
    except RecursionError:
        pass
    except (IndexError, ValueError):
        if not source.errors:  # a broken tree may lack parts of a statement
            raise
    if source.family == "python":
        return [_resolve_python(each, source.path, modules) for each in walk.file.imports]
    return [ResolvedImport(*each, modules.script(each.module, source.path)) for each in walk.file.imports]


def _resolve_python(imported: ImportedName, path: str, modules: Modules) -> ResolvedImport:
    local, module, name, line = imported
    file = modules.python(module, path)
    if name is not None and name != "*" and (file is None or file.endswith("__init__.py")):
        inner = f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
        if (submodule := modules.python(inner, path)) is not None:
            return ResolvedImport(local, inner, None, line, submodule)
    return ResolvedImport(*imported, file)
