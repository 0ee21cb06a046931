"""Remove unused imports from a JavaScript or TypeScript file and sort the others."""

import re
from typing import TYPE_CHECKING

from tools.code.edits import ByteEdit
from tools.code.import_edits import (
    ImportEdits,
    has_own_lines,
    is_unread,
    remove_names,
    reorder_names,
    rest_of_line,
    sort_block,
    whole_lines,
)
from tools.code.scopes import FileScopes
from tools.code.source import descendants, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_KEEP = re.compile(rb"eslint-disable|@ts-|biome-ignore|prettier-ignore")
_NODE_MODULES = "assert buffer child_process crypto events fs http https net os path stream timers url util zlib"
_NODE = frozenset(_NODE_MODULES.split())


def unused_imports(file: FileScopes) -> dict[str, list["Node"]]:
    text = file.source.text
    kept = _in_comments(file)
    jsx = any(node.type.startswith("jsx_") for node in descendants(file.source.root))
    found: dict[str, list[Node]] = {}
    for statement in _statements(file):
        if not has_own_lines(statement, text) or _KEEP.search(_around(statement, text)):
            continue
        for each in _parts(statement):
            local = _local(each)
            if local in kept or (jsx and local in ("React", "h", "Fragment", "preact")):
                continue  # JSX compiles to these
            if is_unread(file.module.values.get(local)):
                found.setdefault(local, []).append(statement)
    return found


def plan_edits(file: FileScopes, gone: set[str], *, sort: bool) -> ImportEdits:
    planned = ImportEdits()
    text = file.source.text
    for statement in _statements(file):
        parts = _parts(statement)
        dropped = [each for each in parts if _local(each) in gone]
        if not dropped or not has_own_lines(statement, text) or _KEEP.search(_around(statement, text)):
            continue
        planned.removed += [f"{_local(each)} (line {statement.start_point[0] + 1})" for each in dropped]
        if len(dropped) == len(parts):
            planned.edits.append(whole_lines(statement, text))
        else:
            planned.edits += _shortened(statement, dropped, text)
    if sort and not planned.edits:
        planned.edits += _sort(file)
    return planned


def _statements(file: FileScopes) -> list["Node"]:
    return [
        node
        for node in file.source.root.named_children
        if node.type == "import_statement" and any(each.type == "import_clause" for each in node.named_children)
    ]


def _clause(statement: "Node") -> "Node":
    return next(each for each in statement.named_children if each.type == "import_clause")


def _parts(statement: "Node") -> list["Node"]:
    """Return the nodes of the imported names."""
    found: list[Node] = []
    for each in _clause(statement).named_children:
        found += each.named_children if each.type == "named_imports" else [each]
    return [each for each in found if each.type != "comment"]


def _local(part: "Node") -> str:
    if part.type == "import_specifier":
        named = part.child_by_field_name("alias") or part.child_by_field_name("name")
        return text_of(named) if named is not None else ""
    return text_of(part.named_children[0] if part.type == "namespace_import" else part)


def _shortened(statement: "Node", dropped: list["Node"], text: bytes) -> list[ByteEdit]:
    clause = _clause(statement)
    pieces = [each for each in clause.named_children if each.type != "comment"]
    edits: list[ByteEdit] = []
    whole: set[int] = set()
    for number, piece in enumerate(pieces):
        inside = [each for each in piece.named_children if each.type == "import_specifier"]
        if piece.type == "named_imports":
            gone = {place for place, each in enumerate(inside) if each in dropped}
            if len(gone) == len(inside):
                whole.add(number)
            elif gone:
                edits += remove_names(inside, gone, text)
        elif piece in dropped:
            whole.add(number)
    return edits + remove_names(pieces, whole, text)


def _in_comments(file: FileScopes) -> set[str]:
    """Return names in JSDoc braces: `@type {Name}`, `{@link Name}`."""
    found: set[str] = set()
    for node in descendants(file.source.root):
        if node.type == "comment" and b"{" in (node.text or b""):
            for braces in re.findall(r"\{([^}]*)\}", text_of(node)):
                found.update(re.findall(r"[\w$]+", braces))
    return found


def _around(node: "Node", text: bytes) -> bytes:
    """Return the statement with the comment behind it and the line above."""
    start = text.rfind(b"\n", 0, max(text.rfind(b"\n", 0, node.start_byte), 0)) + 1
    return text[start : node.end_byte] + rest_of_line(node, text)


def _sort(file: FileScopes) -> list[ByteEdit]:
    text = file.source.text
    edits: list[ByteEdit] = []
    for block in _blocks(file):
        apart = b"\n\n" in text[block[0].start_byte : block[-1].end_byte].replace(b"\r\n", b"\n")
        edits += sort_block(block, text, _place, _sort_names, apart=apart)
    return edits


def _blocks(file: FileScopes) -> list[list["Node"]]:
    """Return runs of imports with names; an import for side effects keeps its place and ends a run."""
    blocks: list[list[Node]] = [[]]
    movable = {node.id for node in _statements(file)}
    text = file.source.text
    for child in file.source.root.named_children:
        if child.type == "comment":
            continue
        if child.id in movable and has_own_lines(child, text) and not _KEEP.search(_around(child, text)):
            between = text[blocks[-1][-1].end_byte : child.start_byte] if blocks[-1] else b""
            if re.search(rb"(//|\*/)[^\n]*\n\s*\n", between):
                blocks.append([])
            blocks[-1].append(child)
        else:
            blocks.append([])
    return [block for block in blocks if block]


def _place(node: "Node") -> tuple[int, tuple[object, ...]]:
    source = node.child_by_field_name("source")
    name = text_of(source)[1:-1] if source is not None else ""
    if name.startswith("node:") or name in _NODE:
        group = 0
    elif name.startswith("."):
        group = 3 if name.startswith("..") else 4
    else:
        group = 2 if name.startswith(("@/", "~/", "src/", "#")) else 1
    return group, (name.lower(), name)


def _sort_names(node: "Node", text: bytes) -> bytes:
    own = text[node.start_byte : node.end_byte]
    lists = [each for each in _clause(node).named_children if each.type == "named_imports"]
    if not lists or b"//" in own or b"/*" in own:
        return own
    names = [each for each in lists[0].named_children if each.type == "import_specifier"]
    ordered = sorted(names, key=lambda each: (_local_key(each), text_of(each)))
    return reorder_names(node, names, ordered, text)


def _local_key(node: "Node") -> str:
    name = node.child_by_field_name("name")
    return text_of(name).lower() if name is not None else ""
