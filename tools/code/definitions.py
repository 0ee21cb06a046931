"""Where a name is defined, with what its author says of it."""

import re
from typing import TYPE_CHECKING, NamedTuple

from tools.code.languages import words
from tools.code.names import binding_scope
from tools.code.source import (
    Source,
    below,
    defined_by,
    enclosing,
    holds_code,
    is_class,
    is_field,
    is_function,
    qualified,
    text,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE = 400
_DOC = 1_200
_SHAPES = frozenset({"interface", "type", "enum", "struct", "union"})
_SHAPE_LINES = 12
_TYPES = words("enum_declaration class_specifier struct_specifier record_declaration trait_item")


class Definition(NamedTuple):
    name: str
    #: With the classes and functions that it stands in: `Parser.parse`.
    qualified: str
    kind: str
    path: str
    line: int
    end_line: int
    signature: str
    doc: str
    #: The class that it is a member of, if it is one.
    owner: str
    #: The scope that binds it; nothing is the module, so that others can import it.
    scope: int | None
    #: Branches plus one, for what can be called.
    complexity: int | None
    language: str
    default: bool = False
    span: tuple[int, int] = (0, 0)

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def definitions(source: Source, word: str) -> list[Definition]:
    return [found for node in source.named(word) if (found := _definition(node, source)) is not None]


def _definition(node: "Node", source: Source) -> Definition | None:
    language = source.language
    assert language is not None
    whole = defined_by(node, language)
    kind = language.definitions.get(whole.type, "") if whole is not None else ""
    if whole is None:
        whole, kind = _variable(node, source)
    elif kind == "variable":
        kind = "function" if holds_code(whole) else "variable"
    if whole is None:
        return None
    around = enclosing(whole, language)
    owner = text(around[-1].child_by_field_name("name")) if around and _is_type(around[-1]) else ""
    if kind == "variable" and around and not owner:
        return None  # a local variable explains itself where it stands
    if kind == "function" and owner and language.name != "Go":
        kind = "method"
    if kind == "variable":
        kind = "attribute" if owner else "constant" if node.text and text(node).isupper() else "variable"
    outer = _outer(whole)
    prefix = qualified(whole, language)
    name = text(node)
    scope = binding_scope(node, source) if source.scoped and not owner else None
    return Definition(
        name=name,
        qualified=f"{prefix}.{name}" if prefix else name,
        kind=kind,
        path=source.path,
        line=whole.start_point[0] + 1,
        end_line=whole.end_point[0] + 1,
        signature=_signature(whole, outer, kind, source),
        doc=doc_of(whole, outer)[:_DOC],
        owner=owner,
        scope=scope.id if scope is not None else None,
        complexity=complexity(whole, source) if kind in ("function", "method", "constructor") else None,
        language=language.name,
        default=any(child.type == "default" for child in outer.children),
        span=(whole.start_byte, whole.end_byte),
    )


def complexity(whole: "Node", source: Source) -> int:
    assert source.language is not None
    return 1 + sum(each.type in source.language.branches for each in below(whole))


def _is_type(node: "Node") -> bool:
    return is_class(node) or node.type in _TYPES


def _variable(node: "Node", source: Source) -> "tuple[Node | None, str]":
    """A name that the module or a class gives a value."""
    parent = node.parent
    if parent is None:
        return None, ""
    if parent.type == "assignment" and is_field(node, "left"):
        return parent, "variable"
    if parent.type in ("public_field_definition", "property_signature", "field_definition"):
        named = is_field(node, "name") or is_field(node, "property")
        return (parent, "variable") if named else (None, "")
    return None, ""


def _outer(node: "Node") -> "Node":
    """A definition with what it is wrapped in: decorators, `export`, `const`."""
    while node.parent is not None and node.parent.type in (
        "decorated_definition",
        "export_statement",
        "lexical_declaration",
        "variable_declaration",
        "expression_statement",
    ):
        node = node.parent
    return node


def _signature(whole: "Node", outer: "Node", kind: str, source: Source) -> str:
    if kind in _SHAPES:
        lines = text(whole).split("\n")
        return "\n".join(lines[:_SHAPE_LINES] + (["…"] if len(lines) > _SHAPE_LINES else []))[:_SIGNATURE]
    body = whole.child_by_field_name("body")
    value = whole.child_by_field_name("value")
    if body is None and value is not None and is_function(value):
        body = value.child_by_field_name("body")
    end = body.start_byte if body is not None else whole.end_byte
    said = source.content[whole.start_byte : end].decode("utf-8", "replace")
    decorators = [text(each) for each in outer.named_children if each.type == "decorator"]
    said = re.sub(r"\s+", " ", said).strip()
    said = re.sub(r"\(\s+", "(", re.sub(r",?\s+\)", ")", said)).removesuffix("=>").rstrip(" {:")
    return "\n".join([*decorators[:4], said[:_SIGNATURE] + ("…" if len(said) > _SIGNATURE else "")])


def doc_of(whole: "Node", outer: "Node | None" = None) -> str:
    """The docstring, or the comment right above; without its marks."""
    body = whole.child_by_field_name("body") if whole.type != "module" else whole
    if body is not None and body.type in ("block", "module"):
        first = next((child for child in body.named_children if child.type != "comment"), None)
        if first is not None and first.type == "expression_statement" and first.named_children:
            first = first.named_children[0]
        if first is not None and first.type == "string":
            content = "".join(text(each) for each in first.named_children if each.type == "string_content")
            return _dedented(content)
    comments: list[str] = []
    node = (outer or _outer(whole)).prev_named_sibling
    below_line = (outer or whole).start_point[0]
    while node is not None and "comment" in node.type and node.end_point[0] >= below_line - 1:
        comments.append(text(node))
        below_line, node = node.start_point[0], node.prev_named_sibling
    return uncommented("\n".join(reversed(comments)))


def uncommented(comment: str) -> str:
    lines = [re.sub(r"^\s*(?:/\*\*?|\*/|\*(?!\*)|//[/!]?|#:?|--)\s?", "", line) for line in comment.split("\n")]
    kept = [re.sub(r"\s*\*/\s*$", "", line).rstrip() for line in lines]
    return "\n".join(kept).strip()


def _dedented(content: str) -> str:
    import inspect

    return inspect.cleandoc(content).strip()
