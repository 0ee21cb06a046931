"""Helpers to organize imports, for both languages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.code.edits import ByteEdit, newline_of
from tools.code.project import Project
from tools.code.scopes import Binding
from tools.code.source import text_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(slots=True)
class ImportEdits:
    """Planned edits, and the removed and kept names."""

    edits: list[ByteEdit] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def is_unread(binding: Binding | None) -> bool:
    """Whether only imports write this name."""
    return binding is not None and binding.imported is not None and all(place.defines for place in binding.places)


def has_own_lines(node: "Node", text: bytes) -> bool:
    """Whether a statement has its lines to itself, apart from a comment behind it."""
    start = text.rfind(b"\n", 0, node.start_byte) + 1
    if text[start : node.start_byte].strip():
        return False
    return not rest_of_line(node, text).lstrip(b";").strip() or rest_of_line(node, text).strip()[:1] in (b"#", b"/")


def rest_of_line(node: "Node", text: bytes) -> bytes:
    end = text.find(b"\n", node.end_byte)
    return text[node.end_byte : end if end >= 0 else len(text)]


def whole_lines(node: "Node", text: bytes) -> ByteEdit:
    start = text.rfind(b"\n", 0, node.start_byte) + 1
    end = text.find(b"\n", node.end_byte)
    return ByteEdit(start, end + 1 if end >= 0 else len(text), b"")


def close_gaps(edits: Sequence[ByteEdit], text: bytes) -> list[ByteEdit]:
    """Also remove blank lines that would follow others once these whole lines are gone."""
    closed: list[ByteEdit] = []
    for edit in sorted(set(edits)):
        if closed and closed[-1].end == edit.start and not closed[-1].new and not edit.new:
            closed[-1] = ByteEdit(closed[-1].start, edit.end, b"")
        else:
            closed.append(edit)
    return [edit if edit.new else ByteEdit(edit.start, _end_of_gap(edit, text), b"") for edit in closed]


def _end_of_gap(edit: ByteEdit, text: bytes) -> int:
    above = text[: edit.start].splitlines(keepends=True)
    end = edit.end
    while above and not above.pop().strip() and end < len(text) and edit.start:
        following = text.find(b"\n", end) + 1 or len(text)
        if text[end:following].strip():
            break
        end = following
    return end


def remove_names(names: list["Node"], gone: set[int], text: bytes) -> list[ByteEdit]:
    """Remove names from a list, each with the comment behind it."""
    edits: list[ByteEdit] = []
    place = 0
    while place < len(names):
        if place not in gone:
            place += 1
            continue
        first = place
        while place < len(names) and place in gone:
            place += 1
        if place < len(names):
            edits.append(ByteEdit(names[first].start_byte, names[place].start_byte, b""))
            continue
        own_line = text.rfind(b"\n", 0, names[first].start_byte) + 1
        if not text[own_line : names[first].start_byte].strip() and first:
            end = text.find(b"\n", names[-1].end_byte)
            edits.append(ByteEdit(own_line, end + 1 if end >= 0 else names[-1].end_byte, b""))
        else:
            edits.append(ByteEdit(names[first - 1].end_byte, names[-1].end_byte, b""))
    return edits


def sort_block(
    block: Sequence["Node"],
    text: bytes,
    place: "Callable[[Node], tuple[int, tuple[object, ...]]]",
    render: "Callable[[Node, bytes], bytes]",
    *,
    apart: bool = True,
) -> list[ByteEdit]:
    """Sort statements with their comments by `place`, a section and a key; `apart`: blank lines between sections."""
    start = before = block[0].start_byte
    lines: list[tuple[tuple[int, tuple[object, ...]], bytes]] = []
    for node in block:
        lead = b"".join(each + b"\n" for each in text[before : node.start_byte].split(b"\n") if each.strip())
        rest = rest_of_line(node, text).rstrip()
        lines.append((place(node), lead + render(node, text) + rest))
        before = node.end_byte + len(rest)
    lines.sort(key=lambda line: line[0])
    parts: list[bytes] = []
    for number, ((section, _), line) in enumerate(lines):
        if apart and number and section != lines[number - 1][0][0]:
            parts.append(b"")
        parts.append(line.replace(b"\r\n", b"\n"))
    new = b"\n".join(parts).replace(b"\n", newline_of(text))
    return [ByteEdit(start, before, new)] if new != text[start:before] else []


def reorder_names(node: "Node", names: Sequence["Node"], ordered: Sequence["Node"], text: bytes) -> bytes:
    """The text of a statement with its names in another order; the layout between them stays."""
    parts, place = [], node.start_byte
    for slot, name in zip(names, ordered, strict=True):
        parts += [text[place : slot.start_byte], text[name.start_byte : name.end_byte]]
        place = slot.end_byte
    return b"".join([*parts, text[place : node.end_byte]])


def reexported_names(path: str, names: set[str], project: Project) -> set[str]:
    """Return those of a module's names that other files import from it."""
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
            # `module` may be something else; keeping too much does no harm.
            if access.name in names and access.object is not None and text_of(access.object).endswith(stem):
                found.add(access.name)
    return found
