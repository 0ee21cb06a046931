"""Every place where a symbol is written, in all files: those that are certain, and those that nobody can be sure of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tools.code.edits import Edit, line_at
from tools.code.members import ClassKey, Members
from tools.code.project import Module, Named, Project, exported
from tools.code.scopes import Binding, FileScopes, Place, Scope
from tools.code.tree import text_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Symbol:
    """What is renamed: bindings of one name in one scope (several where a type and a value share it), or a member.

    A member has its class in `owner`; a parameter of a method, too, has the class and the method's name.
    """

    path: str
    name: str
    line: int
    kind: str
    bindings: tuple[Binding, ...] = ()
    owner: ClassKey | None = None
    method: str | None = None


class Written(NamedTuple):
    place: Place
    #: What is renamed there: the variable, or the property of that name. It matters where one word is both.
    property: bool = False


@dataclass(slots=True)
class Found:
    places: dict[str, set[Written]] = field(default_factory=dict)
    #: Bindings that take the new name, each with its file: what may collide.
    renamed: list[tuple[str, Binding]] = field(default_factory=list)
    unsure: list[tuple[str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    family: list[ClassKey] = field(default_factory=list)

    def add(self, path: str, place: Place, *, property: bool = False) -> None:
        self.places.setdefault(path, set()).add(Written(place, property))

    @property
    def count(self) -> int:
        return sum(len({written.place[:2] for written in places}) for places in self.places.values())


def places_of(symbol: Symbol, project: Project) -> Found:
    return _Search(symbol, project).found()


class _Search:
    def __init__(self, symbol: Symbol, project: Project) -> None:
        self._symbol = symbol
        self._project = project
        self._members = Members(project)
        self._found = Found()
        self._carried: dict[tuple[str, str], bool] = {}

    def found(self) -> Found:
        symbol = self._symbol
        if symbol.owner is not None and symbol.method is None:
            self._member(symbol.owner)
        else:
            self._binding()
        self._found.unsure = sorted(set(self._found.unsure))
        return self._found

    # -- bindings ----------------------------------------------------------------------------------------------------

    def _binding(self) -> None:
        symbol, found = self._symbol, self._found
        for binding in symbol.bindings:
            self._whole(symbol.path, binding)
        if any(binding.kind == "parameter" for binding in symbol.bindings):
            self._keywords()
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

    # -- parameters --------------------------------------------------------------------------------------------------

    def _keywords(self) -> None:
        """`f(name=…)` follows the parameter where it is evident that f is ours."""
        symbol = self._symbol
        function = symbol.bindings[0].scope.owner
        if symbol.owner is not None and symbol.method is not None:
            self._same_parameters(symbol.owner, symbol.method)
        for path, file in self._project.files.items():
            for keyword in file.keywords:
                if keyword.name != symbol.name or file.source.family != "python":
                    continue
                verdict = self._calls(keyword.callee, keyword.scope, file, function)
                if verdict:
                    self._found.add(path, keyword.place)
                elif verdict is None:
                    self._found.unsure.append((path, keyword.place.line))

    def _calls(self, callee: "Node", scope: Scope, file: FileScopes, function: Binding | None) -> bool | None:
        """True if this calls the function, nothing if that cannot be told."""
        symbol = self._symbol
        if symbol.owner is not None and callee.type != "identifier":
            return self._calls_method(callee, scope, file)
        if function is None:
            # A lambda, or a function that is declared to be another scope's.
            name = symbol.bindings[0].scope.node.child_by_field_name("name")
            return None if name is not None and text_of(callee) == text_of(name) else False
        meaning = self._project.of_expression(callee, scope, file)
        if not isinstance(meaning, Named) or meaning.binding is not function:
            return self._calls_method(callee, scope, file) if symbol.owner is not None else False
        return None if function.opaque else True  # defined more than once, it may be the other one

    def _calls_method(self, callee: "Node", scope: Scope, file: FileScopes) -> bool | None:
        owner, method = self._symbol.owner, self._symbol.method
        if method == "__init__":
            meaning = self._project.of_expression(callee, scope, file)
            if isinstance(meaning, Named) and meaning.binding.kind == "class":
                return self._constructs(ClassKey(*meaning))
        name = callee.child_by_field_name("attribute")
        if name is None or (name.text or b"").decode() != method:
            return False
        evidence = self._members.of(callee.child_by_field_name("object"), scope, file)
        if isinstance(evidence, ClassKey) and owner is not None:
            if owner in self._members.ancestors(evidence):
                return True
            return None if self._stands_for(evidence, owner) else False
        return None if evidence is None else False

    def _stands_for(self, key: ClassKey, owner: ClassKey) -> bool:
        """Whether an instance of the one may be used in place of the other: by inheritance, or as a protocol says."""
        if key in self._members.ancestors(owner) or owner in self._members.ancestors(key):
            return True
        bodies = [self._members.body(each) for each in (key, owner)]
        return any("Protocol" in text_of(base) for body in bodies if body is not None for base in body.bases)

    def _same_parameters(self, owner: ClassKey, method: str) -> None:
        """The same parameter where the method is overridden, or declared by a protocol, keeps its name."""
        for path, file in self._project.files.items():
            for body in file.classes:
                key, node = ClassKey(path, body.binding), body.methods.get(method)
                if key == owner or node is None or not self._stands_for(key, owner):
                    continue
                listed = node.child_by_field_name("parameters")
                word = rf"(?<!\w){re.escape(self._symbol.name)}\b"
                if listed is not None and re.search(word, text_of(listed)):
                    self._found.unsure.append((path, node.start_point[0] + 1))

    def _constructs(self, key: ClassKey) -> bool:
        for each in self._members.ancestors(key):
            body = self._members.body(each)
            if body is not None and "__init__" in body.methods:
                return each == self._symbol.owner
        return False

    # -- members -----------------------------------------------------------------------------------------------------

    def _member(self, owner: ClassKey) -> None:
        name, found, members = self._symbol.name, self._found, self._members
        family = self._family(owner)
        found.family = sorted(family, key=lambda key: (key.path, key.binding.line))
        for key in found.family:
            # A class that is defined twice has its members twice.
            bodies = [body for body in self._project.files[key.path].classes if body.binding is key.binding]
            for place in (place for body in bodies for place in body.members.get(name, ())):
                found.add(key.path, place, property=True)
            if members.outside(key):
                found.notes.append(
                    f"{key.binding.name} ({key.path}:{key.binding.line}) derives from a class outside of the "
                    f"workspace: if {name} is that class's name, it is no longer overridden."
                )
        self._structural(family)
        spelled = re.compile(rb"\b(?:get|set|has|del)attr\([^(),]+,\s*[\"']" + re.escape(name.encode()) + rb"[\"']")
        for path, file in self._project.files.items():
            if file.source.family == "python":
                starts = [match.start() for match in spelled.finditer(file.source.text)]
                found.unsure += [(path, line_at(file.source.text, start)) for start in starts]
            for own, member, place in file.own:
                if member == name and self._belongs(ClassKey(path, own.binding), family):
                    found.add(path, place, property=True)
            for access in file.accesses:
                if access.name == name:
                    self._access(path, file, access.object, access.scope, access.place, family)
            for keyword in file.keywords:
                if keyword.name == name:
                    self._named(path, file, keyword.callee, keyword.scope, keyword.place, family)

    def _family(self, owner: ClassKey) -> set[ClassKey]:
        """The classes that override each other's member of this name: all of them are renamed, or none."""
        definers = [
            ClassKey(path, body.binding)
            for path, file in self._project.files.items()
            for body in file.classes
            if self._symbol.name in body.members
        ]
        above = {key: set(self._members.ancestors(key)) for key in definers}
        family = {owner}
        grown = True
        while grown:
            grown = False
            for key in definers:
                if key not in family and any(key in above.get(each, ()) or each in above[key] for each in family):
                    family.add(key)
                    grown = True
        return family

    def _structural(self, family: set[ClassKey]) -> None:
        """A protocol is fulfilled by classes that do not say so: whether they are meant to, nobody can tell."""
        name = self._symbol.name
        owners = [
            (ClassKey(path, body.binding), body)
            for path, file in self._project.files.items()
            for body in file.classes
            if body.members.get(name)
        ]
        protocols = [key for key, body in owners if any("Protocol" in text_of(base) for base in body.bases)]
        if not protocols:
            return
        renames_one = any(key in family for key in protocols)
        for key, body in owners:
            if key not in family and (renames_one or key in protocols):
                self._found.unsure.append((key.path, body.members[name][0].line))

    def _belongs(self, key: ClassKey, family: set[ClassKey]) -> bool:
        return any(each in family for each in self._members.ancestors(key))

    def _access(
        self, path: str, file: FileScopes, item: "Node | None", scope: Scope, place: Place, family: set[ClassKey]
    ) -> None:
        if item is None:
            self._found.unsure.append((path, place.line))
            return
        evidence = self._members.of(item, scope, file)
        if isinstance(evidence, ClassKey):
            if self._belongs(evidence, family):
                self._found.add(path, place, property=True)
            elif any(evidence in self._members.ancestors(each) for each in family) or self._members.outside(evidence):
                self._found.unsure.append((path, place.line))
        elif evidence is None:
            self._found.unsure.append((path, place.line))

    def _named(
        self, path: str, file: FileScopes, callee: "Node", scope: Scope, place: Place, family: set[ClassKey]
    ) -> None:
        """`Point(x=1)` where the class is made by naming its members; a key of an object whose type is declared."""
        if file.source.family == "script":
            evidence = self._members.of_annotation(callee, scope, file)
            if isinstance(evidence, ClassKey):
                if self._belongs(evidence, family):
                    self._found.add(path, place, property=True)
            elif evidence is None:
                self._found.unsure.append((path, place.line))
            return
        if (word := text_of(callee).rpartition(".")[2]) in ("replace", "_replace", "evolve"):
            self._copied(path, file, callee, scope, place, family, word)
            return
        meaning = self._project.of_expression(callee, scope, file)
        if isinstance(meaning, Named) and meaning.binding.kind == "class":
            key = ClassKey(*meaning)
            made = [body for each in self._members.ancestors(key) if (body := self._members.body(each)) is not None]
            made_so = any(body.by_members for body in made) and not any("__init__" in body.methods for body in made)
            if made_so and self._belongs(key, family):
                self._found.add(path, place, property=True)

    def _copied(
        self, path: str, file: FileScopes, callee: "Node", scope: Scope, place: Place, family: set[ClassKey], word: str
    ) -> None:
        """`replace(point, x=1)` and `point._replace(x=1)`: a copy of an instance, with members by name."""
        item = callee.child_by_field_name("object") if word == "_replace" else None
        arguments = callee.parent.child_by_field_name("arguments") if callee.parent is not None else None
        if item is None and arguments is not None and arguments.named_child_count:
            item = arguments.named_children[0]
        self._access(path, file, item, scope, place, family)


def rewritten(words: set[Written], old: str, new: str) -> list[Edit]:
    """The edits of one file. Where one word is a property and a variable (`{id}`), only the one meant changes."""
    both = {word.place[:2] for word in words if word.property} & {word.place[:2] for word in words if not word.property}
    edits = []
    for word in words:
        place = word.place
        if place.manner in ("shorthand", "pattern") and place[:2] not in both:
            text = f"{new}: {old}" if word.property else f"{old}: {new}"
        else:
            text = new
        edits.append(Edit(place.start, place.end, text.encode()))
    return edits
