"""Infer the class of an expression. What is not evident is unknown, never guessed."""

from typing import TYPE_CHECKING, Literal

from tools.code.python_definitions import name_of
from tools.code.scopes import Binding, BindingRef, ClassBody, ClassKey, FileScopes, Scope, lookup
from tools.code.source import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from tools.code.project import Project


#: Certainly no class of the project: a string, a number, a list, a module.
Other = Literal["other"]
Evidence = ClassKey | Other | None

_LITERAL_TYPES = """
    string concatenated_string integer float true false none list dictionary set tuple list_comprehension
    dictionary_comprehension set_comprehension generator_expression number template_string regex array object
"""
_LITERALS = frozenset(_LITERAL_TYPES.split())
_WRAPPED = frozenset(
    {"parenthesized_expression", "await", "await_expression", "non_null_expression", "type", "type_annotation"}
)
_OPTIONAL = frozenset({"Optional", "Final", "ClassVar", "Annotated", "Type", "type", "Promise", "Readonly", "Partial"})
_DEPTH = 12
#: Bases without members that a class would override.
_PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "Enum", "NamedTuple", "TypedDict"})


class ClassIndex:
    """Classes of a project, their bases, and the types of expressions. Caches bases while files do not change."""

    def __init__(self, project: "Project") -> None:
        self._project = project
        self._bases: dict[ClassKey, list[ClassKey]] = {}
        self._open: set[ClassKey] = set()

    def body(self, key: ClassKey) -> ClassBody | None:
        file = self._project.files.get(key.path)
        return file.class_of(key.binding) if file is not None else None

    def bases(self, key: ClassKey) -> list[ClassKey]:
        """Return the direct bases that are in the workspace."""
        if key in self._bases:
            return self._bases[key]
        self._bases[key] = []
        body, file = self.body(key), self._project.files.get(key.path)
        if body is None or file is None:
            return []
        found: list[ClassKey] = []
        for node in body.bases:
            head = node.child_by_field_name("value") if node.type == "subscript" else node
            meaning = self._project.expression_meaning(head, body.outer, file) if head is not None else None
            if isinstance(meaning, BindingRef) and self.body(ClassKey(*meaning)) is not None:
                found.append(ClassKey(*meaning))
            elif text_of(node) not in _PLAIN_BASES:
                self._open.add(key)
        self._bases[key] = found
        return found

    def ancestors(self, key: ClassKey) -> list[ClassKey]:
        found: list[ClassKey] = []
        waiting = [key]
        while waiting:
            each = waiting.pop(0)
            if each not in found:
                found.append(each)
                waiting += self.bases(each)
        return found

    def outside_bases(self, key: ClassKey) -> list[str]:
        """Return the bases that are not in the workspace, with their modules where they are known."""
        found: list[str] = []
        for each in self.ancestors(key):
            body, file = self.body(each), self._project.files.get(each.path)
            if body is None or file is None or each not in self._open:
                continue
            for node in body.bases:
                head = node.child_by_field_name("value") if node.type == "subscript" else node
                meaning = self._project.expression_meaning(head, body.outer, file) if head is not None else None
                if meaning is None and text_of(node) not in _PLAIN_BASES and head is not None:
                    found.append(_outside_name(head, body.outer, file))
        return list(dict.fromkeys(found))

    def has_open_base(self, key: ClassKey) -> bool:
        """Whether a class of Python has a base that only a run knows: a variable, an attribute of one, a call."""
        body, file = self.body(key), self._project.files[key.path]
        if body is None or file.source.family != "python":
            return False
        return any(_is_open(node, body.outer) for node in body.bases)

    def has_outside_base(self, key: ClassKey) -> bool:
        return any(each in self._open for each in self.ancestors(key))

    def of(self, node: "Node | None", scope: Scope, file: FileScopes, depth: int = 0) -> Evidence:
        if node is None or depth > _DEPTH:
            return None
        kind = node.type
        if kind in _LITERALS:
            return "other"
        if kind in _WRAPPED:
            return self.of(node.named_children[0], scope, file, depth + 1) if node.named_child_count else None
        if kind in ("identifier", "type_identifier"):
            return self._of_name(node, scope, file, depth)
        if kind in ("call", "call_expression", "new_expression"):
            return self._of_call(node, scope, file, depth)
        if kind in ("attribute", "member_expression"):
            return self._of_attribute(node, scope, file, depth)
        if kind in ("as_expression", "satisfies_expression"):
            return self.of_annotation(node.named_children[-1], scope, file, depth + 1)
        if kind == "super":
            return self._of_super(node, scope, file)
        return None

    def of_annotation(self, node: "Node | None", scope: Scope, file: FileScopes, depth: int = 0) -> Evidence:
        if node is None or depth > _DEPTH:
            return None
        kind = node.type
        if kind in _WRAPPED or kind == "parenthesized_type":
            return (
                self.of_annotation(node.named_children[0], scope, file, depth + 1) if node.named_child_count else None
            )
        if kind == "string" and node.named_child_count == 3:
            return self._of_quoted(node, scope, file)
        if kind in ("binary_operator", "union_type"):
            parts = [
                self.of_annotation(each, scope, file, depth + 1)
                for each in node.named_children
                if each.type not in ("none", "predefined_type", "literal_type")
            ]
            return parts[0] if len(parts) == 1 else None
        if kind in ("generic_type", "subscript"):
            head, *rest = node.named_children
            if text_of(head).rpartition(".")[2] in _OPTIONAL and rest:
                inner = rest[0].named_children[0] if rest[0].type.startswith("type_") else rest[0]
                return self.of_annotation(inner, scope, file, depth + 1)
            return self.of_annotation(head, scope, file, depth + 1)
        if kind in ("predefined_type", "literal_type", "array_type", "tuple_type", "none"):
            return "other"
        if kind in ("identifier", "type_identifier", "attribute", "nested_type_identifier", "member_expression"):
            meaning = self._project.expression_meaning(node, scope, file)
            if isinstance(meaning, BindingRef):
                key = ClassKey(*meaning)
                return key if self.body(key) is not None else None
            return "other" if meaning is None and text_of(node) in _BUILT_IN else None
        return None

    def _of_quoted(self, node: "Node", scope: Scope, file: FileScopes) -> Evidence:
        names = [part.strip() for part in text_of(node.named_children[1]).split("|") if part.strip() != "None"]
        binding = lookup(names[0], scope) if len(names) == 1 else None
        meaning = self._project.meaning(binding, file) if binding is not None else None
        if isinstance(meaning, BindingRef) and self.body(ClassKey(*meaning)) is not None:
            return ClassKey(*meaning)
        return None

    def _of_name(self, node: "Node", scope: Scope, file: FileScopes, depth: int) -> Evidence:
        name = name_of(node) if file.source.family == "python" else text_of(node)
        binding = lookup(name, scope, "type" if node.type == "type_identifier" else "value")
        if binding is None:
            meaning = self._project.expression_meaning(node, scope, file)
        elif binding in file.selves:
            return ClassKey(file.path, file.selves[binding].binding)
        elif binding.imported is None:
            return self._of_binding(binding, file, depth)
        else:
            meaning = self._project.meaning(binding, file)
            if meaning is None and self._project.resolve(binding.imported.module, file.path) is None:
                return "other"  # a module outside the workspace
        if isinstance(meaning, BindingRef):
            target = self._project.files.get(meaning.path)
            return self._of_binding(meaning.binding, target, depth + 1) if target is not None else None
        return "other" if meaning is not None else None

    def _of_binding(self, binding: Binding, file: FileScopes, depth: int) -> Evidence:
        if binding.kind == "class":
            return None if self._is_redefined(binding, file) else ClassKey(file.path, binding)
        if binding.annotations:
            found = {self.of_annotation(node, scope, file, depth + 1) for node, scope in binding.annotations}
            return found.pop() if len(found) == 1 else None
        if binding.opaque or not binding.values:
            return None
        found = {self.of(node, scope, file, depth + 1) for node, scope in binding.values if node.type != "none"}
        return found.pop() if len(found) == 1 else None

    def _is_redefined(self, binding: Binding, file: FileScopes) -> bool:
        """Whether a Python class has several definitions."""
        return file.source.family == "python" and binding.opaque

    def _of_call(self, node: "Node", scope: Scope, file: FileScopes, depth: int) -> Evidence:
        callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        if callee is None:
            return None
        if callee.type == "identifier" and text_of(callee) == "super":
            return self._of_super(node, scope, file)
        meaning = self._project.expression_meaning(callee, scope, file)
        if isinstance(meaning, BindingRef):
            target, binding = self._project.files.get(meaning.path), meaning.binding
            if target is None:
                return None
            if binding.kind == "class":
                return None if self._is_redefined(binding, target) else ClassKey(*meaning)
            if binding.kind == "function" and binding.node is not None and not binding.opaque:
                inner = binding.scope
                return self.of_annotation(binding.node.child_by_field_name("return_type"), inner, target, depth + 1)
            return None
        if callee.type in ("attribute", "member_expression"):
            return self._of_method_call(callee, scope, file, depth)
        return None

    def _of_method_call(self, callee: "Node", scope: Scope, file: FileScopes, depth: int) -> Evidence:
        """Use the return annotation of the method, if the class is known."""
        owner = self.of(callee.child_by_field_name("object"), scope, file, depth + 1)
        name = callee.child_by_field_name("attribute") or callee.child_by_field_name("property")
        if not isinstance(owner, ClassKey) or name is None:
            return None
        for key in self.ancestors(owner):
            body, target = self.body(key), self._project.files.get(key.path)
            if body is not None and target is not None and (method := body.methods.get(text_of(name))) is not None:
                return self.of_annotation(method.child_by_field_name("return_type"), body.outer, target, depth + 1)
        return None

    def _of_attribute(self, node: "Node", scope: Scope, file: FileScopes, depth: int) -> Evidence:
        meaning = self._project.expression_meaning(node, scope, file)
        if isinstance(meaning, BindingRef):
            target = self._project.files.get(meaning.path)
            return self._of_binding(meaning.binding, target, depth + 1) if target is not None else None
        if meaning is not None:
            return "other"
        item = node.child_by_field_name("object")
        owner = self._of_this(item, scope, file) or self.of(item, scope, file, depth + 1)
        name = node.child_by_field_name("attribute") or node.child_by_field_name("property")
        if not isinstance(owner, ClassKey) or name is None:
            return None
        return self._of_member(owner, text_of(name), depth)

    def _of_member(self, owner: ClassKey, member: str, depth: int) -> Evidence:
        for key in self.ancestors(owner):
            body, target = self.body(key), self._project.files.get(key.path)
            if body is None or target is None or member not in body.members:
                continue
            if annotations := body.annotations.get(member):
                found = {self.of_annotation(each, scope, target, depth + 1) for each, scope in annotations}
            else:
                values = [(each, scope) for each, scope in body.values.get(member, ()) if each.type != "none"]
                found = {self.of(each, scope, target, depth + 1) for each, scope in values}
            return found.pop() if len(found) == 1 else None
        return None

    def _of_this(self, node: "Node | None", scope: Scope, file: FileScopes) -> Evidence:
        if node is None or node.type != "this":
            return None
        return self._around(node, file)

    def _of_super(self, node: "Node", scope: Scope, file: FileScopes) -> Evidence:
        """Return the enclosing class; lookups continue in its ancestors."""
        return self._around(node, file)

    def _around(self, node: "Node", file: FileScopes) -> Evidence:
        around = node.parent
        while around is not None:
            if around.type in ("class_definition", "class_declaration", "abstract_class_declaration", "class"):
                for body in file.classes:
                    if body.binding.node is not None and body.binding.node == around:
                        return ClassKey(file.path, body.binding)
            if around.type in ("function_expression", "generator_function", "function_declaration"):
                return None
            around = around.parent
        return None


_BUILT_IN = frozenset(
    {"str", "int", "float", "bool", "bytes", "list", "dict", "set", "tuple", "frozenset", "object", "Path", "Any"}
)


def _is_open(base: "Node", scope: Scope) -> bool:
    head = base
    while head.type in ("attribute", "subscript") and head.named_child_count:
        head = head.named_children[0]
    if head.type != "identifier":
        return head.type == "call"
    binding = lookup(text_of(head), scope)
    return binding is not None and binding.kind in ("variable", "parameter")


def _outside_name(node: "Node", scope: Scope, file: FileScopes) -> str:
    """The dotted name of a class outside the workspace, from its module on."""
    first, _, rest = text_of(node).partition(".")
    binding = lookup(first, scope)
    if binding is None or binding.imported is None:
        return text_of(node)
    parts = [binding.imported.module, binding.imported.name, rest]
    return ".".join(part for part in parts if part)
