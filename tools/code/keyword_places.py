"""Where a parameter is written by those who call its function: `f(name=…)`."""

import re
from typing import TYPE_CHECKING

from tools.code.members import ClassKey, Members
from tools.code.project import Named, Project
from tools.code.scopes import Binding, FileScopes, Scope
from tools.code.symbols import Found, Symbol
from tools.code.tree import text_of

if TYPE_CHECKING:
    from tree_sitter import Node


class KeywordPlaces:
    def __init__(self, symbol: Symbol, project: Project, members: Members, found: Found) -> None:
        self._symbol = symbol
        self._project = project
        self._members = members
        self._found = found

    def find(self) -> None:
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
