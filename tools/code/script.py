"""The scopes of a JavaScript or TypeScript file: blocks, functions, types beside values, imports and exports."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tools.code.scopes import (
    Access,
    Binding,
    BindingKind,
    ClassBody,
    Export,
    FileScopes,
    Import,
    Keyword,
    Manner,
    Scope,
    ScopeKind,
    Use,
    lookup,
    place_of,
)
from tools.code.tree import Source, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_VALUE = frozenset({"value"})
_TYPE = frozenset({"type"})
_BOTH = _VALUE | _TYPE
_FUNCTIONS = (
    "function_expression",
    "generator_function",
    "arrow_function",
    "function_type",
    "constructor_type",
    "call_signature",
    "construct_signature",
)
_DECLARED = ("function_declaration", "generator_function_declaration", "function_signature")
_CLASSES = ("class_declaration", "abstract_class_declaration", "class")
_TAGS = ("jsx_opening_element", "jsx_closing_element", "jsx_self_closing_element")
_FIELDS = ("public_field_definition", "field_definition", "property_signature")
_METHODS = ("method_definition", "method_signature", "abstract_method_signature")


def script_scopes(source: Source) -> FileScopes:
    reader = _Reader(source)
    reader.block(source.root, reader.module)
    reader.resolve()
    return reader.file


class _Reader:
    def __init__(self, source: Source) -> None:
        self.module = Scope("module", source.root, None)
        self.file = FileScopes(source, self.module, [self.module])
        self._uses: list[Use] = []
        self._assigned: list[tuple[str, Node, Scope]] = []
        self._bodies: list[ClassBody | None] = []
        self._handlers: dict[str, Callable[[Any, Scope], None]] = {
            "identifier": self._name,
            "type_identifier": self._type_name,
            "shorthand_property_identifier": self._shorthand,
            "shorthand_property_identifier_pattern": self._shorthand_pattern,
            "lexical_declaration": self._declaration,
            "variable_declaration": self._declaration,
            "statement_block": self._block,
            "switch_body": self._block,
            "for_statement": self._block,
            "for_in_statement": self._for_in,
            "catch_clause": self._catch,
            "import_statement": self._import,
            "export_statement": self._export,
            "interface_declaration": self._interface,
            "type_alias_declaration": self._type_alias,
            "enum_declaration": self._enum,
            "internal_module": self._namespace,
            "module": self._namespace,
            "member_expression": self._member,
            "nested_type_identifier": self._nested_type,
            "nested_identifier": self._member,
            "pair": self._pair,
            "mapped_type_clause": self._mapped,
            "infer_type": self._infer,
            "conditional_type": self._conditional,
            "index_signature": self._index,
            "labeled_statement": self._labeled,
            "assignment_expression": self._assignment,
            "tuple_type": self._tuple,
            "call_expression": self._call,
            "comment": self._nothing,
            **dict.fromkeys(_FUNCTIONS, self._function),
            **dict.fromkeys(_DECLARED, self._declared),
            **dict.fromkeys(_CLASSES, self._class),
            **dict.fromkeys(_TAGS, self._tag),
            **dict.fromkeys(_FIELDS, self._field),
            **dict.fromkeys(_METHODS, self._method),
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

    def _use(self, node: "Node", scope: Scope, meaning: str = "value", manner: Manner = "plain") -> None:
        self._uses.append(Use(text_of(node), place_of(node, manner), scope, meaning))

    def _name(self, node: "Node", scope: Scope) -> None:
        self._use(node, scope)

    def _type_name(self, node: "Node", scope: Scope) -> None:
        self._use(node, scope, "type")

    def _shorthand(self, node: "Node", scope: Scope) -> None:
        """`{id}` in an object: a property, and the value of the variable of the same name."""
        self._use(node, scope, manner="shorthand")
        self._key(node, scope, "shorthand")

    def _shorthand_pattern(self, node: "Node", scope: Scope) -> None:
        """`({id} = o)`: an assignment to what is declared elsewhere."""
        self._use(node, scope, manner="pattern")
        self.file.accesses.append(Access(text_of(node), place_of(node, "pattern"), None, scope))

    def _labeled(self, node: "Node", scope: Scope) -> None:
        self.one(node.child_by_field_name("body"), scope)

    # -- binding -----------------------------------------------------------------------------------------------------

    def _scope(self, kind: ScopeKind, node: "Node", parent: Scope, owner: Binding | None = None) -> Scope:
        scope = Scope(kind, node, parent, owner=owner)
        self.file.scopes.append(scope)
        return scope

    def bind(
        self,
        node: "Node",
        scope: Scope,
        kind: BindingKind = "variable",
        meanings: frozenset[str] = _VALUE,
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

    def _declaration(self, node: "Node", scope: Scope) -> None:
        target = scope
        if node.type == "variable_declaration":
            while target.kind == "block" and target.parent is not None:
                target = target.parent
        for each in node.named_children:
            if each.type != "variable_declarator":
                continue
            annotation, value = each.child_by_field_name("type"), each.child_by_field_name("value")
            name = each.child_by_field_name("name")
            if self._required(name, value, target):
                continue
            binding = self._patterns(name, target, "variable", scope)
            self.one(annotation, scope)
            if binding is not None:
                if annotation is not None:
                    binding.annotations.append((annotation, scope))
                if value is not None:
                    binding.values.append((value, scope))
                    if value.type in ("arrow_function", "function_expression", "generator_function"):
                        binding.node, binding.kind = value, "function"
            self.one(value, scope)

    def _required(self, name: "Node | None", value: "Node | None", scope: Scope) -> bool:
        """`const m = require("./m")` is an import, too."""
        if name is None or value is None or name.type != "identifier" or value.type != "call_expression":
            return False
        callee, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
        if callee is None or arguments is None or text_of(callee) != "require" or arguments.named_child_count != 1:
            return False
        if arguments.named_children[0].type != "string":
            return False
        binding = self.bind(name, scope, "import")
        binding.imported = Import(_string(arguments.named_children[0]), None, None, aliased=True)
        return True

    def _assignment(self, node: "Node", scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self.one(left, scope)
        if left is not None and left.type == "identifier":
            if right is not None:
                self._assigned.append((text_of(left), right, scope))
        elif left is not None and left.type == "member_expression" and self._bodies and self._bodies[-1] is not None:
            item, name = left.child_by_field_name("object"), left.child_by_field_name("property")
            body = self._bodies[-1]
            if item is not None and item.type == "this" and name is not None and right is not None:
                body.values.setdefault(text_of(name), []).append((right, scope))
                if self.file.source.path.endswith(("js", "jsx")):
                    body.members.setdefault(text_of(name), []).append(place_of(name, defines=True))
        self.one(right, scope)

    # -- what opens a scope ------------------------------------------------------------------------------------------

    def _block(self, node: "Node", scope: Scope) -> None:
        self.block(node, self._scope("block", node, scope))

    def _for_in(self, node: "Node", scope: Scope) -> None:
        inner = self._scope("block", node, scope)
        kind, left = node.child_by_field_name("kind"), node.child_by_field_name("left")
        if kind is not None:
            target = inner
            if text_of(kind) == "var":
                while target.kind == "block" and target.parent is not None:
                    target = target.parent
            self._opaque(left, target, "variable", scope)
        else:
            self.one(left, inner)
        self.one(node.child_by_field_name("right"), scope)
        self.one(node.child_by_field_name("body"), inner)

    def _catch(self, node: "Node", scope: Scope) -> None:
        inner = self._scope("block", node, scope)
        self._opaque(node.child_by_field_name("parameter"), inner, "variable", scope)
        body = node.child_by_field_name("body")
        if body is not None:
            self.block(body, inner)

    def _declared(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        binding = self.bind(name, scope, "function") if name is not None else None
        if binding is not None and (binding.node is None or node.type != "function_signature"):
            binding.node = node
        self._bodies.append(None)  # `this` is another one there
        self._inside(node, self._scope("function", node, scope, binding))
        self._bodies.pop()

    def _function(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            scope = self._scope("block", node, scope)
            self.bind(name, scope, "function").node = node
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
                self.bind(name, scope, "type", _TYPE)
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
        """`constructor(private name: T)` makes a member, too."""
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
        binding = self.bind(name, scope if declared else inner, "class", _BOTH) if name is not None else None
        if binding is None:
            binding = Binding("", scope, "class", node.start_point[0] + 1)
        binding.node = node
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
        binding = self.bind(name, scope, "type", _TYPE)
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
                self.file.accesses.append(Access(member, place_of(name), None, scope))
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
                self.file.accesses.append(Access(text_of(name), place_of(name), None, scope))
        else:
            self.one(name, scope)
        for each in node.named_children:
            if each.type == "decorator":
                self.one(each, scope)
        if not owned:
            self._bodies.append(None)
        # A method is no name of its scope, but what is inside of it is named after it.
        owner = Binding(text_of(name), scope, "function", node.start_point[0] + 1) if name is not None else None
        self._inside(node, self._scope("function", node, scope, owner))
        if not owned:
            self._bodies.pop()

    def _type_alias(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        binding = self.bind(name, scope, "type", _TYPE)
        inner = self._scope("block", node, scope)
        self._type_parameters(node, inner)
        value = node.child_by_field_name("value")
        if value is not None and value.type == "object_type":
            # A shape with a name is as good as an interface.
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
        binding = self.bind(name, scope, "class", _BOTH)
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
            self.bind(name, scope, "variable", _BOTH).opaque = True
        content = node.child_by_field_name("body")
        if content is not None:
            self.block(content, self._scope("block", node, scope))

    # -- imports and exports -----------------------------------------------------------------------------------------

    def _import(self, node: "Node", scope: Scope) -> None:
        source = node.child_by_field_name("source")
        clause = next((each for each in node.named_children if each.type == "import_clause"), None)
        required = next((each for each in node.named_children if each.type == "import_require_clause"), None)
        if required is not None:
            inside = required.child_by_field_name("source")
            binding = self.bind(required.named_children[0], scope, "import", _BOTH)
            binding.imported = Import(_string(inside) if inside is not None else "", None, None, aliased=True)
        if source is None or clause is None:
            return
        module = _string(source)
        for each in clause.named_children:
            if each.type == "identifier":
                binding = self.bind(each, scope, "import", _BOTH)
                binding.imported = Import(module, "default", None, aliased=True, default=True)
            elif each.type == "namespace_import":
                binding = self.bind(each.named_children[0], scope, "import", _BOTH)
                binding.imported = Import(module, None, None, aliased=True)
            elif each.type == "named_imports":
                for one in each.named_children:
                    self._imported(one, module, scope)

    def _imported(self, node: "Node", module: str, scope: Scope) -> None:
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is None:
            return
        binding = self.bind(alias or name, scope, "import", _BOTH)
        binding.imported = Import(module, text_of(name), place_of(name), aliased=alias is not None)

    def _export(self, node: "Node", scope: Scope) -> None:
        source = node.child_by_field_name("source")
        module = _string(source) if source is not None else None
        clause = next((each for each in node.named_children if each.type == "export_clause"), None)
        default = any(each.type == "default" for each in node.children)
        if clause is not None:
            for each in clause.named_children:
                self._specifier(each, module, scope)
            return
        if module is not None:
            space = next((each for each in node.named_children if each.type == "namespace_export"), None)
            if space is None:
                self.file.stars.append(module)
            return
        declaration, value = node.child_by_field_name("declaration"), node.child_by_field_name("value")
        before = len(self.file.bindings)
        for each in node.named_children:
            self.one(each, scope)
        if default:
            named = declaration.child_by_field_name("name") if declaration is not None else value
            if named is not None and named.type in ("identifier", "type_identifier"):
                self.file.exports.append(Export("default", text_of(named), None, None, aliased=True))
        elif declaration is not None and scope is self.module:
            names = {each.name for each in self.file.bindings[before:] if each.scope is scope}
            named = declaration.child_by_field_name("name")
            names |= {text_of(named)} if named is not None else set()
            self.file.exports += [Export(name, name, None, None) for name in sorted(names)]

    def _specifier(self, node: "Node", module: str | None, scope: Scope) -> None:
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is None:
            return
        outside = text_of(alias) if alias is not None else text_of(name)
        export = Export(outside, text_of(name), module, place_of(name), aliased=alias is not None)
        self.file.exports.append(export)
        if module is None:
            meaning = "value" if lookup(text_of(name), scope) is not None else "type"
            self._uses.append(Use(text_of(name), place_of(name), scope, f"export {meaning}"))

    # -- expressions and types ---------------------------------------------------------------------------------------

    def _member(self, node: "Node", scope: Scope) -> None:
        item, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        self.one(item, scope)
        if name is not None and name.type in ("property_identifier", "private_property_identifier"):
            place = place_of(name)
            if item is not None and item.type == "this" and self._bodies and (body := self._bodies[-1]) is not None:
                self.file.own.append((body, text_of(name), place))
            else:
                self.file.accesses.append(Access(text_of(name), place, item, scope))

    def _nested_type(self, node: "Node", scope: Scope) -> None:
        module, name = node.child_by_field_name("module"), node.child_by_field_name("name")
        self.one(module, scope)
        if name is not None:
            self.file.accesses.append(Access(text_of(name), place_of(name), module, scope))

    def _pair(self, node: "Node", scope: Scope) -> None:
        key = node.child_by_field_name("key")
        if key is not None and key.type == "property_identifier":
            self._key(key, scope, "plain")
        elif key is not None and key.type != "string":
            self.one(key, scope)
        self.one(node.child_by_field_name("value"), scope)

    def _key(self, key: "Node", scope: Scope, manner: Manner) -> None:
        """The key of an object: a member of the type that is declared for the object, if one is."""
        item = key.parent if key.parent is None or key.parent.type == "object" else key.parent.parent
        around = item.parent if item is not None else None
        annotation = around.child_by_field_name("type") if around is not None else None
        if around is not None and around.type in ("as_expression", "satisfies_expression"):
            annotation = around.named_children[-1]
        if annotation is not None:
            self.file.keywords.append(Keyword(text_of(key), place_of(key, manner), annotation, scope))
        else:
            self.file.accesses.append(Access(text_of(key), place_of(key, manner), None, scope))

    def _tag(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        for each in node.named_children:
            # A lower-case tag is an element of the page, not a name of the program.
            if each != name or each.type != "identifier":
                self.one(each, scope)
            elif not text_of(each)[:1].islower():
                self._use(each, scope, manner="tag")

    def _tuple(self, node: "Node", scope: Scope) -> None:
        """`[after: number]`: the name of a place in a tuple is nobody's."""
        for each in node.named_children:
            self.one(each.child_by_field_name("type") if each.type.endswith("_parameter") else each, scope)

    def _call(self, node: "Node", scope: Scope) -> None:
        callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee is not None and arguments is not None and text_of(callee) in ("import", "require"):
            first = arguments.named_children[0] if arguments.named_child_count else None
            if first is not None and first.type == "string":
                self.file.loaded.append(_string(first))
        self.block(node, scope)

    def _mapped(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.bind(name, scope, "type", _TYPE)
        self.one(node.child_by_field_name("type"), scope)

    def _index(self, node: "Node", scope: Scope) -> None:
        inner = self._scope("block", node, scope)
        name = node.child_by_field_name("name")
        for each in node.named_children:
            if each != name:
                self.one(each, inner)

    def _infer(self, node: "Node", scope: Scope) -> None:
        for number, each in enumerate(node.named_children):
            if number == 0 and each.type == "type_identifier":
                self.bind(each, scope, "type", _TYPE)
            else:
                self.one(each, scope)

    def _conditional(self, node: "Node", scope: Scope) -> None:
        self.block(node, self._scope("block", node, scope))

    # -- at the end --------------------------------------------------------------------------------------------------

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


def _string(node: "Node") -> str:
    return text_of(node)[1:-1]


def _clauses(heritage: "Node") -> list["Node"]:
    inside = [each for each in heritage.named_children if each.type in ("extends_clause", "implements_clause")]
    return inside or [heritage]


def _heads(clause: "Node") -> list["Node"]:
    """The names in an extends or implements clause, without their type arguments."""
    found = []
    for each in clause.named_children:
        if each.type == "generic_type":
            found.append(each.named_children[0])
        elif each.type != "type_arguments":
            found.append(each)
    return found
