"""The files of a workspace as far as they were read, and the way of a name from one to another."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from tools.code.modules import Modules
from tools.code.python import python_scopes
from tools.code.python_walk import name_of
from tools.code.scopes import Binding, Export, FileScopes, Scope, lookup
from tools.code.script import script_scopes
from tools.code.tree import parsed, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DEPTH = 20


class Module(NamedTuple):
    """A file as a thing that has names, or a Python package without an `__init__` (its path ends with a slash)."""

    path: str


class Named(NamedTuple):
    """What a name means in the end: a binding of a file that is no import."""

    path: str
    binding: Binding


Meaning = Module | Named


class Project:
    def __init__(self, paths: Iterable[str]) -> None:
        self.modules = Modules(paths)
        self.files: dict[str, FileScopes] = {}
        #: What could not be understood, with the reason.
        self.left_alone: dict[str, str] = {}
        self.wanted: set[str] = set()

    def add(self, path: str, content: bytes) -> None:
        self.wanted.discard(path)
        source = parsed(path, content)
        if source is None:
            self.left_alone[path] = "it is not UTF-8 text"
        elif source.errors:
            self.left_alone[path] = f"it has a syntax error at line {source.errors[0]}"
        else:
            try:
                read = python_scopes if source.family == "python" else script_scopes
                self.files[path] = read(source)
            except RecursionError:
                self.left_alone[path] = "it nests too deeply"

    def refuse(self, path: str, why: str) -> None:
        self.wanted.discard(path)
        self.left_alone[path] = why

    def file(self, path: str) -> FileScopes | None:
        if path not in self.files and path not in self.left_alone and path in self.modules.paths:
            self.wanted.add(path)
        return self.files.get(path)

    # -- what is meant -----------------------------------------------------------------------------------------------

    def resolved(self, module: str, importer: str) -> str | None:
        file = self.files[importer]
        if file.source.family == "python":
            return self.modules.package(module, importer)
        return self.modules.script(module, importer)

    def meaning(self, binding: Binding, file: FileScopes, depth: int = 0) -> Meaning | None:
        """Where a binding comes from in the end."""
        imported = binding.imported
        if imported is None:
            return Named(file.path, binding)
        path = self.resolved(imported.module, file.path)
        if path is None:
            return None
        if imported.name is None:
            return Module(path)
        return self.member(path, imported.name, depth + 1)

    def member(self, path: str, name: str, depth: int = 0) -> Meaning | None:
        """What a module offers under a name."""
        if depth > _DEPTH:
            return None
        if path.endswith("/"):
            below = self.modules.submodule(path, name)
            return Module(below) if below else None
        file = self.file(path)
        if file is None:
            return None
        if file.source.family == "script":
            return self._exported(file, name, depth)
        binding = file.module.values.get(name)
        if binding is not None:
            return self.meaning(binding, file, depth)
        for star in file.stars:
            if (target := self.resolved(star, path)) and (found := self.member(target, name, depth + 1)):
                return found
        below = self.modules.submodule(path, name)
        return Module(below) if below else None

    def _exported(self, file: FileScopes, name: str, depth: int) -> Meaning | None:
        export = exported(file, name)
        if export is not None:
            if export.module is not None:
                path = self.resolved(export.module, file.path)
                return self.member(path, export.local or name, depth + 1) if path else None
            binding = _local(file, export.local or name)
            return self.meaning(binding, file, depth) if binding is not None else None
        for star in file.stars:
            if (path := self.resolved(star, file.path)) and (found := self.member(path, name, depth + 1)):
                return found
        return None

    def of_expression(self, node: "Node", scope: Scope, file: FileScopes) -> Meaning | None:
        """What a name, or a chain of names behind dots, means."""
        kind = node.type
        if kind in ("identifier", "type_identifier"):
            name = name_of(node) if file.source.family == "python" else text_of(node)
            binding = lookup(name, scope, "type" if kind == "type_identifier" else "value") or lookup(name, scope)
            if binding is not None:
                return self.meaning(binding, file)
            return self._by_star(name, file)
        if kind in ("attribute", "member_expression", "nested_type_identifier", "nested_identifier"):
            item = node.child_by_field_name("object") or node.child_by_field_name("module")
            name_node = (
                node.child_by_field_name("attribute")
                or node.child_by_field_name("property")
                or node.child_by_field_name("name")
            )
            if item is None or name_node is None:
                return None
            owner = self.of_expression(item, scope, file)
            return self.member(owner.path, text_of(name_node)) if isinstance(owner, Module) else None
        return None

    def _by_star(self, name: str, file: FileScopes) -> Meaning | None:
        if file.source.family != "python":
            return None
        for star in file.stars:
            if (path := self.resolved(star, file.path)) and (found := self.member(path, name)):
                return found
        return None


def exported(file: FileScopes, name: str) -> Export | None:
    return next((each for each in file.exports if each.name == name), None)


def _local(file: FileScopes, name: str) -> Binding | None:
    return file.module.values.get(name) or file.module.types.get(name)
