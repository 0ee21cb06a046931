"""What a file's imports bind: under which name, from which module, and what of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tools.code.modules import Modules
from tools.code.source import PYTHON, SCRIPT, Source, ancestors, below, text

if TYPE_CHECKING:
    from tree_sitter import Node


class Binding(NamedTuple):
    """`name` is what is imported: nothing for the module itself, `*` for everything, `default` for a default export."""

    local: str
    module: str
    name: str | None
    line: int
    #: The file that the module is, if it is one of the project's.
    file: str | None
    #: Whether it is handed on to those who import this file.
    exported: bool = False


def bindings(source: Source, modules: Modules) -> list[Binding]:
    if source.kind in PYTHON:
        return list(_python(source, modules))
    if source.kind in SCRIPT:
        return list(_script(source, modules))
    return []


def _statements(source: Source, kinds: frozenset[str]) -> Iterator["Node"]:
    """Imports stand at the top of files and functions; expressions hold none."""
    stack = [*reversed(source.root.named_children)]
    while stack:
        node = stack.pop()
        if node.type in kinds:
            yield node
        elif node.type.endswith(("_statement", "_definition", "block", "_clause", "_declaration", "_body")):
            stack.extend(reversed(node.named_children))


_PYTHON_IMPORTS = frozenset({"import_statement", "import_from_statement"})
_SCRIPT_IMPORTS = frozenset({"import_statement", "export_statement", "lexical_declaration", "variable_declaration"})


def _python(source: Source, modules: Modules) -> Iterator[Binding]:
    if b"import" not in source.content:
        return
    for node in _statements(source, _PYTHON_IMPORTS):
        line = node.start_point[0] + 1
        if node.type == "import_statement":
            for each in node.children_by_field_name("name"):
                aliased = each.type == "aliased_import"
                module = text(each.child_by_field_name("name")) if aliased else text(each)
                local = text(each.child_by_field_name("alias")) if aliased else module
                yield Binding(local, module, None, line, modules.python(module, source.path))
            continue
        module = "".join(text(node.child_by_field_name("module_name")).split())
        file = modules.python(module, source.path)
        if any(child.type == "wildcard_import" for child in node.named_children):
            yield Binding("*", module, "*", line, file, exported=True)
        for each in node.children_by_field_name("name"):
            aliased = each.type == "aliased_import"
            name = text(each.child_by_field_name("name")) if aliased else text(each)
            local = text(each.child_by_field_name("alias")) if aliased else name
            inner = f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
            submodule = modules.python(inner, source.path)
            if submodule is not None and (file is None or file.endswith("__init__.py")):
                yield Binding(local, inner, None, line, submodule, exported=True)
            else:
                yield Binding(local, module, name, line, file, exported=True)


def _script(source: Source, modules: Modules) -> Iterator[Binding]:
    for node in _statements(source, _SCRIPT_IMPORTS):
        line = node.start_point[0] + 1
        module = text(node.child_by_field_name("source")).strip("'\"`")
        if node.type in ("lexical_declaration", "variable_declaration"):
            yield from _required(node, source, modules)
            continue
        if node.type == "export_statement":
            declared = node.child_by_field_name("declaration")
            if declared is not None and declared.type in ("lexical_declaration", "variable_declaration"):
                yield from _required(declared, source, modules)
            if not module:
                continue
        file = modules.script(module, source.path)
        specifiers = [each for each in below(node) if each.type in ("import_specifier", "export_specifier")]
        exported = node.type == "export_statement"
        for each in specifiers:
            name = text(each.child_by_field_name("name"))
            yield Binding(text(each.child_by_field_name("alias")) or name, module, name, line, file, exported)
        if exported:
            if not specifiers:
                yield Binding("*", module, "*", line, file, exported=True)
            continue
        for clause in node.named_children:
            if clause.type == "import_clause":
                for each in clause.named_children:
                    if each.type == "identifier":
                        yield Binding(text(each), module, "default", line, file)
                    elif each.type == "namespace_import":
                        yield Binding(text(each.named_children[0]), module, None, line, file)
        if not any(child.type == "import_clause" for child in node.named_children):
            yield Binding("", module, None, line, file)


def _required(node: "Node", source: Source, modules: Modules) -> Iterator[Binding]:
    """`const x = require("./y")`, with or without braces around the name."""
    for declarator in node.named_children:
        value = declarator.child_by_field_name("value")
        if value is not None and value.type == "await_expression" and value.named_children:
            value = value.named_children[0]
        if value is None or value.type != "call_expression":
            continue
        if text(value.child_by_field_name("function")) not in ("require", "import"):
            continue
        module = text(value.child_by_field_name("arguments")).strip("()'\"` ")
        file, line = modules.script(module, source.path), node.start_point[0] + 1
        name = declarator.child_by_field_name("name")
        if name is None:
            continue
        if name.type == "identifier":
            yield Binding(text(name), module, None, line, file)
        for each in name.named_children:
            if each.type == "shorthand_property_identifier_pattern":
                yield Binding(text(each), module, text(each), line, file)
            elif each.type == "pair_pattern":
                local, key = text(each.child_by_field_name("value")), text(each.child_by_field_name("key"))
                yield Binding(local, module, key, line, file)


def reexported(source: Source, local: str) -> bool:
    """Whether `export { local }` stands somewhere in a script."""
    return any(
        any(above.type == "export_clause" for above in ancestors(node))
        for node in source.named(local)
        if node.parent is not None and node.parent.type == "export_specifier"
    )
