"""JavaScript and TypeScript definitions: functions, classes, interfaces, types, enums and namespaces."""

from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING

from tools.code.languages import parser
from tools.code.scopes import (
    COMPUTED,
    Binding,
    BindingKind,
    ClassBody,
    Manner,
    MemberAccess,
    Place,
    Scope,
    ScopeKind,
    ScopeWalk,
    Use,
    lookup,
    place_of,
)
from tools.code.source import SourceText, captures, text_of

if TYPE_CHECKING:
    from tree_sitter import Node, Query

VALUE = frozenset({"value"})
TYPE = frozenset({"type"})
BOTH = VALUE | TYPE


class ScriptWalk(ScopeWalk):
    _entered_words = frozenset({"import", "require"})

    def __init__(self, source: SourceText, words: frozenset[str] | None = None, *, members: bool = False) -> None:
        super().__init__(source, words, members=members)
        self._assigned: list[tuple[str, Node, Scope]] = []
        #: The enclosing classes, innermost last; None where `this` is not an instance of one.
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
            # Overloads, a merged interface, or a namespace beside its function.
            binding.opaque = True
            binding.meanings |= meanings
        for meaning in meanings:
            scope.table(meaning).setdefault(name, binding)
        binding.places.append(place)
        return binding

    def _patterns(self, node: "Node | None", scope: Scope, kind: BindingKind, outer: Scope) -> Binding | None:
        """Bind the names of a pattern. Return the binding if it is a plain name."""
        if node is None:
            return None
        if node.type == "identifier":
            return self.bind(node, scope, kind)
        if node.type == "shorthand_property_identifier_pattern":
            self.bind(node, scope, kind, manner="pattern").opaque = True
            self.file.accesses.append(MemberAccess(text_of(node), place_of(node, "pattern"), None, outer))
        elif node.type == "pair_pattern":
            key = node.child_by_field_name("key")
            if key is not None:
                name, place = taken_name(key)
                self.file.accesses.append(MemberAccess(name, place, None, outer))
                if name == COMPUTED:
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
        self._mark_assigned()
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

    def _mark_assigned(self) -> None:
        """Treat variables that a skipped function may assign as opaque."""
        if not self._skipped or not self._enters_classes:
            return
        skipped = sorted(self._skipped)
        starts = [start for start, _ in skipped]
        assigned = set()
        for node in _assigned_names(self.file.source):
            index = bisect_right(starts, node.start_byte) - 1
            if index >= 0 and node.start_byte < skipped[index][1]:
                assigned.add(text_of(node))
        for binding in self.file.bindings:
            binding.opaque |= binding.name in assigned


def _assigned_names(source: SourceText) -> "list[Node]":
    assert source.language is not None
    query = _assignment_query(source.language.module, source.language.function)
    return captures(query, source).get("name", [])


@cache
def _assignment_query(module: str, function: str) -> "Query":
    from tree_sitter import Query

    grammar = parser(module, function).language
    assert grammar is not None
    return Query(grammar, "(assignment_expression left: (identifier) @name)")


def string_of(node: "Node") -> str:
    return text_of(node)[1:-1]


def taken_name(key: "Node") -> tuple[str, Place]:
    """The name that the key of a pattern takes: `a`, `"a"` and `["a"]` take the same one."""
    inside = key.named_children[0] if key.type == "computed_property_name" and key.named_child_count else key
    if inside.type == "string" and inside.named_child_count == 1:
        return string_of(inside), place_of(inside.named_children[0], "quoted")
    return (COMPUTED if inside is not key else text_of(key)), place_of(key)


class ScriptDefinitions(ScriptWalk):
    def _declared(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        binding = self.bind(name, scope, "function") if name is not None else None
        if binding is not None and (binding.node is None or node.type != "function_signature"):
            binding.node = node
        if self._skips(node):
            return
        self._bodies.append(None)  # `this` differs there
        self._inside(node, self._scope("function", node, scope, binding))
        self._bodies.pop()

    def _function(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            scope = self._scope("block", node, scope)
            self.bind(name, scope, "function").node = node
        if self._skips(node):
            return
        owner = None
        around = node.parent
        if (
            around is not None
            and around.type == "variable_declarator"
            and (named := around.child_by_field_name("name"))
        ):
            owner = lookup(text_of(named), scope)
        if node.type in ("function_expression", "generator_function"):
            self._bodies.append(None)
        self._inside(node, self._scope("function", node, scope, owner))
        if node.type in ("function_expression", "generator_function"):
            self._bodies.pop()

    def _skips(self, node: "Node") -> bool:
        in_class = any(body is not None for body in self._bodies)
        return not (in_class and self._enters_classes) and self._lacks_words(node)

    def _inside(self, node: "Node", inner: Scope) -> None:
        self._type_parameters(node, inner)
        single = node.child_by_field_name("parameter")
        if single is not None:
            self.bind(single, inner, "parameter").opaque = True
        self._parameters(node.child_by_field_name("parameters"), inner)
        self.one(node.child_by_field_name("return_type"), inner)
        if node.type == "constructor_type":
            self.one(node.child_by_field_name("type"), inner)
        body = node.child_by_field_name("body")
        if body is not None and body.type == "statement_block":
            self.block(body, inner)
        else:
            self.one(body, inner)

    def _type_parameters(self, node: "Node", scope: Scope) -> None:
        found = node.child_by_field_name("type_parameters")
        for each in found.named_children if found is not None else ():
            name = each.child_by_field_name("name")
            if name is not None:
                self.bind(name, scope, "type", TYPE)
                for other in each.named_children:
                    if other != name:
                        self.one(other, scope)

    def _parameters(self, node: "Node | None", inner: Scope) -> None:
        for each in node.named_children if node is not None else ():
            if each.type not in ("required_parameter", "optional_parameter"):
                self._opaque(each, inner, "parameter", inner)
                continue
            pattern, annotation = each.child_by_field_name("pattern"), each.child_by_field_name("type")
            binding = self._patterns(pattern, inner, "parameter", inner)
            self.one(annotation, inner)
            if binding is not None and annotation is not None:
                binding.annotations.append((annotation, inner))
            elif binding is not None:
                binding.opaque = True
            self.one(each.child_by_field_name("value"), inner)
            for other in each.named_children:
                if other.type == "decorator":
                    self.one(other, inner)
            self._property(each, pattern, annotation, inner)

    def _property(self, node: "Node", pattern: "Node | None", annotation: "Node | None", inner: Scope) -> None:
        """Record `constructor(private name: T)` as a member."""
        marks = {each.type for each in node.children}
        body = self._bodies[-1] if self._bodies else None
        if pattern is None or body is None or not marks & {"accessibility_modifier", "readonly", "override_modifier"}:
            return
        name = text_of(pattern)
        body.members.setdefault(name, []).append(place_of(pattern, defines=True))
        body.annotations.setdefault(name, []).extend([(annotation, inner)] if annotation is not None else [])

    def _class(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        for each in node.named_children:
            if each.type == "decorator":
                self.one(each, scope)
        inner = self._scope("block", node, scope)
        declared = node.type != "class"
        binding = self.bind(name, scope if declared else inner, "class", BOTH) if name is not None else None
        if binding is None:
            binding = Binding("", scope, "class", node.start_point[0] + 1)
        binding.node = node
        if not self._enters_classes and self._lacks_words(node):
            return
        inner.owner = binding
        self._type_parameters(node, inner)
        bases: list[Node] = []
        for each in node.named_children:
            if each.type == "class_heritage":
                bases = [base for clause in _clauses(each) for base in _heads(clause)]
                self.one(each, inner)
        self._members(node, inner, ClassBody(binding, inner, bases, inner))

    def _interface(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        inner = self._scope("block", node, scope)
        self._type_parameters(node, inner)
        if name is None:
            return
        binding = self.bind(name, scope, "type", TYPE)
        bases: list[Node] = []
        for each in node.named_children:
            if each.type in ("extends_type_clause", "extends_clause"):
                bases += _heads(each)
                self.one(each, inner)
        self._members(node, inner, ClassBody(binding, inner, bases, inner, by_members=True))

    def _members(self, node: "Node", inner: Scope, body: ClassBody) -> None:
        self.file.classes.append(body)
        self._bodies.append(body)
        content = node.child_by_field_name("body")
        if content is not None:
            self.block(content, inner)
        self._bodies.pop()

    def _field(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        annotation, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        body = self._bodies[-1] if self._bodies else None
        inside = node.parent is not None and node.parent.type in ("class_body", "interface_body", "object_type")
        if name is not None and name.type in ("property_identifier", "private_property_identifier"):
            member = text_of(name)
            owned = inside and body is not None and node.parent is not None and node.parent.type != "object_type"
            if owned and body is not None:
                body.members.setdefault(member, []).append(place_of(name, defines=True))
                body.annotations.setdefault(member, []).extend([(annotation, scope)] if annotation is not None else [])
                body.values.setdefault(member, []).extend([(value, scope)] if value is not None else [])
            else:
                self.file.accesses.append(MemberAccess(member, place_of(name), None, scope))
        else:
            self.one(name, scope)
        for each in node.named_children:
            if each != name:
                self.one(each, scope)

    def _method(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        body = self._bodies[-1] if self._bodies else None
        owned = node.parent is not None and node.parent.type in ("class_body", "interface_body")
        if name is not None and name.type in ("property_identifier", "private_property_identifier"):
            if owned and body is not None:
                body.members.setdefault(text_of(name), []).append(place_of(name, defines=True))
                body.methods[text_of(name)] = node
            else:
                self.file.accesses.append(MemberAccess(text_of(name), place_of(name), None, scope))
        else:
            self.one(name, scope)
        for each in node.named_children:
            if each.type == "decorator":
                self.one(each, scope)
        if not owned:
            self._bodies.append(None)
        # A method is no name of its scope, but qualifies the names inside it.
        owner = Binding(text_of(name), scope, "function", node.start_point[0] + 1) if name is not None else None
        self._inside(node, self._scope("function", node, scope, owner))
        if not owned:
            self._bodies.pop()

    def _type_alias(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        binding = self.bind(name, scope, "type", TYPE)
        inner = self._scope("block", node, scope)
        self._type_parameters(node, inner)
        value = node.child_by_field_name("value")
        if value is not None and value.type == "object_type":
            # A named object type is treated like an interface.
            body = ClassBody(binding, inner, [], inner, by_members=True)
            self.file.classes.append(body)
            for each in value.named_children:
                self._shape_member(each, inner, body)
        else:
            self.one(value, inner)

    def _shape_member(self, node: "Node", scope: Scope, body: ClassBody) -> None:
        name = node.child_by_field_name("name")
        if node.type in ("property_signature", "method_signature") and name is not None:
            body.members.setdefault(text_of(name), []).append(place_of(name, defines=True))
            annotation = node.child_by_field_name("type")
            body.annotations.setdefault(text_of(name), []).extend([(annotation, scope)] if annotation else [])
            if node.type == "method_signature":
                self._inside(node, self._scope("function", node, scope))
            else:
                self.one(annotation, scope)
        else:
            self.one(node, scope)

    def _enum(self, node: "Node", scope: Scope) -> None:
        name, content = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or content is None:
            return
        binding = self.bind(name, scope, "class", BOTH)
        binding.node = node
        body = ClassBody(binding, scope, [], scope)
        self.file.classes.append(body)
        for each in content.named_children:
            member = each.child_by_field_name("name") if each.type == "enum_assignment" else each
            if member is not None and member.type == "property_identifier":
                body.members.setdefault(text_of(member), []).append(place_of(member, defines=True))
            if each.type == "enum_assignment":
                self.one(each.child_by_field_name("value"), scope)

    def _namespace(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name is not None and name.type == "identifier":
            self.bind(name, scope, "variable", BOTH).opaque = True
        content = node.child_by_field_name("body")
        if content is not None:
            self.block(content, self._scope("block", node, scope))


def _clauses(heritage: "Node") -> list["Node"]:
    inside = [each for each in heritage.named_children if each.type in ("extends_clause", "implements_clause")]
    return inside or [heritage]


def _heads(clause: "Node") -> list["Node"]:
    """Return the names in an extends or implements clause without their type arguments."""
    found = []
    for each in clause.named_children:
        if each.type == "generic_type":
            found.append(each.named_children[0])
        elif each.type != "type_arguments":
            found.append(each)
    return found
