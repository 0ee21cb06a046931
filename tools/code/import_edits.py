"""What organizing the imports of a file comes to, in either language."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.code.edits import Edit
from tools.code.project import Project
from tools.code.scopes import Binding
from tools.code.source import text_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(slots=True)
class ImportEdits:
    """The edits, and what was removed and what was kept for which reason."""

    edits: list[Edit] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def unread(binding: Binding | None) -> bool:
    """Nothing but its import, and perhaps another import of the same, writes this name."""
    return binding is not None and binding.imported is not None and all(place.defines for place in binding.places)


def alone(node: "Node", text: bytes) -> bool:
    """Nothing else stands on the lines of a statement, except a comment behind it."""
    start = text.rfind(b"\n", 0, node.start_byte) + 1
    if text[start : node.start_byte].strip():
        return False
    return not rest_of_line(node, text).lstrip(b";").strip() or rest_of_line(node, text).strip()[:1] in (b"#", b"/")


def rest_of_line(node: "Node", text: bytes) -> bytes:
    end = text.find(b"\n", node.end_byte)
    return text[node.end_byte : end if end >= 0 else len(text)]


def whole_lines(node: "Node", text: bytes) -> Edit:
    start = text.rfind(b"\n", 0, node.start_byte) + 1
    end = text.find(b"\n", node.end_byte)
    return Edit(start, end + 1 if end >= 0 else len(text), b"")


def without(names: list["Node"], gone: set[int], text: bytes) -> list[Edit]:
    """A list of names without some of them; a comment behind a name goes with its name."""
    edits: list[Edit] = []
    place = 0
    while place < len(names):
        if place not in gone:
            place += 1
            continue
        first = place
        while place < len(names) and place in gone:
            place += 1
        if place < len(names):
            edits.append(Edit(names[first].start_byte, names[place].start_byte, b""))
            continue
        own_line = text.rfind(b"\n", 0, names[first].start_byte) + 1
        if not text[own_line : names[first].start_byte].strip() and first:
            end = text.find(b"\n", names[-1].end_byte)
            edits.append(Edit(own_line, end + 1 if end >= 0 else names[-1].end_byte, b""))
        else:
            edits.append(Edit(names[first - 1].end_byte, names[-1].end_byte, b""))
    return edits


def reexported_names(path: str, names: set[str], project: Project) -> set[str]:
    """Of these names of a module, those that other files take from it."""
    found: set[str] = set()
    stem = path.rpartition("/")[2].partition(".")[0]
    for other, file in project.files.items():
        if other == path:
            continue
        for binding in file.bindings:
            imported = binding.imported
            if imported is None or imported.name is None or imported.name not in names:
                continue
            if project.resolve(imported.module, other) == path:
                found.add(imported.name)
        for access in file.accesses:
            # `module.name`, whatever `module` may be there: to keep too much does no harm.
            if access.name in names and access.object is not None and text_of(access.object).endswith(stem):
                found.add(access.name)
    return found
