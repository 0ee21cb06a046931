"""Tell which names in a Go file may be a definition of another file: packages qualify them, imports rename packages."""

import re
from collections.abc import Callable
from posixpath import basename, dirname
from typing import TYPE_CHECKING

from tools.code.definitions import Definition
from tools.code.source import SourceText, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PACKAGE = re.compile(rb"^package\s+(\w+)", re.MULTILINE)
_IMPORT = re.compile(rb"^\s*(?:import\s+)?(?:([\w.]+)\s+)?\"([^\"\s]+)\"", re.MULTILINE)
_VERSION = re.compile(r"/v\d+$")
_QUALIFIED = {"selector_expression": "operand", "qualified_type": "package"}


def may_name(definition: Definition, package: str) -> Callable[["Node", SourceText], bool]:
    """A test of nodes that hold the name of a top-level Go definition; `package` is the clause of its file."""
    folder = dirname(definition.path)
    qualifiers: dict[str, set[str]] = {}

    def test(node: "Node", source: SourceText) -> bool:
        found = qualifiers.get(source.path)
        if found is None:
            found = qualifiers[source.path] = _qualifiers(source, folder, package)
        parent = node.parent
        part = _QUALIFIED.get(parent.type) if parent is not None else None
        operand = parent.child_by_field_name(part) if parent is not None and part else None
        if operand is None or operand == node:
            return "." in found
        return text_of(operand) in found

    return test


def package_of(source: SourceText) -> str:
    found = _PACKAGE.search(source.text)
    return found[1].decode() if found else ""


def _qualifiers(source: SourceText, folder: str, package: str) -> set[str]:
    """The names that the file gives the package of the folder; `.` if it needs none."""
    if dirname(source.path) == folder and package_of(source) == package:
        return {"."}
    imports = [(alias.decode(), path.decode()) for alias, path in _IMPORT.findall(source.text)]
    # The path of the package at the top of a module is the module's name, which may be anything.
    meant = [(alias, path) for alias, path in imports if not folder or _last(path) in (package, basename(folder))]
    return {alias or package for alias, path in meant if folder or alias or _last(path) == package}


def _last(path: str) -> str:
    return basename(_VERSION.sub("", path))
