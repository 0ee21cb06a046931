"""The scopes of a JavaScript or TypeScript file: blocks, functions, types beside values, imports and exports."""

from typing import TYPE_CHECKING

from tools.code.scopes import (
    COMPUTED,
    Export,
    Import,
    ImportedName,
    Keyword,
    Manner,
    MemberAccess,
    Scope,
    Use,
    lookup,
    place_of,
)
from tools.code.script_definitions import BOTH, TYPE, ScriptDefinitions, string_of, taken_name
from tools.code.source import SourceText, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

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
_EXPORTS = ("exports", "module.exports")
_METHODS = ("method_definition", "method_signature", "abstract_method_signature")


class ScriptScopes(ScriptDefinitions):
    def __init__(self, source: SourceText, words: frozenset[str] | None = None, *, members: bool = False) -> None:
        super().__init__(source, words, members=members)
        self._handlers |= {
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
            "comment": self._ignore,
            **dict.fromkeys(_FUNCTIONS, self._function),
            **dict.fromkeys(_DECLARED, self._declared),
            **dict.fromkeys(_CLASSES, self._class),
            **dict.fromkeys(_TAGS, self._tag),
            **dict.fromkeys(_FIELDS, self._field),
            **dict.fromkeys(_METHODS, self._method),
        }

    def _name(self, node: "Node", scope: Scope) -> None:
        self._use(node, scope)

    def _type_name(self, node: "Node", scope: Scope) -> None:
        self._use(node, scope, "type")

    def _shorthand(self, node: "Node", scope: Scope) -> None:
        """Record `{id}` in an object: a property and a use of the variable."""
        self._use(node, scope, manner="shorthand")
        self._key(node, scope, "shorthand")

    def _shorthand_pattern(self, node: "Node", scope: Scope) -> None:
        """Record `({id} = o)`: an assignment to a variable declared elsewhere."""
        self._use(node, scope, manner="pattern")
        self.file.accesses.append(MemberAccess(text_of(node), place_of(node, "pattern"), None, scope))

    def _labeled(self, node: "Node", scope: Scope) -> None:
        self.one(node.child_by_field_name("body"), scope)

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
            self._record_loaded(name, value, line_of(node))
            if self._required(name, value, target, scope):
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

    def _required(self, name: "Node | None", value: "Node | None", scope: Scope, outer: Scope) -> bool:
        """Bind `const m = require("./m")`, `const { a, b: c } = require("./m")` and `const a = require("./m").a`."""
        module, member = required_module(value), None
        if module is None and value is not None and value.type == "member_expression":
            member = value.child_by_field_name("property")
            module = required_module(value.child_by_field_name("object"))
        if name is None or module is None or (member is not None and name.type != "identifier"):
            return False
        if name.type == "identifier":
            taken = text_of(member) if member is not None else None
            place = place_of(member) if member is not None else None
            self._bind_required(name, Import(module, taken, place, aliased=taken != text_of(name)), scope)
        elif name.type == "object_pattern":
            for each in name.named_children:
                key, local = each.child_by_field_name("key"), each.child_by_field_name("value")
                if each.type == "shorthand_property_identifier_pattern":
                    self._bind_required(each, Import(module, text_of(each), place_of(each), aliased=False), scope)
                elif (
                    key is not None
                    and local is not None
                    and local.type == "identifier"
                    and taken_name(key)[0] != COMPUTED
                ):
                    self._bind_required(local, Import(module, *taken_name(key), aliased=True), scope)
                else:
                    self.file.loaded.append(module)
                    self._opaque(each, scope, "variable", outer)
        else:
            return False
        return True

    def _bind_required(self, name: "Node", imported: Import, scope: Scope) -> None:
        self.file.commonjs = True
        self.bind(name, scope, "import").imported = imported

    def _exported(self, left: "Node | None", right: "Node | None", scope: Scope) -> bool:
        """Record `module.exports = { a, b: c }`, `module.exports = a` and `exports.a = a`."""
        if left is None or right is None or left.type != "member_expression":
            return False
        whole, item = text_of(left) == "module.exports", left.child_by_field_name("object")
        if not whole and text_of(item) not in _EXPORTS:
            return False
        self.file.commonjs = True
        if whole and right.type == "object":
            for each in right.named_children:
                self._exported_property(each, scope)
            return True
        name = left.child_by_field_name("property")
        if right.type != "identifier":
            if not whole and name is not None:
                self.file.exports.append(Export(text_of(name), "", None, None, aliased=True))
            return False
        if whole:
            self.file.exports.append(Export("default", text_of(right), None, None, aliased=True))
        elif name is not None:
            self._export_as(name, right, scope)
        self.one(right, scope)
        return True

    def _exported_property(self, node: "Node", scope: Scope) -> None:
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        if node.type == "shorthand_property_identifier":
            self._export_as(node, node, scope)
            return
        if key is not None and value is not None and key.type == "property_identifier" and value.type == "identifier":
            self._export_as(key, value, scope)
            self.one(value, scope)
            return
        named = key or node.child_by_field_name("name")
        if named is not None:
            self.file.exports.append(Export(text_of(named).strip("'\""), "", None, None, aliased=True))
        spread = required_module(node.named_children[0]) if node.type == "spread_element" else None
        self.file.stars += [spread] if spread is not None else []
        self.one(node, scope)

    def _export_as(self, name: "Node", local: "Node", scope: Scope) -> None:
        """Export a name; if it is also the local one, both change together."""
        same = text_of(name) == text_of(local)
        self.file.exports.append(Export(text_of(name), text_of(local), None, None, aliased=not same))
        if same:
            self._uses.append(Use(text_of(name), place_of(name), scope, "export value"))

    def _record_loaded(self, name: "Node | None", value: "Node | None", line: int) -> None:
        """Record the names of `const { a } = require("./m")` and `await import("./m")`."""
        if value is not None and value.type == "await_expression" and value.named_children:
            value = value.named_children[0]
        if name is None or value is None or value.type != "call_expression":
            return
        if text_of(value.child_by_field_name("function")) not in ("require", "import"):
            return
        module = text_of(value.child_by_field_name("arguments")).strip("()'\"` ")
        if name.type == "identifier":
            self.file.imports.append(ImportedName(text_of(name), module, None, line))
        for each in name.named_children:
            if each.type == "shorthand_property_identifier_pattern":
                self.file.imports.append(ImportedName(text_of(each), module, text_of(each), line))
            elif each.type == "pair_pattern":
                local, key = text_of(each.child_by_field_name("value")), text_of(each.child_by_field_name("key"))
                self.file.imports.append(ImportedName(local, module, key, line))

    def _assignment(self, node: "Node", scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if scope is self.module and self._exported(left, right, scope):
            return
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

    def _import(self, node: "Node", scope: Scope) -> None:
        source = node.child_by_field_name("source")
        clause = next((each for each in node.named_children if each.type == "import_clause"), None)
        required = next((each for each in node.named_children if each.type == "import_require_clause"), None)
        if required is not None:
            inside = required.child_by_field_name("source")
            binding = self.bind(required.named_children[0], scope, "import", BOTH)
            binding.imported = Import(string_of(inside) if inside is not None else "", None, None, aliased=True)
        if source is None:
            return
        module, line = string_of(source), line_of(node)
        if clause is None:
            self.file.imports.append(ImportedName("", module, None, line))
            return
        for each in clause.named_children:
            if each.type == "identifier":
                binding = self.bind(each, scope, "import", BOTH)
                binding.imported = Import(module, "default", None, aliased=True, default=True)
                self.file.imports.append(ImportedName(binding.name, module, "default", line))
            elif each.type == "namespace_import":
                binding = self.bind(each.named_children[0], scope, "import", BOTH)
                binding.imported = Import(module, None, None, aliased=True)
                self.file.imports.append(ImportedName(binding.name, module, None, line))
            elif each.type == "named_imports":
                for one in each.named_children:
                    self._imported(one, module, scope, line)

    def _imported(self, node: "Node", module: str, scope: Scope, line: int) -> None:
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is None:
            return
        binding = self.bind(alias or name, scope, "import", BOTH)
        binding.imported = Import(module, text_of(name), place_of(name), aliased=alias is not None)
        self.file.imports.append(ImportedName(binding.name, module, text_of(name), line))

    def _export(self, node: "Node", scope: Scope) -> None:
        source = node.child_by_field_name("source")
        module = string_of(source) if source is not None else None
        clause = next((each for each in node.named_children if each.type == "export_clause"), None)
        default = any(each.type == "default" for each in node.children)
        if clause is not None:
            for each in clause.named_children:
                self._specifier(each, module, scope, line_of(node))
            return
        if module is not None:
            space = next((each for each in node.named_children if each.type == "namespace_export"), None)
            if space is None:
                self.file.stars.append(module)
            else:
                self.file.exports.append(Export(text_of(space.named_children[0]), "*", module, None, aliased=True))
            self.file.imports.append(ImportedName("*", module, "*", line_of(node)))
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

    def _specifier(self, node: "Node", module: str | None, scope: Scope, line: int) -> None:
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is None:
            return
        outside = text_of(alias) if alias is not None else text_of(name)
        export = Export(outside, text_of(name), module, place_of(name), aliased=alias is not None)
        self.file.exports.append(export)
        if module is not None:
            self.file.imports.append(ImportedName(outside, module, text_of(name), line))
        else:
            meaning = "value" if lookup(text_of(name), scope) is not None else "type"
            self._uses.append(Use(text_of(name), place_of(name), scope, f"export {meaning}"))

    def _member(self, node: "Node", scope: Scope) -> None:
        item, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        self.one(item, scope)
        if name is not None and name.type in ("property_identifier", "private_property_identifier"):
            place = place_of(name)
            if item is not None and item.type == "this" and self._bodies and (body := self._bodies[-1]) is not None:
                self.file.own.append((body, text_of(name), place))
            else:
                self.file.accesses.append(MemberAccess(text_of(name), place, item, scope))

    def _nested_type(self, node: "Node", scope: Scope) -> None:
        module, name = node.child_by_field_name("module"), node.child_by_field_name("name")
        self.one(module, scope)
        if name is not None:
            self.file.accesses.append(MemberAccess(text_of(name), place_of(name), module, scope))

    def _pair(self, node: "Node", scope: Scope) -> None:
        key = node.child_by_field_name("key")
        if key is not None and key.type == "property_identifier":
            self._key(key, scope, "plain")
        elif key is not None and key.type != "string":
            self.one(key, scope)
        self.one(node.child_by_field_name("value"), scope)

    def _key(self, key: "Node", scope: Scope, manner: Manner) -> None:
        """Record the key of an object: a member of its declared type, if it has one."""
        item = key.parent if key.parent is None or key.parent.type == "object" else key.parent.parent
        around = item.parent if item is not None else None
        annotation = around.child_by_field_name("type") if around is not None else None
        if around is not None and around.type in ("as_expression", "satisfies_expression"):
            annotation = around.named_children[-1]
        if annotation is not None:
            self.file.keywords.append(Keyword(text_of(key), place_of(key, manner), annotation, scope))
        else:
            self.file.accesses.append(MemberAccess(text_of(key), place_of(key, manner), None, scope))

    def _tag(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        for each in node.named_children:
            # A lower-case tag is an HTML element.
            if each != name or each.type != "identifier":
                self.one(each, scope)
            elif not text_of(each)[:1].islower():
                self._use(each, scope, manner="tag")

    def _tuple(self, node: "Node", scope: Scope) -> None:
        """Skip the labels of a tuple type: `[after: number]`."""
        for each in node.named_children:
            self.one(each.child_by_field_name("type") if each.type.endswith("_parameter") else each, scope)

    def _call(self, node: "Node", scope: Scope) -> None:
        callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee is not None and arguments is not None and text_of(callee) in ("import", "require"):
            first = arguments.named_children[0] if arguments.named_child_count else None
            if first is not None and first.type == "string":
                self.file.loaded.append(string_of(first))
        self.block(node, scope)

    def _mapped(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.bind(name, scope, "type", TYPE)
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
                self.bind(each, scope, "type", TYPE)
            else:
                self.one(each, scope)

    def _conditional(self, node: "Node", scope: Scope) -> None:
        self.block(node, self._scope("block", node, scope))


def required_module(node: "Node | None") -> str | None:
    """The module that `require("./m")` loads."""
    arguments = node.child_by_field_name("arguments") if node is not None and node.type == "call_expression" else None
    if node is None or arguments is None or arguments.named_child_count != 1:
        return None
    first = arguments.named_children[0]
    is_known = text_of(node.child_by_field_name("function")) == "require" and first.type == "string"
    return string_of(first) if is_known else None
