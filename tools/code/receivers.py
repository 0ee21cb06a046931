"""Whose member a member is: what stands before the dot, as far as the function around it tells."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from tools.code.definitions import Definition
from tools.code.names import receiver_of
from tools.code.source import Source, ancestors, below, is_class, is_function, text

if TYPE_CHECKING:
    from tree_sitter import Node

_SELF = frozenset({"self", "cls", "this", "super()", "super"})
_LOOKED_AT = 5_000


def belongs(node: "Node", definition: Definition, rivals: Collection[str], source: Source) -> bool | None:
    """Whether `receiver.name` means this definition: yes, perhaps (`False`: only the name says so), or no (`None`)."""
    receiver = receiver_of(node)
    if receiver in _SELF:
        around = next((above for above in ancestors(node) if is_class(above)), None)
        if around is None:
            return False
        name = text(around.child_by_field_name("name"))
        if name == definition.owner:
            return True
        if name in rivals:
            return None
        return True if definition.owner in bases(around) else None
    if receiver == definition.owner:
        return True
    kind = _type_of(receiver, node)
    if kind == definition.owner:
        return True
    if kind in rivals or receiver in rivals:
        return None
    return False


def bases(node: "Node") -> set[str]:
    """What a class says that it extends, by name."""
    heritage = node.child_by_field_name("superclasses") or next(
        (child for child in node.named_children if child.type == "class_heritage"), None
    )
    if heritage is None:
        return set()
    return {text(each) for each in below(heritage) if each.type in ("identifier", "type_identifier")}


def _type_of(receiver: str, node: "Node") -> str:
    """The class of a variable that the function around made with it, or says to be one; nothing if it says nothing."""
    if receiver.endswith(")"):
        made = receiver.partition("(")[0].removeprefix("new ").removeprefix("(").strip()
        return made if made.isidentifier() and made[:1].isupper() else ""
    if not receiver.isidentifier():
        return ""
    scopes = [above for above in ancestors(node) if is_function(above)]
    top = list(ancestors(node))[-1:]
    for scope in [*scopes, *top]:
        for number, each in enumerate(below(scope)):
            if number > _LOOKED_AT:
                break
            if found := _said_type(each, receiver):
                return found
    return ""


def _said_type(node: "Node", receiver: str) -> str:
    kind = node.type
    if kind in ("typed_parameter", "typed_default_parameter", "required_parameter", "optional_parameter"):
        name = node.child_by_field_name("name") or node.child_by_field_name("pattern")
        name = name or (node.named_children[0] if node.named_children else None)
        return _bare(text(node.child_by_field_name("type"))) if text(name) == receiver else ""
    if kind == "assignment" and text(node.child_by_field_name("left")) == receiver:
        said, value = node.child_by_field_name("type"), node.child_by_field_name("right")
    elif kind == "variable_declarator" and text(node.child_by_field_name("name")) == receiver:
        said, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    else:
        return ""
    if said is not None:
        return _bare(text(said))
    if value is not None and value.type in ("call", "new_expression"):
        made = text(value.child_by_field_name("function") or value.child_by_field_name("constructor"))
        return made.rpartition(".")[2] if made.rpartition(".")[2][:1].isupper() else ""
    return ""


def _bare(said: str) -> str:
    """The class in an annotation: `: Foo | None` is Foo, and so is `"Foo"`."""
    words = said.lstrip(": ").strip("'\" ").partition("|")[0].strip().partition("<")[0].partition("[")[0]
    return words.rpartition(".")[2]
