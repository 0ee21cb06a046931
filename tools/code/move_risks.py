"""What a move to another file would change, though no import shows it."""

import posixpath
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tools.code.languages import words
from tools.code.lookups import nameless
from tools.code.mentions import is_document
from tools.code.project import Project, Refusal
from tools.code.references import find_references
from tools.code.scopes import Binding, FileScopes
from tools.code.source import descendants, text_of
from tools.code.symbols import symbols_in

if TYPE_CHECKING:
    from tree_sitter import Node

#: They mean another file or folder after a move; the first ones only in another folder.
_OF_FOLDERS = words("__file__ __dirname __filename import.meta")
_OF_MODULES = words("__name__ __package__ __spec__ __path__")
_LOGGERS = re.compile(r"(?:^|\.)get_?logger$", re.IGNORECASE)
_HAS_NAMES = ("identifier", "meta_property")


def check_text(name: str, block: "Node", source: str, target: str) -> None:
    """Refuse a text that means something else in another file."""
    apart = posixpath.dirname(source) != posixpath.dirname(target)
    for node in descendants(block):
        if node.type == "global_statement":
            shared = ", ".join(text_of(each) for each in node.named_children)
            raise _refusal(f"{source}:{_line(node)} changes {shared} of {source}, which {target} can't")
        if node.type not in _HAS_NAMES:
            continue
        word = text_of(node)
        if (word in _OF_FOLDERS and apart) or (word in _OF_MODULES and not _names_logger(node)):
            raise _refusal(f"{name} uses {word} ({source}:{_line(node)}), which means something else in {target}")


def check_needed(name: str, needed: Mapping[str, Binding], file: FileScopes) -> None:
    """Refuse a text that reads a variable which changes: an import would copy its value."""
    if file.source.family != "python":
        return
    changed = {
        text_of(each): _line(node)
        for node in descendants(file.source.root)
        if node.type == "global_statement"
        for each in node.named_children
    }
    for word, binding in needed.items():
        defines = [place.line for place in binding.places if place.defines]
        line = changed.get(word) or (defines[-1] if len(defines) > 1 and binding.kind == "variable" else None)
        if line is not None and binding.imported is None:
            raise _refusal(f"{name} reads {word}, which {file.path}:{line} changes; an import would not see the change")


def lookups(binding: Binding, source: str, target: str, project: Project, texts: Mapping[str, bytes]) -> list[str]:
    """The places that take the symbol from its file by name, so that the file has to keep the name."""
    file = project.files[source]
    symbol = next(each for each in symbols_in(file, binding.name) if binding in each.bindings)
    scripts = {path: text for path, text in texts.items() if not is_document(path)}
    found = find_references(symbol, project, texts=scripts)
    places = {
        f"{each.path}:{each.place.line}"
        for each in found.found
        if each.path not in (source, target) and (each.role == "text" or each.certainty == "likely")
    }
    for path, other in project.files.items():
        stars = {project.resolve(star, path) for star in other.stars}
        if path != target and other.source.family == "python" and source in stars:
            places |= {f"{path}:{use.place.line}" for use in other.free if use.name == binding.name}
    reasons = [f"{place} takes it by name" for place in sorted(places)]
    return reasons + [risk.rstrip(".") for risk in dict.fromkeys(found.risks)]


def registrations(block: "Node") -> list[str]:
    """The decorators that may register the symbol, for which its file has to be imported."""
    marks = [each for each in block.children if each.type == "decorator"]
    return [f"{text_of(mark)} may register it" for mark in marks if not nameless(mark)]


def check_replaced(access: "Node", path: str, name: str) -> None:
    """Refuse where code puts something else in its place: `module.name = …`."""
    around = access.parent
    if around is not None and around.type.startswith("assignment") and around.child_by_field_name("left") == access:
        raise _refusal(f"{path}:{_line(access)} replaces {name} of its module, which would no longer have an effect")


def _names_logger(node: "Node") -> bool:
    call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
    return call is not None and _LOGGERS.search(text_of(call.child_by_field_name("function"))) is not None


def _line(node: "Node") -> int:
    return node.start_point[0] + 1


def _refusal(reason: str) -> Refusal:
    return Refusal("not_possible", f"{reason}. Nothing was changed; move it by hand.")
