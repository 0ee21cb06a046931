"""The import statements of one file, as written. `resolver` finds the files that they mean."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tools.code.source import SourceText, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SCRIPTS = ("JavaScript", "TypeScript", "TSX")
_MAX_IMPORTS = 5_000
_MAX_MEMBERS = 2_000
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_USE_PART = re.compile(r"[\w:*]+|[{},]|\bas\b")


class ImportRow(NamedTuple):
    """One imported name. `name` is empty for a whole module and `*` for everything in it.

    `member` is a name that the file uses as `alias.member`; one row for each of them follows the import itself.
    """

    line: int
    module: str
    name: str = ""
    alias: str = ""
    exported: bool = False
    member: str = ""


def imports_of(source: SourceText, nodes: "Sequence[Node]") -> list[ImportRow]:
    language = source.language.name if source.language else ""
    found: list[ImportRow] = []
    for node in nodes[:_MAX_IMPORTS]:
        if language == "Python":
            found += _python(node)
        elif language in _SCRIPTS:
            found += _script(node)
        elif language == "Go":
            found += _go(node)
        elif language == "Rust":
            found += _rust(node)
        elif language == "Java":
            found += _java(node)
        elif language in ("C", "C++"):
            found += _include(node)
    return [*found, *_members(source, found, language)]


def _members(source: SourceText, found: Sequence[ImportRow], language: str) -> Iterator[ImportRow]:
    """Which names the file takes from the modules that it imports as a whole."""
    by_alias: dict[str, list[ImportRow]] = {}
    for each in found:
        whole = not each.name or each.name == "*" or (language == "Python" and each.alias.islower())
        if each.alias and whole and language in ("Python", "Go", *_SCRIPTS):
            by_alias.setdefault(each.alias, []).append(each)
    if not by_alias:
        return
    text = source.text.decode("utf-8", "replace")
    count = 0
    for alias, rows in by_alias.items():
        for member, line in _members_of(text, alias).items():
            count += 1
            if count > _MAX_MEMBERS:
                return
            yield from (each._replace(line=line, member=member, exported=False) for each in rows)


def _members_of(text: str, alias: str) -> dict[str, int]:
    """The names after `alias.`, each with its first line. `str.find` is many times faster than a pattern here."""
    members: dict[str, int] = {}
    line, last = 1, 0
    at = text.find(f"{alias}.")
    while at >= 0:
        before = text[at - 1] if at else " "
        after = at + len(alias) + 1
        name = None if before.isalnum() or before in "_." else _IDENTIFIER.match(text, after)
        if name is not None and name[0] not in members:
            line, last = line + text.count("\n", last, at), at
            members[name[0]] = line
        at = text.find(f"{alias}.", after)
    return members


# -- Python ----------------------------------------------------------------------------------------------------------


def _python(node: "Node") -> Iterator[ImportRow]:
    line = line_of(node)
    names = list(_python_names(node))
    if node.type == "import_from_statement":
        module = text_of(node.child_by_field_name("module_name")).replace(" ", "")
        if any(child.type == "wildcard_import" for child in node.named_children):
            yield ImportRow(line, module, "*")
        for name, alias, at in names:
            yield ImportRow(at, module, name, alias or name)
    elif node.type == "import_statement":
        for name, alias, at in names:
            yield ImportRow(at, name, "", alias or name)


def _python_names(node: "Node") -> Iterator[tuple[str, str, int]]:
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            yield text_of(name), text_of(alias), line_of(child)
        else:
            yield text_of(child), "", line_of(child)


# -- JavaScript and TypeScript ---------------------------------------------------------------------------------------


def _script(node: "Node") -> Iterator[ImportRow]:
    line = line_of(node)
    if node.type == "call_expression":
        arguments = node.child_by_field_name("arguments")
        first = arguments.named_child(0) if arguments is not None and arguments.named_child_count else None
        if first is not None and first.type == "string":
            yield ImportRow(line, _unquoted(first), "*", _assigned_name(node))
        return
    source = node.child_by_field_name("source") or next(
        (inner.child_by_field_name("source") for inner in node.named_children if inner.type == "import_require_clause"),
        None,
    )
    if source is None:
        return
    module, exported = _unquoted(source), node.type == "export_statement"
    names = list(_script_names(node))
    if exported and not names:
        names = [("*", "")]
    if not names:
        yield ImportRow(line, module)
    for name, alias in names:
        yield ImportRow(line, module, name, alias, exported)


def _script_names(node: "Node") -> Iterator[tuple[str, str]]:
    for clause in node.named_children:
        if clause.type == "import_clause":
            for child in clause.named_children:
                if child.type == "identifier":
                    yield "default", text_of(child)
                elif child.type == "namespace_import":
                    yield "*", _first_name(child)
                elif child.type == "named_imports":
                    yield from _specifiers(child)
        elif clause.type == "export_clause":
            yield from _specifiers(clause)
        elif clause.type == "namespace_export" or clause.type == "import_require_clause":
            yield "*", _first_name(clause)


def _first_name(node: "Node") -> str:
    """Empty where the name is missing, as in `export * as default from`, which the grammar doesn't know."""
    return text_of(node.named_child(0)) if node.named_child_count else ""


def _specifiers(clause: "Node") -> Iterator[tuple[str, str]]:
    for child in clause.named_children:
        name = text_of(child.child_by_field_name("name"))
        if name:
            yield name, text_of(child.child_by_field_name("alias")) or name


def _assigned_name(node: "Node") -> str:
    """`a` of `const a = require("…")` and `const a = await import("…")`."""
    above = node.parent
    if above is not None and above.type == "await_expression":
        above = above.parent
    name = above.child_by_field_name("name") if above is not None and above.type == "variable_declarator" else None
    return text_of(name) if name is not None and name.type == "identifier" else ""


def _unquoted(node: "Node") -> str:
    return text_of(node).strip("\"'`")[:500]


# -- Go, Rust, Java, C -----------------------------------------------------------------------------------------------


def _go(node: "Node") -> Iterator[ImportRow]:
    path = _unquoted(node.child_by_field_name("path") or node)
    alias = text_of(node.child_by_field_name("name"))
    if path:
        yield ImportRow(line_of(node), path, "*" if alias in (".", "_") else "", alias or _go_package(path))


def _go_package(path: str) -> str:
    """The package's usual name: the last part of its path, without a version."""
    parts = path.split("/")
    last = parts[-2] if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]) else parts[-1]
    return re.sub(r"\.v\d+$", "", last).rpartition("-")[2] if "-" in last else re.sub(r"\.v\d+$", "", last)


def _rust(node: "Node") -> Iterator[ImportRow]:
    line = line_of(node)
    if node.type == "mod_item":
        yield ImportRow(line, f"self::{text_of(node.child_by_field_name('name'))}")
        return
    text = text_of(node.child_by_field_name("argument") or node.child_by_field_name("name") or node)
    exported = text_of(node).startswith("pub")
    for path, alias in _use_paths(text):
        module, _, name = path.rpartition("::")
        yield ImportRow(line, module or name, name if module else "", alias or name, exported)


def _use_paths(text: str) -> Iterator[tuple[str, str]]:
    """The paths of a `use` tree: `a::{b, c::d as e}` gives `a::b` and `a::c::d`."""
    stack, current, alias, renaming = [""], "", "", False
    for part in _USE_PART.findall(text):
        if part == "{":
            stack.append(stack[-1] + current)
            current = ""
        elif part in (",", "}"):
            if current:
                yield (stack[-1] + current).removesuffix("::self"), alias
            current = alias = ""
            if part == "}" and len(stack) > 1:
                stack.pop()
        elif part == "as":
            renaming = True
        elif renaming:
            alias, renaming = part, False
        else:
            current = part
    if current:
        yield current.removesuffix("::self"), alias


def _java(node: "Node") -> Iterator[ImportRow]:
    text = re.sub(r"\s|;$", " ", text_of(node)).removeprefix("import").strip(" ;")
    static, text = text.startswith("static "), text.removeprefix("static ").replace(" ", "")
    module, _, name = text.rpartition(".")
    if static and name != "*":
        yield ImportRow(line_of(node), module, name, name)
    elif static:
        yield ImportRow(line_of(node), module, "*")
    elif name == "*":
        yield ImportRow(line_of(node), f"{module}.*", "*")
    else:
        yield ImportRow(line_of(node), text, "", name)


def _include(node: "Node") -> Iterator[ImportRow]:
    path = node.child_by_field_name("path")
    if path is not None and path.type == "string_literal":
        yield ImportRow(line_of(node), _unquoted(path))
