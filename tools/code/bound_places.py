"""Where a binding is written: in its own file, in what others import, export and load from there, and by keyword."""

import re
from collections.abc import Iterator

from tools.code.edits import line_at
from tools.code.keyword_places import KeywordPlaces
from tools.code.members import Members
from tools.code.project import Module, Project, exported
from tools.code.scopes import Binding, FileScopes
from tools.code.symbols import Found, Symbol


class BoundPlaces:
    def __init__(self, symbol: Symbol, project: Project, members: Members, found: Found) -> None:
        self._symbol = symbol
        self._project = project
        self._members = members
        self._found = found
        self._carried: dict[tuple[str, str], bool] = {}

    def find(self) -> None:
        symbol, found = self._symbol, self._found
        for binding in symbol.bindings:
            self._whole(symbol.path, binding)
        if any(binding.kind == "parameter" for binding in symbol.bindings):
            KeywordPlaces(symbol, self._project, self._members, found).find()
        if not any(binding.scope.kind == "module" for binding in symbol.bindings):
            return
        for path, file in self._project.files.items():
            self._elsewhere(path, file)
        file = self._project.files[symbol.path]
        for export in file.exports:
            if export.aliased and export.local == symbol.name and export.name != "default":
                found.notes.append(f"{symbol.path} exports it as {export.name}, which stays.")

    def _whole(self, path: str, binding: Binding) -> None:
        self._found.renamed.append((path, binding))
        for place in binding.places:
            self._found.add(path, place)
        file = self._project.files[path]
        if binding.scope is file.module:
            for name, place in file.listed:
                if name == binding.name:
                    self._found.add(path, place)

    def _elsewhere(self, path: str, file: FileScopes) -> None:
        """What other files take from here under its own name."""
        name = self._symbol.name
        for binding in file.bindings:
            imported = binding.imported
            if imported is None or imported.name != name or imported.source is None:
                continue
            source = self._project.resolved(imported.module, path)
            if source is not None and self._carries(source, name):
                self._found.add(path, imported.source)
                if not imported.aliased:
                    self._whole(path, binding)
        for export in file.exports:
            if export.module is not None and export.local == name and export.place is not None:
                source = self._project.resolved(export.module, path)
                if source is not None and self._carries(source, name):
                    self._found.add(path, export.place)
        for access in file.accesses:
            if access.name == name and access.object is not None:
                owner = self._project.of_expression(access.object, access.scope, file)
                if isinstance(owner, Module) and not owner.path.endswith("/") and self._carries(owner.path, name):
                    self._found.add(path, access.place, property=True)
        self._mentioned(path, file)
        if file.source.family == "python" and file.stars:
            sources = [self._project.resolved(star, path) for star in file.stars]
            if any(source is not None and self._carries(source, name) for source in sources):
                for use in file.free:
                    if use.name == name:
                        self._found.add(path, use.place)

    def _mentioned(self, path: str, file: FileScopes) -> None:
        """Ways to a module that no import shows: a script that loads it while it runs, Python's `"module.name"`."""
        name = self._symbol.name
        if file.source.family == "script":
            sources = [self._project.resolved(module, path) for module in file.loaded]
            if any(source is not None and self._carries(source, name) for source in sources):
                known = {word.place for word in self._found.places.get(path, ())}
                places = [each.place for each in file.accesses if each.name == name and each.place not in known]
                self._found.unsure += [(path, place.line) for place in places]
            return
        dotted = re.compile(rb"[\"']((?:\w+\.)+)" + re.escape(name.encode()) + rb"[\"'.]")
        for match in dotted.finditer(file.source.text):
            source = self._project.modules.package(match[1].decode().rstrip("."), path)
            if source is not None and not source.endswith("/") and self._carries(source, name):
                self._found.unsure.append((path, line_at(file.source.text, match.start())))

    def _carries(self, path: str, name: str) -> bool:
        """Whether what a module offers under this name is the symbol, by its own name all the way."""
        key = (path, name)
        if key in self._carried:
            return self._carried[key]
        self._carried[key] = False
        file = self._project.file(path)
        answer = file is not None and self._offers(file, name)
        self._carried[key] = answer
        return answer

    def _offers(self, file: FileScopes, name: str) -> bool:
        if file.source.family == "script":
            export = exported(file, name)
            if export is None:
                return any(self._carries(path, name) for path in self._stars(file))
            if export.aliased:
                return False
            if export.module is not None:
                path = self._project.resolved(export.module, file.path)
                return path is not None and self._carries(path, name)
            own = [each for each in (file.module.values.get(name), file.module.types.get(name)) if each is not None]
        else:
            own = [binding] if (binding := file.module.values.get(name)) is not None else []
            if not own:
                return any(self._carries(path, name) for path in self._stars(file))
        return any(self._is(binding, file) for binding in own)

    def _is(self, binding: Binding, file: FileScopes) -> bool:
        if binding in self._symbol.bindings:
            return True
        imported = binding.imported
        if imported is None or imported.aliased or imported.name != self._symbol.name:
            return False
        path = self._project.resolved(imported.module, file.path)
        return path is not None and self._carries(path, self._symbol.name)

    def _stars(self, file: FileScopes) -> Iterator[str]:
        for star in file.stars:
            if path := self._project.resolved(star, file.path):
                yield path
