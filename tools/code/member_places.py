"""Where a member of a class is written: in the classes that override each other's, and where an instance is evident."""

import re
from typing import TYPE_CHECKING

from tools.code.edits import line_at
from tools.code.members import ClassKey, Members
from tools.code.project import Named, Project
from tools.code.scopes import FileScopes, Place, Scope
from tools.code.symbols import Found, Symbol
from tools.code.tree import text_of

if TYPE_CHECKING:
    from tree_sitter import Node


class MemberPlaces:
    def __init__(self, symbol: Symbol, project: Project, members: Members, found: Found) -> None:
        self._symbol = symbol
        self._project = project
        self._members = members
        self._found = found

    def find(self, owner: ClassKey) -> None:
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
