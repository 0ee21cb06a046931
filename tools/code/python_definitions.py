"""Python definitions that open a scope: functions, classes, lambdas and comprehensions."""

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tools.code.scopes import Binding, BindingKind, ClassBody, Place, Scope, ScopeKind, ScopeWalk, Use, lookup, place_of
from tools.code.source import SourceText, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_BY_MEMBERS = ("dataclass", "define", "frozen", "attrs", "attr.s", "NamedTuple", "TypedDict", "BaseModel", "Struct")
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")


def name_of(node: "Node") -> str:
    """Return the name as Python compares it: in normal form."""
    name = text_of(node)
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


class PythonWalk(ScopeWalk):
    _entered_words = frozenset({"global", "nonlocal"})

    def __init__(self, source: SourceText, words: frozenset[str] | None = None, *, members: bool = False) -> None:
        super().__init__(source, words, members=members)
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
        """Bind a name, first or again. Return None if it is declared to belong to another scope."""
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
        """Bind targets of unknown type: loops, unpackings, `with`."""
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

    def resolve(self) -> None:
        for use in self._uses:
            binding = self._meant(use)
            if binding is None:
                self.file.free.append(use)
            else:
                binding.places.append(use.place)
                binding.opaque |= use.place.defines  # bound from another scope
                self.file.uses.append((use, binding))
        self._complete()

    def _meant(self, use: Use) -> Binding | None:
        binding = lookup(use.name, use.scope)
        scope = use.scope
        if binding is None or scope.kind != "class" or binding.scope is not scope or use.place.start >= binding.since:
            return binding
        # Until a class body binds a name, it reads the module's, not that of an enclosing function.
        return self.module.values.get(use.name)

    def _tangle(self, scope: Scope) -> None:
        """Record names that a class body may read from outside before it binds them."""
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
        """Add every place where a class body writes its own members."""
        for body in self.file.classes:
            self._tangle(body.scope)
            for name, binding in body.scope.values.items():
                known = set(body.members.get(name, ()))
                body.members.setdefault(name, []).extend(place for place in binding.places if place not in known)


class PythonDefinitions(PythonWalk):
    def _function(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        binding = self.bind(name, scope, "function") if name is not None else None
        if binding is not None:
            binding.node = node
        body = self._bodies.get(id(scope))
        if not (body is not None and self._enters_classes) and self._lacks_words(node):
            if body is not None and name is not None:
                body.methods[name_of(name)] = node
            return
        inner = self._scope("function", node, scope, binding)
        parameters = self._type_parameters(node, scope, inner)
        self.one(node.child_by_field_name("return_type"), parameters)
        self._parameters(node.child_by_field_name("parameters"), inner, parameters)
        if body is not None and name is not None:
            body.methods[name_of(name)] = node
            self._self(node, inner, body)
        self.one(node.child_by_field_name("body"), inner)

    def _type_parameters(self, node: "Node", outer: Scope, inner: Scope) -> Scope:
        """Open the scope of `def f[T]`, around the annotations of the parameters."""
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
            # Declared global or nonlocal: the members are known, but no expression is evidently an instance.
            binding = Binding(name_of(name), scope, "class", node.start_point[0] + 1)
        if not self._enters_classes and self._lacks_words(node):
            return
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
            heading = " ".join([*marks, *map(text_of, bases)])
            body.by_members = any(word in heading for word in _BY_MEMBERS)
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
                    # The first iterable is evaluated outside the comprehension.
                    self.one(each, scope if first else inner)
            first = False
        for each in node.named_children:
            if each.type not in ("for_in_clause", "if_clause"):
                self.one(each, inner)


def quoted(node: "Node") -> Iterator[tuple[str, Place]]:
    """Yield the names in quoted annotations (`x: "Node"`), but not in values such as `Literal["a"]`."""
    stack = [node]
    while stack:
        each = stack.pop()
        if each.type in ("generic_type", "subscript") and _of_values(each):
            continue
        if each.type == "string" and each.named_child_count == 3:
            yield from _names(each.named_children[1])
        else:
            stack.extend(each.named_children)


def _of_values(node: "Node") -> bool:
    return text_of(node.named_children[0]).rpartition(".")[2] in ("Literal", "Annotated")


def _names(content: "Node") -> Iterator[tuple[str, Place]]:
    if content.type != "string_content" or content.named_child_count:
        return
    text = text_of(content)
    if "'" in text or '"' in text or "\n" in text:
        return
    for match in _NAME.finditer(text):
        start = content.start_byte + len(text[: match.start()].encode())
        line = content.start_point[0] + 1
        yield match[0], Place(start, start + len(match[0].encode()), line, "quoted")
