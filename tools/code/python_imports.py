"""Remove unused imports from a Python file and sort the others."""

import re
import sys
from collections.abc import Callable
from itertools import pairwise
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
from tools.code.python_definitions import name_of
from tools.code.scopes import FileScopes
from tools.code.source import descendants, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_STATEMENTS = ("import_statement", "import_from_statement")
#: After a mark of a comment that no other one precedes: it is compared once for each comment, not for each mark.
_KEEP = re.compile(
    rb"(?<!#)#[^\n]{0,1000}?(?:\bnoqa\b|isort:\s{0,9}skip|pylint:\s{0,9}disable|type:\s{0,9}ignore\[import)",
    re.IGNORECASE,
)
_OFF = re.compile(rb"#\s*isort:\s*(skip_file|off)|#\s*ruff:\s*noqa(\s|$|:.*\bI001\b)|#\s*flake8:\s*noqa\s*$", re.M)
_QUOTING_CALLS = frozenset({"cast", "TypeVar", "NewType", "ForwardRef", "ParamSpec"})
#: A file that may use a name which is only in a string.
_LOOKS_UP = re.compile(rb"(?<![\w.])(?:(?:eval|exec)\(|(?:globals|locals|vars)\(\))")
_WORD = re.compile(r"[^\W\d]\w*")


def unused_imports(file: FileScopes) -> dict[str, list["Node"]]:
    """Return unused names with their import statements, without those that other files may rely on."""
    text = file.source.text
    name = file.path.rpartition("/")[2]
    if name.startswith("__init__.") or name == "conftest.py" or _OFF.search(text):
        return {}
    kept = {each for each, _ in file.listed} | _named_elsewhere(file)
    found: dict[str, list[Node]] = {}
    for statement in _statements(file.source.root):
        if _KEEP.search(_lines(statement, text)) or not has_own_lines(statement, text):
            continue
        for each in _names(statement):
            local = _local(each)
            if local not in kept and not _meant_for_others(each) and is_unread(file.module.values.get(local)):
                found.setdefault(local, []).append(statement)
    return found


def plan_edits(file: FileScopes, gone: set[str], first_party: Callable[[str], bool] | None) -> ImportEdits:
    """Remove the names in `gone`; sort with `first_party`, which knows the project's own modules."""
    planned = ImportEdits()
    emptied: dict[int, list[Node]] = {}
    for statement in _statements(file.source.root):
        names = _names(statement)
        dropped = {
            number
            for number, each in enumerate(names)
            if _local(each) in gone and not _meant_for_others(each) and has_own_lines(statement, file.source.text)
        }
        if not dropped or _KEEP.search(_lines(statement, file.source.text)):
            continue
        planned.removed += [
            f"{_local(names[number])} (line {statement.start_point[0] + 1})" for number in sorted(dropped)
        ]
        if len(dropped) < len(names):
            planned.edits += remove_names(names, dropped, file.source.text)
        elif statement.parent is not None and statement.parent.type == "block":
            emptied.setdefault(statement.parent.id, []).append(statement)
        else:
            planned.edits.append(whole_lines(statement, file.source.text))
    for statements in emptied.values():
        block = statements[0].parent
        if block is not None and block.parent is not None and len(statements) == block.named_child_count:
            planned.edits.append(whole_lines(block.parent, file.source.text))
        else:
            planned.edits += [whole_lines(each, file.source.text) for each in statements]
    if first_party is not None and not planned.edits and not _OFF.search(file.source.text):
        planned.edits += _sort(file, first_party)
    return planned


def _statements(root: "Node") -> list["Node"]:
    """Return the imports of the module, also those under `TYPE_CHECKING`."""
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
    """Whether `from x import y as y` re-exports y."""
    alias, name = node.child_by_field_name("alias"), node.child_by_field_name("name")
    return alias is not None and name is not None and text_of(alias) == text_of(name)


def _named_elsewhere(file: FileScopes) -> set[str]:
    """Return names in type comments, doctests, and strings such as `cast("Name", …)` or `eval("name")`."""
    found: set[str] = set()
    looks_up = _LOOKS_UP.search(file.source.text) is not None
    for node in descendants(file.source.root):
        if looks_up and node.type == "string_content":
            found.update(_WORD.findall(text_of(node)))
        if node.type == "comment":
            comment = text_of(node)
            if re.match(r"#\s*type:", comment):
                found.update(_WORD.findall(comment))
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


def _sort(file: FileScopes, first_party: Callable[[str], bool]) -> list[ByteEdit]:
    def place(node: "Node") -> tuple[int, tuple[object, ...]]:
        return _place(node, first_party)

    text = file.source.text
    # Comments above the first import may belong to the file.
    return [edit for block in _blocks(file.source.root, text) for edit in sort_block(block, text, place, _sort_members)]


def _blocks(root: "Node", text: bytes) -> list[list["Node"]]:
    """Return runs of imports with only blank lines and their comments between them."""
    blocks: list[list[Node]] = [[]]
    previous: Node | None = None
    for child in root.named_children:
        if child.type == "comment":
            continue
        importing = child.type in (*_STATEMENTS, "future_import_statement") and has_own_lines(child, text)
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
    """Whether a comment with a blank line below it separates two blocks."""
    lines = [line.strip() for line in between.split(b"\n")[1:-1]]
    return any(line.startswith(b"#") and not after for line, after in pairwise(lines))


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


def _sort_members(node: "Node", text: bytes) -> bytes:
    """Sort the names of `from x import …` and keep the layout."""
    own = text[node.start_byte : node.end_byte]
    names = _names(node)
    if node.type != "import_from_statement" or len(names) < 2 or b"#" in own or b"\\" in own:
        return own
    return reorder_names(node, names, sorted(names, key=_member_key), text)


def _member_key(node: "Node") -> tuple[object, ...]:
    name = text_of(node).split()[0]
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return (kind, _natural(name), name)
