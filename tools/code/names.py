"""Which of the things of one name a name means, in Python, JavaScript and TypeScript."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tools.code.languages import words
from tools.code.source import Source, ancestors, defined_by, is_class, is_field, is_scope, text

if TYPE_CHECKING:
    from tree_sitter import Node

_PARAMETERS = words(
    "parameters lambda_parameters formal_parameters typed_parameter required_parameter optional_parameter"
)
_PATTERNS = words(
    "pattern_list tuple_pattern list_pattern object_pattern array_pattern pair_pattern rest_pattern "
    "list_splat_pattern dictionary_splat_pattern assignment_pattern"
)
_BOUND_PARTS = {
    "assignment": "left",
    "augmented_assignment": "left",
    "named_expression": "name",
    "for_statement": "left",
    "for_in_clause": "left",
    "for_in_statement": "left",
    "default_parameter": "name",
    "typed_default_parameter": "name",
    "required_parameter": "pattern",
    "optional_parameter": "pattern",
    "variable_declarator": "name",
    "arrow_function": "parameter",
    "catch_clause": "parameter",
    "aliased_import": "alias",
}
_IMPORTS = words(
    "import_statement import_from_statement import_clause named_imports import_specifier namespace_import "
    "dotted_name aliased_import export_specifier export_clause"
)


class Name(NamedTuple):
    """An identifier, and where what it means was bound: a scope's node, or nothing for the module."""

    node: "Node"
    scope: int | None


def is_member(node: "Node") -> bool:
    """`name` in `object.name`."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "attribute":
        return is_field(node, "attribute")
    if parent.type == "dotted_name":
        # `case module.Name():`
        return parent.named_children[0] != node and not in_import(node)
    if parent.type == "nested_type_identifier":
        return is_field(node, "name")
    return parent.type in ("member_expression", "subscript_expression") and is_field(node, "property")


def is_key(node: "Node") -> bool:
    """A name that means nothing by itself: a keyword argument, a key of an object."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "keyword_argument":
        return is_field(node, "name")
    if parent.type in ("pair", "pair_pattern"):
        return is_field(node, "key")
    return parent.type in ("property_signature", "public_field_definition", "enum_assignment", "jsx_attribute") and (
        node.type == "property_identifier"
    )


def in_import(node: "Node") -> bool:
    parent = node.parent
    while parent is not None and parent.type in _IMPORTS:
        if parent.type in ("import_statement", "import_from_statement", "export_clause"):
            return True
        parent = parent.parent
    return False


def names(source: Source, word: str) -> Iterator[Name]:
    """The identifiers of that name that are neither members nor keys, each with the scope that binds it."""
    found = [node for node in source.named(word) if not is_member(node) and not is_key(node)]
    bound: set[int] = set()
    outside: set[int] = set()
    for node in found:
        if node.parent is not None and node.parent.type in ("global_statement", "nonlocal_statement"):
            outside.update(above.id for above in _scopes(node, source)[:1])
        elif binds(node, source):
            scope = binding_scope(node, source)
            if scope is not None:
                bound.add(scope.id)
    bound -= outside
    for node in found:
        yield Name(node, _resolved(node, source, bound))


def binds(node: "Node", source: Source) -> bool:
    """Whether this is where a name is given its meaning."""
    assert source.language is not None
    if defined_by(node, source.language) is not None:
        return True
    if in_import(node):
        return True
    child, parent = node, node.parent
    while parent is not None and parent.type in _PATTERNS:
        if parent.type == "pair_pattern" and not is_field(child, "value"):
            return False
        if parent.type == "assignment_pattern" and not is_field(child, "left"):
            return False
        child, parent = parent, parent.parent
    if parent is None:
        return False
    part = _BOUND_PARTS.get(parent.type)
    if part is not None:
        return is_field(child, part)
    if parent.type == "as_pattern_target":
        return True
    if parent.type == "typed_parameter":
        return parent.named_children[0] == child
    return parent.type in _PARAMETERS


def binding_scope(node: "Node", source: Source) -> "Node | None":
    """The scope in which a binding holds; nothing is the module."""
    assert source.language is not None
    definition = defined_by(node, source.language)
    start = definition if definition is not None and definition.type != "variable_declarator" else node
    scopes = _scopes(start, source)
    return scopes[0] if scopes else None


def _scopes(node: "Node", source: Source) -> list["Node"]:
    return [above for above in ancestors(node) if is_scope(above, source.kind)]


def _resolved(node: "Node", source: Source, bound: set[int]) -> int | None:
    assert source.language is not None
    definition = defined_by(node, source.language)
    start = definition if definition is not None and definition.type != "variable_declarator" else node
    nearest = True
    for scope in _scopes(start, source):
        # What a class binds is seen by its own statements only, not by its methods.
        if scope.id in bound and (nearest or not is_class(scope)):
            return scope.id
        nearest = False
    return None


def receiver_of(node: "Node") -> str:
    """What stands before the dot."""
    parent = node.parent
    if parent is None:
        return ""
    if parent.type == "dotted_name":
        return text(parent)[: node.start_byte - parent.start_byte].rstrip(".")
    return text(parent.child_by_field_name("object") or parent.child_by_field_name("module"))
