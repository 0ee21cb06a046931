"""The scopes of a Python file, by the rules of the language: comprehensions, class bodies, global and nonlocal."""

import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tools.code.annotations import quoted
from tools.code.scopes import (
    Access,
    Binding,
    BindingKind,
    ClassBody,
    FileScopes,
    Import,
    Keyword,
    Place,
    Scope,
    ScopeKind,
    Use,
    lookup,
    place_of,
)
from tools.code.tree import Source, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_BY_MEMBERS = ("dataclass", "define", "frozen", "attrs", "attr.s", "NamedTuple", "TypedDict", "BaseModel", "Struct")
_COMPREHENSIONS = ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")


def python_scopes(source: Source) -> FileScopes:
    reader = _Reader(source)
    reader.block(source.root, reader.module)
    reader.resolve()
    return reader.file


def name_of(node: "Node") -> str:
    """Python takes names for the same that differ only in how their characters are composed."""
    name = text_of(node)
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def _strings(node: "Node") -> list[tuple[str, Place]]:
    """The strings of a list or a tuple that names names."""
    found: list[tuple[str, Place]] = []
    for item in node.named_children:
        if item.type == "string":
            parts = [part for part in item.named_children if part.type == "string_content"]
            found += [(text_of(part), place_of(part, "quoted")) for part in parts]
        elif item.type in ("list", "tuple"):
            found += _strings(item)
    return found


class _Reader:
    def __init__(self, source: Source) -> None:
        self.module = self._scope("module", source.root, None)
        self.file = FileScopes(source, self.module, [self.module])
        self._uses: list[Use] = []
        self._within = False
        self._bodies: dict[int, ClassBody] = {}
        self._handlers: dict[str, Callable[[Any, Scope], None]] = {
            "identifier": self._name,
            "function_definition": self._function,
            "class_definition": self._class,
            "lambda": self._lambda,
            "assignment": self._assignment,
            "augmented_assignment": self._augmented,
            "for_statement": self._for,
            "named_expression": self._walrus,
            "as_pattern": self._as_pattern,
            "import_statement": self._import,
            "import_from_statement": self._import_from,
            "future_import_statement": self._nothing,
            "global_statement": self._global,
            "nonlocal_statement": self._nonlocal,
            "attribute": self._attribute,
            "call": self._call,
            "case_clause": self._case,
            "type_alias_statement": self._type_alias,
            "type": self._annotation,
            "comment": self._nothing,
            **dict.fromkeys(_COMPREHENSIONS, self._comprehension),
        }

    # -- walking -----------------------------------------------------------------------------------------------------

    def block(self, node: "Node", scope: Scope) -> None:
        handlers = self._handlers
        for child in node.named_children:
            handler = handlers.get(child.type)
            if handler is not None:
                handler(child, scope)
            elif child.child_count:
                self.block(child, scope)

    def one(self, node: "Node | None", scope: Scope) -> None:
        if node is None:
            return
        handler = self._handlers.get(node.type)
        if handler is not None:
            handler(node, scope)
        elif node.child_count:
            self.block(node, scope)

    def _nothing(self, node: "Node", scope: Scope) -> None:
        pass

    def _name(self, node: "Node", scope: Scope) -> None:
        self._uses.append(Use(name_of(node), place_of(node), scope))

    def _annotation(self, node: "Node", scope: Scope) -> None:
        within, self._within = self._within, True
        self.block(node, scope)
        self._within = within
        if not within:
            self._uses += [Use(name, place, scope) for name, place in quoted(node)]

    # -- binding -----------------------------------------------------------------------------------------------------

    def _scope(self, kind: ScopeKind, node: "Node", parent: Scope | None, owner: Binding | None = None) -> Scope:
        scope = Scope(kind, node, parent, owner=owner)
        scope.types = scope.values
        if parent is not None:
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

    def _assignment(self, node: "Node", scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        annotation = node.child_by_field_name("type")
        self.one(annotation, scope)
        self.one(right, scope)
        if left is None:
            return
        if left.type == "identifier":
            binding = self.bind(left, scope)
            if binding is not None:
                if annotation is not None:
                    binding.annotations.append((annotation, scope))
                if right is not None:
                    binding.values.append((right, scope))
            if name_of(left) == "__all__" and scope is self.module and right is not None:
                self._listed(right)
            body = self._bodies.get(id(scope))
            if body is not None and right is not None and name_of(left) in ("__slots__", "__match_args__"):
                for name, place in _strings(right):
                    body.members.setdefault(name, []).append(place)
        elif left.type == "attribute":
            self.one(left, scope)
            self._own_attribute(left, scope, annotation, right)
        else:
            self._target(left, scope)

    def _own_attribute(self, left: "Node", scope: Scope, annotation: "Node | None", right: "Node | None") -> None:
        """`self.name = …` in a method makes a member."""
        item, name = left.child_by_field_name("object"), left.child_by_field_name("attribute")
        if item is None or name is None or item.type != "identifier":
            return
        binding = lookup(name_of(item), scope)
        body = self.file.selves.get(binding) if binding is not None else None
        if body is None:
            return
        member = name_of(name)
        body.members.setdefault(member, []).append(place_of(name, defines=True))
        if annotation is not None:
            body.annotations.setdefault(member, []).append((annotation, scope))
        if right is not None:
            body.values.setdefault(member, []).append((right, scope))

    def _augmented(self, node: "Node", scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self._target(left, scope)
        self.one(right, scope)
        if left is not None and left.type == "identifier" and name_of(left) == "__all__" and right is not None:
            self._listed(right)

    def _listed(self, node: "Node") -> None:
        self.file.listed += _strings(node)

    def _for(self, node: "Node", scope: Scope) -> None:
        self._target(node.child_by_field_name("left"), scope)
        for name in ("right", "body", "alternative"):
            self.one(node.child_by_field_name(name), scope)

    def _walrus(self, node: "Node", scope: Scope) -> None:
        self.one(node.child_by_field_name("value"), scope)
        outer = scope
        while outer.kind == "comprehension" and outer.parent is not None:
            outer = outer.parent
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        binding = self.bind(name, outer) if name is not None else None
        if binding is not None and value is not None:
            binding.values.append((value, scope))

    def _as_pattern(self, node: "Node", scope: Scope) -> None:
        """`with x as y`, `except E as e`."""
        alias = node.child_by_field_name("alias")
        for child in node.named_children:
            if child != alias:
                self.one(child, scope)
        if alias is None:
            return
        targets = alias.named_children
        if len(targets) == 1 and targets[0].type == "identifier":
            binding = self.bind(targets[0], scope)
            value = node.named_children[0]
            if binding is None:
                return
            if node.parent is not None and node.parent.type == "except_clause":
                binding.annotations.append((value, scope))
            else:
                binding.opaque = True  # what a context manager hands out is its own affair
        else:
            self._target(alias, scope)

    # -- what opens a scope ------------------------------------------------------------------------------------------

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

    # -- statements --------------------------------------------------------------------------------------------------

    def _global(self, node: "Node", scope: Scope) -> None:
        for each in node.named_children:
            if scope is not self.module:
                scope.elsewhere[name_of(each)] = "global"
            self._uses.append(Use(name_of(each), place_of(each), scope))

    def _nonlocal(self, node: "Node", scope: Scope) -> None:
        for each in node.named_children:
            scope.elsewhere[name_of(each)] = "nonlocal"
            self._uses.append(Use(name_of(each), place_of(each), scope))

    def _import(self, node: "Node", scope: Scope) -> None:
        for each in node.named_children:
            if each.type == "aliased_import":
                name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
                if name is not None and alias is not None and (binding := self.bind(alias, scope, "import")):
                    binding.imported = Import(text_of(name), None, None, aliased=True)
            elif each.type == "dotted_name":
                binding = self.bind(each.named_children[0], scope, "import")
                # `import a.b` makes `a`; what is behind its dots is found by following them.
                if binding is not None and binding.imported is None:
                    binding.imported = Import(text_of(each.named_children[0]), None, None, aliased=False)

    def _import_from(self, node: "Node", scope: Scope) -> None:
        module = node.child_by_field_name("module_name")
        written = "".join(text_of(module).split()) if module is not None else ""
        for each in node.children_by_field_name("name"):
            alias = each.child_by_field_name("alias")
            name = each.child_by_field_name("name") if alias is not None else each
            if name is None or not name.named_children:
                continue
            word = name.named_children[0]
            if binding := self.bind(alias or word, scope, "import"):
                binding.imported = Import(written, name_of(word), place_of(word), aliased=alias is not None)
        if any(child.type == "wildcard_import" for child in node.named_children):
            self.file.stars.append(written)

    def _type_alias(self, node: "Node", scope: Scope) -> None:
        left = node.child_by_field_name("left")
        if left is not None and left.named_children:
            inner = left.named_children[0]
            name = inner if inner.type == "identifier" else inner.named_children[0]
            if name.type == "identifier":
                self.bind(name, scope)
        self.one(node.child_by_field_name("right"), scope)

    def _case(self, node: "Node", scope: Scope) -> None:
        for child in node.named_children:
            if child.type == "case_pattern":
                self._pattern(child, scope)
            else:
                self.one(child, scope)

    def _pattern(self, node: "Node", scope: Scope) -> None:
        kind = node.type
        if kind == "class_pattern":
            head, *rest = node.named_children
            self._dotted(head, scope)
            for each in rest:
                self._pattern(each, scope)
        elif kind == "keyword_pattern":
            name, *rest = node.named_children
            owner = node.parent.parent if node.parent is not None else None
            callee = owner.named_children[0] if owner is not None and owner.type == "class_pattern" else None
            if callee is not None and callee.named_child_count == 1:
                callee = callee.named_children[0]
            self.file.accesses.append(Access(name_of(name), place_of(name), callee, scope))
            for each in rest:
                self._pattern(each, scope)
        elif kind == "dotted_name" and node.named_child_count == 1:
            self._target(node.named_children[0], scope)
        elif kind == "dotted_name":
            self._dotted(node, scope)
        elif kind == "identifier":
            self._target(node, scope)
        elif kind == "dict_pattern":
            for each in node.named_children:
                if each.type in ("case_pattern", "splat_pattern"):
                    self._pattern(each, scope)
                else:
                    self.one(each, scope)
        else:
            for each in node.named_children:
                self._pattern(each, scope)

    def _dotted(self, node: "Node", scope: Scope) -> None:
        first, *rest = node.named_children
        self._name(first, scope)
        for each in rest:
            before = first if each == rest[0] else None
            self.file.accesses.append(Access(name_of(each), place_of(each), before, scope))

    # -- expressions -------------------------------------------------------------------------------------------------

    def _attribute(self, node: "Node", scope: Scope) -> None:
        item, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        self.one(item, scope)
        if name is not None:
            self.file.accesses.append(Access(name_of(name), place_of(name), item, scope))

    def _call(self, node: "Node", scope: Scope) -> None:
        callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        self.one(callee, scope)
        if arguments is None:
            return
        if arguments.type == "generator_expression":
            self.one(arguments, scope)
            return
        for each in arguments.named_children:
            name = each.child_by_field_name("name") if each.type == "keyword_argument" else None
            if name is not None and callee is not None:
                self.file.keywords.append(Keyword(name_of(name), place_of(name), callee, scope))
                self.one(each.child_by_field_name("value"), scope)
            else:
                self.one(each, scope)

    # -- at the end --------------------------------------------------------------------------------------------------

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
