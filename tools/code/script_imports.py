"""The imports of a JavaScript or TypeScript file: without those that nothing reads, and in order."""

import re
from typing import TYPE_CHECKING

from tools.code.edits import Edit, newline_of
from tools.code.import_edits import ImportEdits, alone, rest_of_line, unread, whole_lines, without
from tools.code.scopes import FileScopes
from tools.code.source import descendants, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_STANDING = re.compile(rb"eslint-disable|@ts-|biome-ignore|prettier-ignore")
_NODE_MODULES = "assert buffer child_process crypto events fs http https net os path stream timers url util zlib"
_NODE = frozenset(_NODE_MODULES.split())


def unused(file: FileScopes) -> dict[str, list["Node"]]:
    text = file.source.text
    told = _in_comments(file)
    jsx = any(node.type.startswith("jsx_") for node in descendants(file.source.root))
    found: dict[str, list[Node]] = {}
    for statement in _statements(file):
        if not alone(statement, text) or _STANDING.search(_around(statement, text)):
            continue
        for each in _parts(statement):
            local = _local(each)
            if local in told or (jsx and local in ("React", "h", "Fragment", "preact")):
                continue  # what tags are compiled to
            if unread(file.module.values.get(local)):
                found.setdefault(local, []).append(statement)
    return found


def plan_edits(file: FileScopes, gone: set[str], *, sort: bool) -> ImportEdits:
    done = ImportEdits()
    text = file.source.text
    for statement in _statements(file):
        parts = _parts(statement)
        dropped = [each for each in parts if _local(each) in gone]
        if not dropped or not alone(statement, text) or _STANDING.search(_around(statement, text)):
            continue
        done.removed += [f"{_local(each)} (line {statement.start_point[0] + 1})" for each in dropped]
        if len(dropped) == len(parts):
            done.edits.append(whole_lines(statement, text))
        else:
            done.edits += _shortened(statement, dropped, text)
    if sort and not done.edits:
        done.edits += _sorted(file)
    return done


def _statements(file: FileScopes) -> list["Node"]:
    return [
        node
        for node in file.source.root.named_children
        if node.type == "import_statement" and any(each.type == "import_clause" for each in node.named_children)
    ]


def _clause(statement: "Node") -> "Node":
    return next(each for each in statement.named_children if each.type == "import_clause")


def _parts(statement: "Node") -> list["Node"]:
    """The default name, the namespace, and each of the named ones."""
    found: list[Node] = []
    for each in _clause(statement).named_children:
        found += each.named_children if each.type == "named_imports" else [each]
    return [each for each in found if each.type != "comment"]


def _local(part: "Node") -> str:
    if part.type == "import_specifier":
        named = part.child_by_field_name("alias") or part.child_by_field_name("name")
        return text_of(named) if named is not None else ""
    return text_of(part.named_children[0] if part.type == "namespace_import" else part)


def _shortened(statement: "Node", dropped: list["Node"], text: bytes) -> list[Edit]:
    clause = _clause(statement)
    pieces = [each for each in clause.named_children if each.type != "comment"]
    edits: list[Edit] = []
    whole: set[int] = set()
    for number, piece in enumerate(pieces):
        inside = [each for each in piece.named_children if each.type == "import_specifier"]
        if piece.type == "named_imports":
            gone = {place for place, each in enumerate(inside) if each in dropped}
            if len(gone) == len(inside):
                whole.add(number)
            elif gone:
                edits += without(inside, gone, text)
        elif piece in dropped:
            whole.add(number)
    return edits + without(pieces, whole, text)


def _in_comments(file: FileScopes) -> set[str]:
    """Names in the braces of JSDoc: `@type {Name}`, `{@link Name}`."""
    found: set[str] = set()
    for node in descendants(file.source.root):
        if node.type == "comment" and b"{" in (node.text or b""):
            for braces in re.findall(r"\{([^}]*)\}", text_of(node)):
                found.update(re.findall(r"[\w$]+", braces))
    return found


def _around(node: "Node", text: bytes) -> bytes:
    """The statement, the comment behind it, and the line above it."""
    start = text.rfind(b"\n", 0, max(text.rfind(b"\n", 0, node.start_byte), 0)) + 1
    return text[start : node.end_byte] + rest_of_line(node, text)


# -- the order ---------------------------------------------------------------------------------------------------------


def _sorted(file: FileScopes) -> list[Edit]:
    text = file.source.text
    edits: list[Edit] = []
    for block in _blocks(file):
        start, end = block[0].start_byte, block[-1].end_byte
        lines = []
        before = start
        for node in block:
            lead = b"\n".join(each for each in text[before : node.start_byte].split(b"\n") if each.strip())
            own = _names_sorted(node, text) + rest_of_line(node, text).rstrip()
            lines.append((_key(node), (lead + b"\n" if lead else b"") + own))
            before = node.end_byte + len(rest_of_line(node, text).rstrip())
        end = before
        apart = b"\n\n" in text[start:end].replace(b"\r\n", b"\n")
        ordered = sorted(lines, key=lambda line: line[0])
        parts: list[bytes] = []
        for number, (key, line) in enumerate(ordered):
            if apart and number and key[0] != ordered[number - 1][0][0]:
                parts.append(b"")
            parts.append(line.replace(b"\r\n", b"\n"))
        new = b"\n".join(parts).replace(b"\n", newline_of(text))
        if new != text[start:end]:
            edits.append(Edit(start, end, new))
    return edits


def _blocks(file: FileScopes) -> list[list["Node"]]:
    """Runs of imports that name something; one that only takes effect keeps its place, and so do those around it."""
    blocks: list[list[Node]] = [[]]
    movable = {node.id for node in _statements(file)}
    text = file.source.text
    for child in file.source.root.named_children:
        if child.type == "comment":
            continue
        if child.id in movable and alone(child, text) and not _STANDING.search(_around(child, text)):
            between = text[blocks[-1][-1].end_byte : child.start_byte] if blocks[-1] else b""
            if re.search(rb"(//|\*/)[^\n]*\n\s*\n", between):
                blocks.append([])
            blocks[-1].append(child)
        else:
            blocks.append([])
    return [block for block in blocks if block]


def _key(node: "Node") -> tuple[int, str, str]:
    source = node.child_by_field_name("source")
    name = text_of(source)[1:-1] if source is not None else ""
    if name.startswith("node:") or name in _NODE:
        group = 0
    elif name.startswith("."):
        group = 3 if name.startswith("..") else 4
    else:
        group = 2 if name.startswith(("@/", "~/", "src/", "#")) else 1
    return (group, name.lower(), name)


def _names_sorted(node: "Node", text: bytes) -> bytes:
    own = text[node.start_byte : node.end_byte]
    lists = [each for each in _clause(node).named_children if each.type == "named_imports"]
    if not lists or b"//" in own or b"/*" in own:
        return own
    names = [each for each in lists[0].named_children if each.type == "import_specifier"]
    ordered = sorted(names, key=lambda each: (_local_key(each), text_of(each)))
    parts, place = [], node.start_byte
    for slot, name in zip(names, ordered, strict=True):
        parts += [text[place : slot.start_byte], text[name.start_byte : name.end_byte]]
        place = slot.end_byte
    return b"".join([*parts, text[place : node.end_byte]])


def _local_key(node: "Node") -> str:
    name = node.child_by_field_name("name")
    return text_of(name).lower() if name is not None else ""
