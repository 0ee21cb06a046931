"""References to a member of a class."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tools.code.scopes import BindingRef, ClassKey, FileScopes, Place, Scope
from tools.code.source import text_of
from tools.code.symbols import References, Symbol, text_place

if TYPE_CHECKING:
    from tree_sitter import Node

    from tools.code.classes import ClassIndex
    from tools.code.project import Project


class MemberFinder:
    def __init__(
        self,
        symbol: Symbol,
        project: "Project",
        classes: "ClassIndex",
        found: References,
        files: Mapping[str, FileScopes],
    ) -> None:
        self._symbol = symbol
        self._project = project
        self._classes = classes
        self._found = found
        self._files = files

    def find(self) -> None:
        name, found, classes = self._symbol.name, self._found, self._classes
        assert self._symbol.owner is not None
        family = self._family(self._symbol.owner)
        found.family = sorted(family, key=lambda key: (key.path, key.binding.line))
        for key in found.family:
            # A class may be defined twice.
            bodies = [body for body in self._project.files[key.path].classes if body.binding is key.binding]
            for place in (place for body in bodies for place in body.members.get(name, ())):
                found.add(key.path, place, "property", key)
            if classes.has_outside_base(key):
                found.notes.append(
                    f"{key.binding.name} ({key.path}:{key.binding.line}) has a base class outside the workspace: "
                    f"if {name} overrides a member of it, it no longer does."
                )
        self._structural(family)
        spelled = re.compile(rb"\b(?:get|set|has|del)attr\([^(),]+,\s*[\"'](" + re.escape(name.encode()) + rb")[\"']")
        for path, file in self._files.items():
            if file.source.family == "python":
                for match in spelled.finditer(file.source.text):
                    found.add_likely(path, text_place(file.source.text, *match.span(1)), "text")
            for own, member, place in file.own:
                key = ClassKey(path, own.binding)
                if member == name and self._belongs(key, family):
                    found.add(path, place, "property", key)
            for access in file.accesses:
                if access.name == name:
                    self._access(path, file, access.object, access.scope, access.place, family)
            for keyword in file.keywords:
                if keyword.name == name:
                    self._named(path, file, keyword.callee, keyword.scope, keyword.place, family)

    def _family(self, owner: ClassKey) -> set[ClassKey]:
        """Return the classes that override each other's member of this name."""
        definers = [
            ClassKey(path, body.binding)
            for path, file in self._project.files.items()
            for body in file.classes
            if self._symbol.name in body.members
        ]
        above = {key: set(self._classes.ancestors(key)) for key in definers}
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
        """Add classes that may implement a protocol without naming it."""
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
                self._found.add_likely(key.path, body.members[name][0])

    def _belongs(self, key: ClassKey, family: set[ClassKey]) -> bool:
        return any(each in family for each in self._classes.ancestors(key))

    def _access(
        self, path: str, file: FileScopes, item: "Node | None", scope: Scope, place: Place, family: set[ClassKey]
    ) -> None:
        if item is None:
            self._found.add_likely(path, place)
            return
        evidence = self._classes.of(item, scope, file)
        if isinstance(evidence, ClassKey):
            if self._belongs(evidence, family):
                self._found.add(path, place, "property", evidence)
            elif any(evidence in self._classes.ancestors(each) for each in family) or self._classes.has_outside_base(
                evidence
            ):
                self._found.add_likely(path, place)
        elif evidence is None:
            self._found.add_likely(path, place)

    def _named(
        self, path: str, file: FileScopes, callee: "Node", scope: Scope, place: Place, family: set[ClassKey]
    ) -> None:
        """Add `Point(x=1)` where members are named to construct, and keys of objects with a declared type."""
        if file.source.family == "script":
            evidence = self._classes.of_annotation(callee, scope, file)
            if isinstance(evidence, ClassKey):
                if self._belongs(evidence, family):
                    self._found.add(path, place, "property", evidence)
            elif evidence is None:
                self._found.add_likely(path, place)
            return
        if (word := text_of(callee).rpartition(".")[2]) in ("replace", "_replace", "evolve"):
            self._copied(path, file, callee, scope, place, family, word)
            return
        meaning = self._project.expression_meaning(callee, scope, file)
        if isinstance(meaning, BindingRef) and meaning.binding.kind == "class":
            key = ClassKey(*meaning)
            made = [body for each in self._classes.ancestors(key) if (body := self._classes.body(each)) is not None]
            made_so = any(body.by_members for body in made) and not any("__init__" in body.methods for body in made)
            if made_so and self._belongs(key, family):
                self._found.add(path, place, "property", key)

    def _copied(
        self, path: str, file: FileScopes, callee: "Node", scope: Scope, place: Place, family: set[ClassKey], word: str
    ) -> None:
        """Add `replace(point, x=1)` and `point._replace(x=1)`, which copy an instance."""
        item = callee.child_by_field_name("object") if word == "_replace" else None
        arguments = callee.parent.child_by_field_name("arguments") if callee.parent is not None else None
        if item is None and arguments is not None and arguments.named_child_count:
            item = arguments.named_children[0]
        self._access(path, file, item, scope, place, family)
