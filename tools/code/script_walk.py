"""The walk through a script's syntax tree: what every part of the reading needs, and what binds a name."""

from typing import TYPE_CHECKING

from tools.code.scopes import (
    Access,
    Binding,
    BindingKind,
    ClassBody,
    Manner,
    Scope,
    ScopeKind,
    Use,
    lookup,
    place_of,
)
from tools.code.tree import Source, text_of
from tools.code.walk import Walk

if TYPE_CHECKING:
    from tree_sitter import Node

VALUE = frozenset({"value"})
TYPE = frozenset({"type"})
BOTH = VALUE | TYPE


class ScriptWalk(Walk):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._assigned: list[tuple[str, Node, Scope]] = []
        #: The classes around, the innermost last; nothing where `this` is no instance of one.
        self._bodies: list[ClassBody | None] = []

    def _use(self, node: "Node", scope: Scope, meaning: str = "value", manner: Manner = "plain") -> None:
        self._uses.append(Use(text_of(node), place_of(node, manner), scope, meaning))

    def _scope(self, kind: ScopeKind, node: "Node", parent: Scope, owner: Binding | None = None) -> Scope:
        scope = Scope(kind, node, parent, owner=owner)
        self.file.scopes.append(scope)
        return scope

    def bind(
        self,
        node: "Node",
        scope: Scope,
        kind: BindingKind = "variable",
        meanings: frozenset[str] = VALUE,
        manner: Manner = "plain",
    ) -> Binding:
        name, place = text_of(node), place_of(node, manner, defines=True)
        found = [each for meaning in meanings if (each := scope.table(meaning).get(name)) is not None]
        binding = found[0] if found else None
        if binding is None:
            binding = Binding(name, scope, kind, place.line, meanings=meanings)
            self.file.bindings.append(binding)
        else:
            # Declared more than once: overloads, an interface that goes on, a namespace beside its function.
            binding.opaque = True
            binding.meanings |= meanings
        for meaning in meanings:
            scope.table(meaning).setdefault(name, binding)
        binding.places.append(place)
        return binding

    def _patterns(self, node: "Node | None", scope: Scope, kind: BindingKind, outer: Scope) -> Binding | None:
        """Binds the names of a pattern; the one binding if it is a plain name."""
        if node is None:
            return None
        if node.type == "identifier":
            return self.bind(node, scope, kind)
        if node.type == "shorthand_property_identifier_pattern":
            self.bind(node, scope, kind, manner="pattern").opaque = True
            self.file.accesses.append(Access(text_of(node), place_of(node, "pattern"), None, outer))
        elif node.type == "pair_pattern":
            key = node.child_by_field_name("key")
            if key is not None and key.type == "property_identifier":
                self.file.accesses.append(Access(text_of(key), place_of(key), None, outer))
            else:
                self.one(key, outer)
            self._opaque(node.child_by_field_name("value"), scope, kind, outer)
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            self._opaque(node.child_by_field_name("left"), scope, kind, outer)
            self.one(node.child_by_field_name("right"), outer)
        elif node.type in ("object_pattern", "array_pattern", "rest_pattern"):
            for each in node.named_children:
                self._opaque(each, scope, kind, outer)
        elif node.type != "this":
            self.one(node, scope)
        return None

    def _opaque(self, node: "Node | None", scope: Scope, kind: BindingKind, outer: Scope) -> None:
        binding = self._patterns(node, scope, kind, outer)
        if binding is not None:
            binding.opaque = True

    def resolve(self) -> None:
        for name, value, scope in self._assigned:
            if (assigned := lookup(name, scope)) is not None:
                assigned.values.append((value, scope))
        for use in self._uses:
            meaning = use.meaning.removeprefix("export ")
            binding = lookup(use.name, use.scope, meaning)
            if binding is None and use.meaning.startswith("export"):
                binding = lookup(use.name, use.scope, "type")
            if binding is None:
                self.file.free.append(use)
            else:
                binding.places.append(use.place)
                self.file.uses.append((use, binding))


def string_of(node: "Node") -> str:
    return text_of(node)[1:-1]
