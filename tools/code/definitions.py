"""Definitions of a name, with their signatures and docs."""

import inspect
import re
from typing import TYPE_CHECKING, NamedTuple

from tools.code.languages import Language, words
from tools.code.source import Family, SourceText, ancestors, descendants, is_field, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE = 400
_DOC = 1_200
_SHAPES = frozenset({"interface", "type", "enum", "struct", "union"})
_SHAPE_LINES = 12
_TYPES = words(
    "class_definition class_declaration abstract_class_declaration class interface_declaration "
    "enum_declaration class_specifier struct_specifier record_declaration trait_item"
)
_FUNCTION_VALUES = words("lambda function_expression generator_function arrow_function")
_CODE_VALUES = words("arrow_function function_expression class")
_RECEIVER = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$")
_WRAPPERS = words("decorated_definition export_statement lexical_declaration variable_declaration expression_statement")


class Definition(NamedTuple):
    name: str
    #: With the enclosing classes and functions: `Parser.parse`.
    qualified: str
    kind: str
    path: str
    line: int
    end_line: int
    signature: str
    doc: str
    #: The class it is a member of, or empty.
    owner: str
    #: Defined inside a function.
    local: bool
    #: Branches plus one, for functions and methods.
    complexity: int | None
    language: str
    family: Family | None
    #: Where the name starts, and the whole definition.
    start: int
    span: tuple[int, int]
    #: Whether it is a function that a script assigns to a member of an object.
    assigned: bool = False

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def find_definitions(source: SourceText, word: str) -> list[Definition]:
    return [found for node in source.named(word) if (found := _definition(node, source)) is not None]


def _definition(node: "Node", source: SourceText) -> Definition | None:
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
    owner = text_of(around[-1].child_by_field_name("name")) if around and around[-1].type in _TYPES else ""
    if kind == "variable" and around and not owner:
        return None  # a local variable
    if kind == "function" and owner and language.name != "Go":
        kind = "method"
    if kind == "variable":
        kind = "attribute" if owner else "constant" if node.text and text_of(node).isupper() else "variable"
    outer = _outer(whole)
    prefix = enclosing_name(whole, language) or _receiver_of(whole)
    name = text_of(node)
    assigned = assigns_code(whole)
    written = _written_name(whole) if assigned else name
    return Definition(
        name=name,
        qualified=f"{prefix}.{written}" if prefix else written,
        kind=kind,
        path=source.path,
        line=line_of(whole),
        end_line=whole.end_point[0] + 1,
        signature=_signature(whole, outer, kind, source),
        doc=doc_of(whole, outer)[:_DOC],
        owner=owner,
        local=bool(around) and not owner,
        complexity=_complexity(whole, language) if kind in ("function", "method", "constructor") else None,
        language=language.name,
        family=source.family,
        start=node.start_byte,
        span=(whole.start_byte, whole.end_byte),
        assigned=assigned,
    )


def _receiver_of(whole: "Node") -> str:
    """The type of a method of Go or Rust, which is written outside of its type."""
    around = next((each for each in ancestors(whole) if each.type == "impl_item"), None)
    if around is not None:
        return text_of(around.child_by_field_name("type")).partition("<")[0]
    found = _RECEIVER.search(text_of(whole.child_by_field_name("receiver")))
    return found[1] if found else ""


def _complexity(whole: "Node", language: Language) -> int:
    return 1 + sum(each.type in language.branches for each in descendants(whole))


def _variable(node: "Node", source: SourceText) -> "tuple[Node | None, str]":
    """Return the statement that gives a name of a module or class its value."""
    parent = node.parent
    if parent is None:
        return None, ""
    if parent.type == "assignment" and is_field(node, "left"):
        return parent, "variable"
    if parent.type in ("public_field_definition", "property_signature", "field_definition"):
        named = is_field(node, "name") or is_field(node, "property")
        return (parent, "variable") if named else (None, "")
    if parent.parent is not None and is_field(node, "property") and assigns_code(parent.parent):
        return (parent.parent, "function") if is_field(parent, "left") else (None, "")
    return None, ""


def assigns_code(node: "Node") -> bool:
    """Whether it is `object.name = function …`, which defines a function of the object."""
    if node.type != "assignment_expression":
        return False
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or left.type != "member_expression" or right is None or right.type not in _CODE_VALUES:
        return False
    return text_of(left.child_by_field_name("property")) not in ("exports", "prototype")


def _outer(node: "Node") -> "Node":
    """Return a definition with its decorators, `export` or `const`."""
    while node.parent is not None and node.parent.type in _WRAPPERS:
        node = node.parent
    return node


def _signature(whole: "Node", outer: "Node", kind: str, source: SourceText) -> str:
    if kind in _SHAPES:
        lines = text_of(whole).split("\n")
        return "\n".join(lines[:_SHAPE_LINES] + (["…"] if len(lines) > _SHAPE_LINES else []))[:_SIGNATURE]
    body = whole.child_by_field_name("body")
    value = whole.child_by_field_name("value") or whole.child_by_field_name("right")
    if body is None and value is not None and value.type in _FUNCTION_VALUES:
        body = value.child_by_field_name("body")
    end = body.start_byte if body is not None else whole.end_byte
    signature = source.text[whole.start_byte : end].decode("utf-8", "replace")
    decorators = [text_of(each) for each in outer.named_children if each.type == "decorator"]
    signature = re.sub(r"\s+", " ", signature).strip()
    signature = re.sub(r"\(\s+", "(", re.sub(r",?\s+\)", ")", signature)).removesuffix("=>").rstrip(" {:")
    return "\n".join([*decorators[:4], signature[:_SIGNATURE] + ("…" if len(signature) > _SIGNATURE else "")])


def doc_of(whole: "Node", outer: "Node | None" = None) -> str:
    """Return the docstring, or the comment right above without its markers."""
    body = whole.child_by_field_name("body") if whole.type != "module" else whole
    if body is not None and body.type in ("block", "module"):
        first = next((child for child in body.named_children if child.type != "comment"), None)
        if first is not None and first.type == "expression_statement" and first.named_children:
            first = first.named_children[0]
        if first is not None and first.type == "string":
            content = "".join(text_of(each) for each in first.named_children if each.type == "string_content")
            return inspect.cleandoc(content).strip()
    comments: list[str] = []
    node = (outer or _outer(whole)).prev_named_sibling
    below_line = (outer or whole).start_point[0]
    while node is not None and "comment" in node.type and node.end_point[0] >= below_line - 1:
        comments.append(text_of(node))
        below_line, node = node.start_point[0], node.prev_named_sibling
    return strip_comment("\n".join(reversed(comments)))


def strip_comment(comment: str) -> str:
    lines = [re.sub(r"^\s*(?:/\*\*?|\*/|\*(?!\*)|//[/!]?|#:?|--)\s?", "", line) for line in comment.split("\n")]
    kept = [re.sub(r"\s*\*/\s*$", "", line).rstrip() for line in lines]
    return "\n".join(kept).strip()


def defined_by(node: "Node", language: Language) -> "Node | None":
    """Return the definition that a node is the name of."""
    parent = node.parent
    # In C, declarators wrap the name.
    while parent is not None and is_field(node, "declarator") and parent.type not in language.definitions:
        node, parent = parent, parent.parent
    if parent is None or parent.type not in language.definitions:
        return None
    return parent if is_field(node, "name") or is_field(node, "declarator") else None


def holds_code(definition: "Node") -> bool:
    """Whether it defines more than a value: any definition but a plain variable."""
    if definition.type != "variable_declarator":
        return True
    value = definition.child_by_field_name("value")
    return value is not None and value.type in _CODE_VALUES


def enclosing(node: "Node", language: Language) -> list["Node"]:
    """Return the definitions around a node, outermost first."""
    found = []
    for above in ancestors(node):
        if (above.type in language.definitions and holds_code(above) and _written_name(above)) or assigns_code(above):
            found.append(above)
    return found[::-1]


def enclosing_name(node: "Node", language: Language) -> str:
    """Return the qualified name of the definition around a node; empty at the top of a module."""
    return ".".join(_written_name(each) for each in enclosing(node, language))


def _written_name(definition: "Node") -> str:
    return text_of(definition.child_by_field_name("left" if assigns_code(definition) else "name"))
