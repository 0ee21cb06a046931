"""Imports of the project's own modules that lead nowhere: the file is not there, or the name is not in it."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tools.code.bindings import Binding, bindings
from tools.code.definitions import definitions
from tools.code.modules import Modules
from tools.code.review import Finding, Subject
from tools.code.source import PYTHON, SCRIPT, Source, ancestors, text

if TYPE_CHECKING:
    from tree_sitter import Node

_ASSET = re.compile(r"\.(css|scss|sass|less|svg|png|jpe?g|gif|webp|json|md|txt|html|wasm|vue|svelte)(\?.*)?$")


def imported_files(subject: Subject, modules: Modules) -> list[str]:
    """The files that must be looked at to know whether the imports hold."""
    source = subject.source
    if not source.scoped:
        return []
    return [each.file for each in bindings(source, modules) if each.file is not None and each.name not in (None, "*")]


def import_rules(subject: Subject, modules: Modules, others: Mapping[str, Source]) -> list[Finding]:
    source = subject.source
    if not source.scoped:
        return []
    found = []
    for each in bindings(source, modules):
        if not subject.counts(each.line) or _guarded(source, each.line):
            continue
        if each.file is None:
            if missing := _missing(each, source, modules):
                message = f"It imports `{each.module}`, and there is no such file ({missing})."
                found.append(Finding(subject.path, each.line, "error", message, "correct the name, or add the file."))
        elif each.name and each.name != "*" and _lacks(others.get(each.file), each.name, modules):
            message = f"It imports `{each.name}` from `{each.file}`, where nothing has this name."
            found.append(Finding(subject.path, each.line, "error", message, "correct the name, or define it there."))
    return found


def _missing(binding: Binding, source: Source, modules: Modules) -> str:
    """What was looked for, if it must be one of the project's own files; nothing if it may come from outside."""
    if source.kind in SCRIPT:
        relative = binding.module.startswith(".")
        return binding.module if relative and not _ASSET.search(binding.module) else ""
    module = binding.module
    if module.startswith("."):
        return "" if _is_folder(source.path, module, modules) else module
    top = module.partition(".")[0]
    package = modules.python(top, source.path)
    # A name of the package's own may be imported from it although it is no file.
    if package is None or not package.endswith("__init__.py") or "." not in module:
        return ""
    folder = package.removesuffix("__init__.py") + "/".join(module.split(".")[1:])
    return "" if modules.holds(folder) else f"{folder}.py"


def _is_folder(importer: str, module: str, modules: Modules) -> bool:
    """A folder without an `__init__` is a package, too."""
    level = len(module) - len(module.lstrip("."))
    folder = importer.split("/")[:-level]
    rest = [part for part in module[level:].split(".") if part]
    return modules.holds("/".join([*folder, *rest]))


def _guarded(source: Source, line: int) -> bool:
    """An import that is tried, or that only a type checker sees, may fail."""
    lines = source.content.split(b"\n", line)
    start = sum(len(each) + 1 for each in lines[: line - 1]) + len(lines[line - 1]) - len(lines[line - 1].lstrip())
    node = source.root.descendant_for_byte_range(start, start + 1)
    return node is not None and any(above.type == "try_statement" for above in ancestors(node))


def _lacks(source: Source | None, name: str, modules: Modules) -> bool:
    return source is not None and not _has(source, name, modules)


def _has(source: Source, name: str, modules: Modules) -> bool:
    if source.language is None or name == "default":
        return source.language is None or b"default" in source.content or b"module.exports" in source.content
    if source.kind in PYTHON and re.search(rb"^def __getattr__|^globals\(\)|^\s*exec\(", source.content, re.MULTILINE):
        return True
    if source.kind in SCRIPT and (b"module.exports" in source.content or b"exports." in source.content):
        return True
    if definitions(source, name) or any(_declares(node) for node in source.named(name)):
        return True
    return any(each.local in (name, "*") for each in bindings(source, modules))


def _declares(node: "Node") -> bool:
    """Every way in which a module can come to have a name: an assignment, a loop, a declaration, an export."""
    parent = node.parent
    if parent is None:
        return False
    kinds = {above.type for above, _ in zip(ancestors(node), range(5), strict=False)}
    if kinds & {"export_specifier", "enum_declaration", "ambient_declaration", "type_alias_statement", "with_item"}:
        return True
    if "assignment" in kinds:
        whole = next(above for above in ancestors(node) if above.type == "assignment")
        left = whole.child_by_field_name("left")
        return left is not None and left.start_byte <= node.start_byte < left.end_byte
    return bool(kinds & {"object_pattern", "array_pattern"}) or text(parent).startswith("for ")
