"""The imports of a Python file: without those that nothing reads, and in the usual order."""

import re
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tools.code.edits import Edit, newline_of
from tools.code.import_edits import ImportEdits, alone, rest_of_line, unread, whole_lines, without
from tools.code.python_definitions import name_of
from tools.code.scopes import FileScopes
from tools.code.source import descendants, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_STATEMENTS = ("import_statement", "import_from_statement")
_STANDING = re.compile(
    rb"#.*\bnoqa\b|#\s*isort:\s*skip|#\s*pylint:\s*disable|#\s*type:\s*ignore\[import", re.IGNORECASE
)
_OFF = re.compile(rb"#\s*isort:\s*(skip_file|off)|#\s*ruff:\s*noqa(\s|$|:.*\bI001\b)|#\s*flake8:\s*noqa\s*$", re.M)
_QUOTING_CALLS = frozenset({"cast", "TypeVar", "NewType", "ForwardRef", "ParamSpec"})
_WORD = re.compile(r"[^\W\d]\w*")


def unused(file: FileScopes) -> dict[str, list["Node"]]:
    """Names that only their import writes, each with its statements; not those that others may rely on."""
    text = file.source.text
    name = file.path.rpartition("/")[2]
    if name.startswith("__init__.") or name == "conftest.py" or _OFF.search(text):
        return {}
    told = {each for each, _ in file.listed} | _named_elsewhere(file)
    found: dict[str, list[Node]] = {}
    for statement in _statements(file.source.root):
        if _STANDING.search(_lines(statement, text)) or not alone(statement, text):
            continue
        for each in _names(statement):
            local = _local(each)
            if local not in told and not _meant_for_others(each) and unread(file.module.values.get(local)):
                found.setdefault(local, []).append(statement)
    return found


def plan_edits(file: FileScopes, gone: set[str], first_party: Callable[[str], bool] | None) -> ImportEdits:
    """Without the names in `gone`; sorted, if it is known which modules are the project's own."""
    done = ImportEdits()
    emptied: dict[int, list[Node]] = {}
    for statement in _statements(file.source.root):
        names = _names(statement)
        dropped = {
            number
            for number, each in enumerate(names)
            if _local(each) in gone and not _meant_for_others(each) and alone(statement, file.source.text)
        }
        if not dropped or _STANDING.search(_lines(statement, file.source.text)):
            continue
        done.removed += [f"{_local(names[number])} (line {statement.start_point[0] + 1})" for number in sorted(dropped)]
        if len(dropped) < len(names):
            done.edits += without(names, dropped, file.source.text)
        elif statement.parent is not None and statement.parent.type == "block":
            emptied.setdefault(statement.parent.id, []).append(statement)
        else:
            done.edits.append(whole_lines(statement, file.source.text))
    for statements in emptied.values():
        block = statements[0].parent
        if block is not None and block.parent is not None and len(statements) == block.named_child_count:
            done.edits.append(whole_lines(block.parent, file.source.text))
        else:
            done.edits += [whole_lines(each, file.source.text) for each in statements]
    if first_party is not None and not done.edits and not _OFF.search(file.source.text):
        done.edits += _sorted(file, first_party)
    return done


def _statements(root: "Node") -> list["Node"]:
    """Those of the module itself, and those that are only for type checkers."""
    found: list[Node] = []
    for child in root.named_children:
        if child.type in _STATEMENTS:
            found.append(child)
        elif child.type == "if_statement" and child.child_by_field_name("alternative") is None:
            condition, body = child.child_by_field_name("condition"), child.child_by_field_name("consequence")
            if condition is not None and body is not None and text_of(condition).endswith("TYPE_CHECKING"):
                found += [each for each in body.named_children if each.type in _STATEMENTS]
    return found


def _names(statement: "Node") -> list["Node"]:
    return list(statement.children_by_field_name("name"))


def _local(node: "Node") -> str:
    alias = node.child_by_field_name("alias")
    return name_of(alias) if alias is not None else name_of(node.named_children[0])


def _meant_for_others(node: "Node") -> bool:
    """`from x import y as y` says that y is to be taken from here."""
    alias, name = node.child_by_field_name("alias"), node.child_by_field_name("name")
    return alias is not None and name is not None and text_of(alias) == text_of(name)


def _named_elsewhere(file: FileScopes) -> set[str]:
    """Names in type comments, in doctests, and in the strings of `cast("Name", …)`."""
    found: set[str] = set()
    for node in descendants(file.source.root):
        if node.type == "comment":
            said = text_of(node)
            if re.match(r"#\s*type:", said):
                found.update(_WORD.findall(said))
        elif node.type == "string_content" and b">>>" in (node.text or b""):
            lines = [line for line in text_of(node).splitlines() if line.lstrip().startswith((">>>", "..."))]
            found.update(word for line in lines for word in _WORD.findall(line))
        elif node.type == "call":
            callee = node.child_by_field_name("function")
            if callee is not None and text_of(callee).rpartition(".")[2] in _QUOTING_CALLS:
                found.update(
                    word
                    for each in descendants(node)
                    if each.type == "string_content"
                    for word in _WORD.findall(text_of(each))
                )
    return found


def _lines(node: "Node", text: bytes) -> bytes:
    return text[node.start_byte : node.end_byte] + rest_of_line(node, text)


# -- the usual order ---------------------------------------------------------------------------------------------------


class _Line(NamedTuple):
    """A statement with the comments right above it and the one behind it."""

    key: tuple[object, ...]
    section: int
    text: bytes


def _sorted(file: FileScopes, first_party: Callable[[str], bool]) -> list[Edit]:
    text = file.source.text
    edits: list[Edit] = []
    for block in _blocks(file.source.root, text):
        # The comments above the first import stay where they are: they may be the file's.
        start, end = block[0].start_byte, _end(block[-1], text)
        lines = []
        before = start
        for node in block:
            section, key = _place(node, first_party)
            lead = b"\n".join(each for each in text[before : node.start_byte].split(b"\n") if each.strip())
            lead = lead + b"\n" if lead else b""
            lines.append(_Line(key, section, lead + _members_sorted(node, text) + rest_of_line(node, text).rstrip()))
            before = _end(node, text)
        newline = newline_of(text).decode()
        ordered = sorted(lines, key=lambda line: (line.section, line.key))
        parts: list[str] = []
        for number, line in enumerate(ordered):
            if number and line.section != ordered[number - 1].section:
                parts.append("")
            parts.append(line.text.decode().replace("\r\n", "\n"))
        new = ("\n".join(parts)).replace("\n", newline).encode()
        if new != text[start:end]:
            edits.append(Edit(start, end, new))
    return edits


def _blocks(root: "Node", text: bytes) -> list[list["Node"]]:
    """Runs of imports with nothing between them but blank lines, and comments that belong to what is below them."""
    blocks: list[list[Node]] = [[]]
    previous: Node | None = None
    for child in root.named_children:
        if child.type == "comment":
            continue
        importing = child.type in (*_STATEMENTS, "future_import_statement") and alone(child, text)
        if not importing or b"isort:" in _lines(child, text):
            blocks.append([])
            previous = None
            continue
        if previous is not None and _header(text[previous.end_byte : child.start_byte]):
            blocks.append([])
        blocks[-1].append(child)
        previous = child
    return [block for block in blocks if len(block) > 0]


def _header(between: bytes) -> bool:
    """A comment with a blank line below it is about several imports, or about none."""
    lines = [line.strip() for line in between.split(b"\n")[1:-1]]
    return any(line.startswith(b"#") and not after for line, after in pairwise(lines))


def _end(node: "Node", text: bytes) -> int:
    return node.end_byte + len(rest_of_line(node, text).rstrip())


def _place(node: "Node", first_party: Callable[[str], bool]) -> tuple[int, tuple[object, ...]]:
    if node.type == "future_import_statement":
        return 0, (0, 0, "", "")
    module = node.child_by_field_name("module_name") or node.child_by_field_name("name")
    if module is not None and module.type == "aliased_import":
        module = module.child_by_field_name("name")
    name = "".join(text_of(module).split()) if module is not None else ""
    plain = node.type == "import_statement"
    if name.startswith("."):
        dots = len(name) - len(name.lstrip("."))
        return 4, (0, -dots, _natural(name), name)
    top = name.partition(".")[0]
    section = 1 if top in sys.stdlib_module_names else 3 if first_party(top) else 2
    return section, (0 if plain else 1, 0, _natural(name), name)


def _natural(name: str) -> tuple[tuple[int, object], ...]:
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name.lower()) if part)


def _members_sorted(node: "Node", text: bytes) -> bytes:
    """The names of `from x import …` in order, each in the place that the list has for one."""
    own = text[node.start_byte : node.end_byte]
    names = _names(node)
    if node.type != "import_from_statement" or len(names) < 2 or b"#" in own or b"\\" in own:
        return own
    ordered = sorted(names, key=_member_key)
    parts, place = [], node.start_byte
    for slot, name in zip(names, ordered, strict=True):
        parts += [text[place : slot.start_byte], text[name.start_byte : name.end_byte]]
        place = slot.end_byte
    return b"".join([*parts, text[place : node.end_byte]])


def _member_key(node: "Node") -> tuple[object, ...]:
    name = text_of(node).split()[0]
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return (kind, _natural(name), name)
