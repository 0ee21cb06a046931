"""A literal of a file under a name of its own, at the top of the module."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tools.code.collisions import check_name
from tools.code.dialect import PythonDialect, ScriptDialect
from tools.code.edits import Edit, edited, newline_of
from tools.code.finding import Refusal
from tools.code.scopes import FileScopes, Scope, lookup
from tools.code.tree import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = frozenset({"integer", "float", "string", "number", "true", "false", "none", "null"})
#: Where a literal is no expression: a pattern, a type, a key, a module's path, a docstring, a directive.
_NO_PLACES = frozenset(
    {"case_pattern", "type", "literal_type", "import_statement", "import_from_statement", "concatenated_string"}
)


@dataclass(frozen=True, slots=True)
class Extraction:
    name: str
    #: As it is written in the code, or nothing if the line says which.
    value: str | None = None
    line: int | None = None
    function: str | None = None


class Extracted(NamedTuple):
    content: bytes
    value: str
    lines: list[int]
    #: Where it was defined already, if it was.
    there: int | None


def extracted(wish: Extraction, file: FileScopes) -> Extracted:
    source = file.source
    check_name(wish.name, source.family)
    literals = [each for each in _literals(source.root) if _asked_for(each, wish, file)]
    if wish.value is None:
        literals = _one_at(literals, wish, file)
    if not literals:
        what = wish.value if wish.value is not None else "literal"
        where = f" at line {wish.line}" if wish.line else f" in {wish.function}" if wish.function else ""
        raise Refusal("no_match", f"{file.path} has no {what}{where} that can be named; nothing was changed.")
    value = text_of(literals[0])
    there = file.module.values.get(wish.name)
    if there is not None:
        same = [node for node, _ in there.values if _equal(node, value)]
        if not same or there.opaque or len(there.values) != 1:
            raise Refusal(
                "name_taken",
                f"{file.path}:{there.line} has a {wish.name} already, of another value; nothing was changed.",
            )
        literals = [each for each in literals if each != there.values[0][0]]
    for each in literals:
        meant = lookup(wish.name, _scope_of(each, file))
        if meant is not None and meant is not there:
            raise Refusal(
                "name_taken",
                f"{wish.name} would mean another thing at {file.path}:{each.start_point[0] + 1}; nothing was changed.",
            )
    edits = [Edit(each.start_byte, each.end_byte, _written(each, wish.name)) for each in literals]
    text = edited(source.text, edits)
    if there is None:
        text = _defined(text, file, wish.name, value)
    return Extracted(
        source.bom + text, value, [each.start_point[0] + 1 for each in literals], there.line if there else None
    )


def _literals(root: "Node") -> Iterator["Node"]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _NO_PLACES:
            continue
        if node.type in ("unary_operator", "unary_expression") and _is_negative(node):
            yield node
            continue
        if node.type in _LITERALS and _is_expression(node):
            yield node
            continue
        stack.extend(reversed(node.named_children))


def _is_negative(node: "Node") -> bool:
    inner = node.named_children[0] if node.named_child_count else None
    return inner is not None and inner.type in ("integer", "float", "number") and text_of(node).startswith("-")


def _is_expression(node: "Node") -> bool:
    parent = node.parent
    if parent is None or (node.type == "string" and any(each.type == "interpolation" for each in node.named_children)):
        return False
    if parent.type == "expression_statement":
        return False  # a docstring, or a directive
    if parent.type in ("pair", "pair_pattern", "property_signature") and parent.child_by_field_name("key") == node:
        return parent.parent is not None and parent.parent.type == "dictionary"
    if parent.type == "export_statement" or (parent.type == "list" and _is_listing(parent)):
        return False
    return parent.type not in ("import_require_clause", "enum_body")


def _is_listing(node: "Node") -> bool:
    around = node.parent
    left = around.child_by_field_name("left") if around is not None else None
    return left is not None and text_of(left) in ("__all__", "__slots__")


def _asked_for(node: "Node", wish: Extraction, file: FileScopes) -> bool:
    if wish.value is not None and not _equal(node, wish.value):
        return False
    if wish.line is not None and node.start_point[0] + 1 != wish.line:
        return False
    return wish.function is None or wish.function in _functions_around(node, file)


def _one_at(literals: list["Node"], wish: Extraction, file: FileScopes) -> list["Node"]:
    values = {text_of(each) for each in literals}
    if len(values) > 1:
        said = ", ".join(sorted(values)[:8])
        raise Refusal("ambiguous", f"Line {wish.line} of {file.path} has several literals ({said}); say which value.")
    return literals


def _functions_around(node: "Node", file: FileScopes) -> set[str]:
    found: set[str] = set()
    scope: Scope | None = _scope_of(node, file)
    while scope is not None:
        if scope.owner is not None:
            found.add(scope.owner.name)
        scope = scope.parent
    return found


def _scope_of(node: "Node", file: FileScopes) -> Scope:
    """The innermost scope around a place."""
    best = file.module
    for scope in file.scopes:
        inside = scope.node.start_byte <= node.start_byte and node.end_byte <= scope.node.end_byte
        if inside and scope.node.end_byte - scope.node.start_byte <= best.node.end_byte - best.node.start_byte:
            best = scope
    return best


def _equal(node: "Node", value: str) -> bool:
    if node.type not in _LITERALS and not _is_negative(node):
        return False
    written = text_of(node)
    return written == value or _read(written) == _read(value)


def _read(written: str) -> tuple[type, object] | str:
    """The value with its type: 1, 1.0, True and "1" are four."""
    try:
        value = ast.literal_eval(re.sub(r"(?<=\d)n$", "", written) if written[:1] not in "\"'" else written)
    except (ValueError, SyntaxError):
        return written
    return type(value), value


def _written(node: "Node", name: str) -> bytes:
    if node.parent is not None and node.parent.type == "jsx_attribute":
        return f"{{{name}}}".encode()
    return name.encode()


def _defined(text: bytes, file: FileScopes, name: str, value: str) -> bytes:
    newline = newline_of(text)
    python = file.source.family == "python"
    line = f"{name} = {value}" if python else f"const {name} = {value}{';' if b';' in text else ''}"
    place = (PythonDialect() if python else ScriptDialect()).after_imports(text, file.path)
    before, after = text[:place], text[place:].lstrip(b"\r\n")
    # Beside other constants it stands with them, before anything else apart from it.
    beside = bool(re.match(rb"(?:const\s+)?[A-Z][A-Z0-9_]* *[=:]", after))
    gap = newline if beside else newline * (3 if after.startswith((b"def ", b"class ", b"@", b"async ")) else 2)
    return before + (newline if before else b"") + line.encode() + (gap if after else newline) + after
