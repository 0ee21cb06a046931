"""The walk through a Python file: what binds a name, and what each name means once all of them are known."""

import unicodedata
from typing import TYPE_CHECKING

from tools.code.scopes import Binding, BindingKind, ClassBody, Place, Scope, ScopeKind, Use, lookup, place_of
from tools.code.tree import Source, text_of
from tools.code.walk import Walk

if TYPE_CHECKING:
    from tree_sitter import Node


def name_of(node: "Node") -> str:
    """Python takes names for the same that differ only in how their characters are composed."""
    name = text_of(node)
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


class PythonWalk(Walk):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.module.types = self.module.values
        self._bodies: dict[int, ClassBody] = {}

    def _name(self, node: "Node", scope: Scope) -> None:
        self._uses.append(Use(name_of(node), place_of(node), scope))

    def _scope(self, kind: ScopeKind, node: "Node", parent: Scope, owner: Binding | None = None) -> Scope:
        scope = Scope(kind, node, parent, owner=owner)
        scope.types = scope.values
        self.file.scopes.append(scope)
        return scope

    def bind(self, node: "Node", scope: Scope, kind: BindingKind = "variable") -> Binding | None:
        """The binding that this name makes or makes again; nothing if it is declared to be another scope's."""
        name, place = name_of(node), place_of(node, defines=True)
        if name in scope.elsewhere:
            if scope.elsewhere[name] == "global" and name not in self.module.values:
                self._bound(node, self.module, kind, place)
                return None
            self._uses.append(Use(name, place, scope))
            return None
        return self._bound(node, scope, kind, place)

    def _since(self, node: "Node") -> int:
        around = node.parent
        while around is not None and around.type not in ("assignment", "function_definition", "class_definition"):
            around = around.parent if around.type.endswith(("pattern", "pattern_list")) else None
        return around.end_byte if around is not None else node.start_byte

    def _bound(self, node: "Node", scope: Scope, kind: BindingKind, place: Place) -> Binding:
        name = name_of(node)
        binding = scope.values.get(name)
        if binding is None:
            binding = scope.values[name] = Binding(name, scope, kind, place.line, since=self._since(node))
            self.file.bindings.append(binding)
        elif binding.kind == "import" or kind == "import":
            binding.opaque = True
        elif binding.kind == "variable" and kind != "variable":
            binding.kind, binding.opaque = kind, True
        elif kind in ("function", "class"):
            binding.opaque = True
        binding.places.append(place)
        return binding

    def _target(self, node: "Node | None", scope: Scope) -> None:
        """What is assigned to, without knowing what: loops, unpackings, `with`."""
        if node is None:
            return
        if node.type == "identifier":
            binding = self.bind(node, scope)
            if binding is not None:
                binding.opaque = True
        elif node.type in ("attribute", "subscript"):
            self.one(node, scope)
        else:
            for child in node.named_children:
                self._target(child, scope)

    # -- at the end ----------------------------------------------------------------------------------------------------

    def resolve(self) -> None:
        for use in self._uses:
            binding = self._meant(use)
            if binding is None:
                self.file.free.append(use)
            else:
                binding.places.append(use.place)
                binding.opaque |= use.place.defines  # bound from another scope, to who knows what
                self.file.uses.append((use, binding))
        self._complete()

    def _meant(self, use: Use) -> Binding | None:
        binding = lookup(use.name, use.scope)
        scope = use.scope
        if binding is None or scope.kind != "class" or binding.scope is not scope or use.place.start >= binding.since:
            return binding
        # Until it is bound there, a name of a class body is the module's, whatever functions are around.
        return self.module.values.get(use.name)

    def _tangle(self, scope: Scope) -> None:
        """A class body that binds a name perhaps, or only after a while, reads the outer one until then."""
        used = {use.name: use.place.line for use in self._uses if use.scope is scope}
        for name, binding in scope.values.items():
            other = self.module.values.get(name)
            if other is None or not self._hesitant(binding, scope):
                continue
            if name in used or self._augmented_first(binding, scope):
                self.file.tangled.append((binding, other, used.get(name, binding.line)))

    def _hesitant(self, binding: Binding, scope: Scope) -> bool:
        node = scope.node.descendant_for_byte_range(binding.places[0].start, binding.places[0].end)
        body = scope.node.child_by_field_name("body")
        while node is not None and node.parent is not None and node.parent != body:
            if node.type in ("augmented_assignment", "named_expression", "delete_statement"):
                return True
            node = node.parent
        return node is None or node.type not in (
            "expression_statement",
            "function_definition",
            "class_definition",
            "decorated_definition",
            "import_statement",
            "import_from_statement",
            "type_alias_statement",
        )

    def _augmented_first(self, binding: Binding, scope: Scope) -> bool:
        node = scope.node.descendant_for_byte_range(binding.places[0].start, binding.places[0].end)
        return node is not None and node.parent is not None and node.parent.type == "augmented_assignment"

    def _complete(self) -> None:
        """What a class body says of its own members, wherever it says it."""
        for body in self.file.classes:
            self._tangle(body.scope)
            for name, binding in body.scope.values.items():
                known = set(body.members.get(name, ()))
                body.members.setdefault(name, []).extend(place for place in binding.places if place not in known)
