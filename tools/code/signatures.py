"""The functions and classes of a file with their parameters, for what is written about them: docstrings, tests."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tools.code.tree import Source, below, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


class Parameter(NamedTuple):
    name: str
    annotation: str
    default: str | None
    #: `*`, `**` or `...` before it.
    star: str = ""
    optional: bool = False
    keyword_only: bool = False


class Definition(NamedTuple):
    name: str
    kind: str
    #: The class that it is a method of, or nothing.
    owner: str
    node: "Node"
    #: Where a comment about it begins: before its decorators and its `export`.
    outer: "Node"
    parameters: tuple[Parameter, ...]
    returns: str
    gives: bool
    yields: bool
    raises: tuple[str, ...]
    exported: bool
    marks: tuple[str, ...] = ()
    is_async: bool = False

    @property
    def line(self) -> int:
        return self.node.start_point[0] + 1

    @property
    def full_name(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


def definitions(source: Source) -> list[Definition]:
    """Those of the module and of its classes; what is inside of a function is its own affair."""
    return list(_python(source.root, "") if source.family == "python" else _script(source.root, ""))


def spoken(name: str) -> str:
    """`parse_line` and `parseLine` as words: "Parse line"."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.strip("_$#")).split("_")
    parts = [word if word.isupper() and len(word) > 1 else word.lower() for word in words if word]
    said = " ".join(parts)
    return said[:1].upper() + said[1:]


# -- Python ------------------------------------------------------------------------------------------------------------


def _python(block: "Node", owner: str) -> Iterator[Definition]:
    for child in block.named_children:
        node = child.child_by_field_name("definition") if child.type == "decorated_definition" else child
        if node is None or node.type not in ("function_definition", "class_definition"):
            continue
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            continue
        marks = tuple(text_of(each)[1:].strip() for each in child.named_children if each.type == "decorator")
        if node.type == "class_definition":
            full = f"{owner}.{text_of(name)}" if owner else text_of(name)
            yield Definition(text_of(name), "class", owner, node, child, (), "", False, False, (), not owner, marks)
            yield from _python(body, full)
        else:
            yield _python_function(node, child, text_of(name), owner, marks)


def _python_function(node: "Node", outer: "Node", name: str, owner: str, marks: tuple[str, ...]) -> Definition:
    body, returned = node.child_by_field_name("body"), node.child_by_field_name("return_type")
    parameters = list(_python_parameters(node.child_by_field_name("parameters")))
    if owner and "staticmethod" not in marks:
        parameters = parameters[1:]
    inside = list(_own(body)) if body is not None else []
    raised = [each.named_children[0] for each in inside if each.type == "raise_statement" and each.named_child_count]
    names = dict.fromkeys(
        text_of(each.child_by_field_name("function") or each if each.type == "call" else each) for each in raised
    )
    return Definition(
        name,
        "method" if owner else "function",
        owner,
        node,
        outer,
        tuple(parameters),
        text_of(returned) if returned is not None else "",
        any(each.type == "return_statement" and each.named_child_count for each in inside),
        any(each.type == "yield" for each in inside),
        tuple(each for each in names if re.fullmatch(r"[\w.]+", each)),
        not owner,
        marks,
        text_of(node).startswith("async"),
    )


def _own(node: "Node") -> Iterator["Node"]:
    """What is below a node, without what is inside of the functions and classes there."""
    for child in node.children:
        yield child
        if child.type not in ("function_definition", "class_definition", "lambda"):
            yield from _own(child)


def _python_parameters(node: "Node | None") -> Iterator[Parameter]:
    keyword_only = False
    for each in node.named_children if node is not None else ():
        if each.type == "keyword_separator":
            keyword_only = True
        if each.type in ("keyword_separator", "positional_separator", "comment"):
            continue
        text = text_of(each)
        star = "**" if text.startswith("**") else "*" if text.startswith("*") else ""
        name = re.match(r"\**\s*(\w+)", text)
        annotation, value = each.child_by_field_name("type"), each.child_by_field_name("value")
        if name is not None:
            yield Parameter(
                name[1],
                text_of(annotation) if annotation is not None else "",
                text_of(value) if value is not None else None,
                star,
                keyword_only=keyword_only and not star,
            )
        keyword_only = keyword_only or star == "*"


# -- JavaScript and TypeScript -----------------------------------------------------------------------------------------

_FUNCTIONS = ("function_declaration", "generator_function_declaration")
_CLASSES = ("class_declaration", "abstract_class_declaration")


def _script(block: "Node", owner: str) -> Iterator[Definition]:
    for child in block.named_children:
        exported = child.type == "export_statement"
        node = (child.child_by_field_name("declaration") if exported else child) or child
        if node.type in _FUNCTIONS:
            yield _script_function(node, child, node, owner, exported)
        elif node.type in ("lexical_declaration", "variable_declaration"):
            for each in node.named_children:
                value = each.child_by_field_name("value")
                if value is not None and value.type in ("arrow_function", "function_expression"):
                    yield _script_function(each, child, value, owner, exported)
        elif node.type in _CLASSES:
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None and body is not None:
                yield Definition(text_of(name), "class", owner, node, child, (), "", False, False, (), exported)
                yield from _script(body, text_of(name))
        elif node.type == "method_definition" and owner:
            yield _script_function(node, child, node, owner, True)


def _script_function(named: "Node", outer: "Node", node: "Node", owner: str, exported: bool) -> Definition:
    name, body = named.child_by_field_name("name"), node.child_by_field_name("body")
    returned = node.child_by_field_name("return_type")
    inside = list(_own_script(body)) if body is not None else []
    thrown = [each.named_children[0] for each in inside if each.type == "throw_statement" and each.named_child_count]
    constructors = [each.child_by_field_name("constructor") for each in thrown if each.type == "new_expression"]
    arrow = body is not None and body.type != "statement_block"
    marks = tuple(
        text_of(each) for each in node.children if not each.is_named and each.type in ("get", "set", "static")
    )
    hidden = any(
        each.type == "accessibility_modifier" and text_of(each) in ("private", "protected") for each in node.children
    )
    return Definition(
        text_of(name) if name is not None else "",
        "method" if owner else "function",
        owner,
        named,
        outer,
        tuple(_script_parameters(node)),
        text_of(returned).lstrip(": ") if returned is not None else "",
        arrow or any(each.type == "return_statement" and each.named_child_count for each in inside),
        any(each.type == "yield_expression" for each in inside),
        tuple(dict.fromkeys(text_of(each) for each in constructors if each is not None)),
        exported,
        (*marks, *(("private",) if hidden else ())),
        any(each.type == "async" for each in node.children),
    )


def _own_script(node: "Node") -> Iterator["Node"]:
    for child in node.children:
        yield child
        if "function" not in child.type and "class" not in child.type and child.type != "method_definition":
            yield from _own_script(child)


def _script_parameters(node: "Node") -> Iterator[Parameter]:
    single, several = node.child_by_field_name("parameter"), node.child_by_field_name("parameters")
    if single is not None:
        yield Parameter(text_of(single), "", None)
    for each in several.named_children if several is not None else ():
        if each.type == "comment":
            continue
        pattern = each.child_by_field_name("pattern") or each.child_by_field_name("left") or each
        annotation = each.child_by_field_name("type")
        value = each.child_by_field_name("value") or each.child_by_field_name("right")
        names = [pattern] if pattern.type == "identifier" else [n for n in below(pattern) if n.type == "identifier"]
        star = "..." if pattern.type == "rest_pattern" else ""
        plain = pattern.type in ("identifier", "rest_pattern") and names
        yield Parameter(
            text_of(names[0]) if plain else "options",
            text_of(annotation).lstrip(": ") if annotation is not None else "",
            text_of(value) if value is not None else None,
            star,
            optional=each.type == "optional_parameter",
        )
