"""What a definition calls: what of it stands in the project, with its place, and what comes from outside."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from tools.code.bindings import Binding, bindings
from tools.code.definitions import Definition, definitions
from tools.code.modules import Modules
from tools.code.source import Source, below, text

if TYPE_CHECKING:
    from tree_sitter import Node

_SELF = frozenset({"self", "cls", "this"})


class Callee(NamedTuple):
    name: str
    #: The file that it is defined in, if that is one of the project's.
    file: str | None
    word: str


def callees(definition: Definition, source: Source, modules: Modules) -> list[Callee]:
    """In the order in which they stand there, each once."""
    assert source.language is not None
    whole = source.root.descendant_for_byte_range(*definition.span)
    if whole is None:
        return []
    bound = {each.local: each for each in bindings(source, modules)}
    found: dict[str, Callee] = {}
    for node in below(whole):
        part = source.language.calls.get(node.type)
        target = node.child_by_field_name(part) if part else None
        name = " ".join(text(target).split())
        if target is not None and name and len(name) < 100 and name not in found:
            found[name] = Callee(name, _file(target, name, source, bound), name.rpartition(".")[2])
    return list(found.values())


def _file(target: "Node", name: str, source: Source, bound: Mapping[str, Binding]) -> str | None:
    receiver, _, word = name.rpartition(".")
    if receiver in _SELF or not receiver:
        if word in bound and not receiver:
            return bound[word].file
        return source.path if any(definitions(source, word)) else None
    binding = bound.get(receiver)
    return binding.file if binding is not None else None


def placed(callee: Callee, sources: Mapping[str, Source], modules: Modules) -> Definition | None:
    """Where a callee of the project is defined; a package that hands it on is asked where it has it from."""
    path, word = callee.file, callee.word
    for _ in range(5):
        source = sources.get(path or "")
        if source is None:
            return None
        if found := definitions(source, word):
            return found[0]
        binding = next((each for each in bindings(source, modules) if each.local == word), None)
        if binding is None:
            return None
        path, word = binding.file, binding.name or word
    return None
