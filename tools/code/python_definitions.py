"""What opens a scope in a Python file: functions, classes, lambdas and comprehensions."""

from typing import TYPE_CHECKING

from tools.code.python_walk import PythonWalk, name_of
from tools.code.scopes import Binding, ClassBody, Scope
from tools.code.tree import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_BY_MEMBERS = ("dataclass", "define", "frozen", "attrs", "attr.s", "NamedTuple", "TypedDict", "BaseModel", "Struct")


class PythonDefinitions(PythonWalk):
    def _function(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        binding = self.bind(name, scope, "function") if name is not None else None
        if binding is not None:
            binding.node = node
        inner = self._scope("function", node, scope, binding)
        parameters = self._type_parameters(node, scope, inner)
        self.one(node.child_by_field_name("return_type"), parameters)
        self._parameters(node.child_by_field_name("parameters"), inner, parameters)
        body = self._bodies.get(id(scope))
        if body is not None and name is not None:
            body.methods[name_of(name)] = node
            self._self(node, inner, body)
        self.one(node.child_by_field_name("body"), inner)

    def _type_parameters(self, node: "Node", outer: Scope, inner: Scope) -> Scope:
        """`def f[T]`: a scope of its own, around the parameters' annotations."""
        found = node.child_by_field_name("type_parameters")
        if found is None:
            return outer
        between = self._scope("block", found, outer, inner.owner)
        inner.parent = between
        for each in found.named_children:
            first = each
            while first.named_child_count and first.type != "identifier":
                first = first.named_children[0]
            if first.type == "identifier":
                self.bind(first, between)
                for other in each.named_children[1:] or each.named_children[0].named_children[1:]:
                    self.one(other, between)
        return between

    def _parameters(self, node: "Node | None", inner: Scope, outer: Scope) -> None:
        for each in node.named_children if node is not None else ():
            annotation, value = each.child_by_field_name("type"), each.child_by_field_name("value")
            self.one(annotation, outer)
            self.one(value, outer)
            name: Node | None = each
            while name is not None and name.type != "identifier":
                name = name.child_by_field_name("name") or (name.named_children[0] if name.named_child_count else None)
            if name is None:
                continue
            binding = self.bind(name, inner, "parameter")
            if binding is None:
                continue
            splat = "splat" in each.type or (each.named_child_count and "splat" in each.named_children[0].type)
            if annotation is not None and not splat:
                binding.annotations.append((annotation, outer))
            else:
                binding.opaque = True

    def _self(self, node: "Node", inner: Scope, body: ClassBody) -> None:
        around = node.parent
        marks = [text_of(each) for each in around.named_children if each.type == "decorator"] if around else []
        if any(mark.startswith("@staticmethod") for mark in marks):
            return
        first = next(iter(inner.values.values()), None)
        if first is not None and first.kind == "parameter":
            self.file.selves[first] = body

    def _class(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        binding = self.bind(name, scope, "class") if name is not None else None
        if binding is None and name is not None:
            # Declared to be another scope's: its members are known all the same, though nobody is evidently one of it.
            binding = Binding(name_of(name), scope, "class", node.start_point[0] + 1)
        inner = self._scope("class", node, scope, binding)
        outer = self._type_parameters(node, scope, inner)
        heritage = node.child_by_field_name("superclasses")
        self.one(heritage, outer)
        bases = (
            [each for each in heritage.named_children if each.type not in ("keyword_argument", "comment")]
            if (heritage is not None)
            else []
        )
        if binding is not None:
            binding.node = node
            body = ClassBody(binding, inner, bases, outer)
            around = node.parent
            marks = [text_of(each) for each in around.named_children if each.type == "decorator"] if around else []
            said = " ".join([*marks, *map(text_of, bases)])
            body.by_members = any(word in said for word in _BY_MEMBERS)
            self.file.classes.append(body)
            self._bodies[id(inner)] = body
        self.one(node.child_by_field_name("body"), inner)
        if binding is not None:
            for member, found in inner.values.items():
                body.members.setdefault(member, []).extend(found.places)
                body.annotations.setdefault(member, []).extend(found.annotations)
                body.values.setdefault(member, []).extend(found.values)

    def _lambda(self, node: "Node", scope: Scope) -> None:
        inner = self._scope("function", node, scope)
        self._parameters(node.child_by_field_name("parameters"), inner, scope)
        self.one(node.child_by_field_name("body"), inner)

    def _comprehension(self, node: "Node", scope: Scope) -> None:
        inner = self._scope("comprehension", node, scope)
        clauses = [each for each in node.named_children if each.type in ("for_in_clause", "if_clause")]
        first = True
        for clause in clauses:
            if clause.type == "if_clause":
                self.block(clause, inner)
                continue
            left = clause.child_by_field_name("left")
            self._target(left, inner)
            for each in clause.named_children:
                if each != left:
                    # The first source is looked at outside, before the comprehension begins.
                    self.one(each, scope if first else inner)
            first = False
        for each in node.named_children:
            if each.type not in ("for_in_clause", "if_clause"):
                self.one(each, inner)
