"""The scopes of a Python file: comprehensions, class bodies, global and nonlocal."""

from typing import TYPE_CHECKING

from tools.code.python_definitions import PythonDefinitions, name_of, quoted
from tools.code.scopes import Import, ImportedName, Keyword, MemberAccess, Place, Scope, Use, lookup, place_of
from tools.code.source import SourceText, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_COMPREHENSIONS = ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")


def _strings(node: "Node") -> list[tuple[str, Place]]:
    """Return the strings of a list or tuple of names, or of a sum of such."""
    found: list[tuple[str, Place]] = []
    for item in node.named_children:
        if item.type == "string":
            parts = [part for part in item.named_children if part.type == "string_content"]
            found += [(text_of(part), place_of(part, "quoted")) for part in parts]
        elif item.type in ("list", "tuple", "set", "binary_operator", "list_splat", "parenthesized_expression"):
            found += _strings(item)
    return found


class PythonScopes(PythonDefinitions):
    def __init__(self, source: SourceText, words: frozenset[str] | None = None, *, members: bool = False) -> None:
        super().__init__(source, words, members=members)
        self._within = False
        self._handlers = {
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
            "future_import_statement": self._ignore,
            "global_statement": self._global,
            "nonlocal_statement": self._nonlocal,
            "attribute": self._attribute,
            "call": self._call,
            "case_clause": self._case,
            "type_alias_statement": self._type_alias,
            "type": self._annotation,
            "comment": self._ignore,
            **dict.fromkeys(_COMPREHENSIONS, self._comprehension),
        }

    # -- binding -------------------------------------------------------------------------------------------------------

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
        """Record `self.name = …` in a method as a member."""
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
                binding.opaque = True  # a context manager may return anything
        else:
            self._target(alias, scope)

    # -- statements ----------------------------------------------------------------------------------------------------

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
            if each.type in ("aliased_import", "dotted_name"):
                self._record_import(each, node)
            if each.type == "aliased_import":
                name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
                if name is not None and alias is not None and (binding := self.bind(alias, scope, "import")):
                    binding.imported = Import(text_of(name), None, None, aliased=True)
            elif each.type == "dotted_name":
                binding = self.bind(each.named_children[0], scope, "import")
                # `import a.b` binds `a`.
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
            self.file.imports.append(ImportedName(name_of(alias or word), written, name_of(word), line_of(node)))
            if binding := self.bind(alias or word, scope, "import"):
                # `import x as x` says that x is exported.
                aliased = alias is not None and name_of(alias) != name_of(word)
                binding.imported = Import(written, name_of(word), place_of(word), aliased=aliased)
        if any(child.type == "wildcard_import" for child in node.named_children):
            self.file.stars.append(written)
            self.file.imports.append(ImportedName("*", written, "*", line_of(node)))

    def _record_import(self, name: "Node", statement: "Node") -> None:
        alias = name.child_by_field_name("alias")
        module = text_of(name.child_by_field_name("name") or name)
        self.file.imports.append(ImportedName(text_of(alias) or module, module, None, line_of(statement)))

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
            self.file.accesses.append(MemberAccess(name_of(name), place_of(name), callee, scope))
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
            self.file.accesses.append(MemberAccess(name_of(each), place_of(each), before, scope))

    # -- expressions ---------------------------------------------------------------------------------------------------

    def _annotation(self, node: "Node", scope: Scope) -> None:
        within, self._within = self._within, True
        self.block(node, scope)
        self._within = within
        if not within:
            self._uses += [Use(name, place, scope) for name, place in quoted(node)]

    def _attribute(self, node: "Node", scope: Scope) -> None:
        item, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        self.one(item, scope)
        if name is not None:
            self.file.accesses.append(MemberAccess(name_of(name), place_of(name), item, scope))

    def _call(self, node: "Node", scope: Scope) -> None:
        callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        self.one(callee, scope)
        if arguments is None:
            return
        if text_of(callee).startswith("__all__."):
            self._listed(arguments)
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
