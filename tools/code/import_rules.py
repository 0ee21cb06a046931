"""Review rule: imports of project modules that do not exist, or that lack the imported name."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tools.code.definitions import find_definitions
from tools.code.modules import Modules
from tools.code.project import ResolvedImport, resolve_imports
from tools.code.review import ReviewedFile, ReviewFinding
from tools.code.source import SourceText, ancestors, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_ASSET = re.compile(r"\.(css|scss|sass|less|svg|png|jpe?g|gif|webp|json|md|txt|html|wasm|vue|svelte)(\?.*)?$")


def imported_files(file: ReviewedFile, modules: Modules) -> list[str]:
    """Return the files that the import rules need to read."""
    return [each.file for each in file.imports(modules) if each.file is not None and each.name not in (None, "*")]


def check_imports(file: ReviewedFile, modules: Modules, others: Mapping[str, SourceText]) -> list[ReviewFinding]:
    source = file.source
    found = []
    for each in file.imports(modules):
        if not file.counts(each.line) or _guarded(source, each.line):
            continue
        if each.file is None:
            if missing := _missing(each, source, modules):
                message = f"`{each.module}` is imported, but there is no file {missing}."
                fix = "correct the name, or add the file."
                found.append(ReviewFinding(file.path, each.line, "error", message, fix, "import", missing))
        elif each.name and each.name != "*" and _lacks(others.get(each.file), each.name, modules):
            message = f"`{each.name}` is imported from `{each.file}`, which does not define it."
            fix = "correct the name, or define it there."
            found.append(ReviewFinding(file.path, each.line, "error", message, fix, "import"))
    return found


def _missing(binding: ResolvedImport, source: SourceText, modules: Modules) -> str:
    """Return the missing file, or empty if the module may come from outside the project."""
    if source.family == "script":
        relative = binding.module.startswith(".")
        return binding.module if relative and not _ASSET.search(binding.module) else ""
    module = binding.module
    if module.startswith("."):
        return "" if _is_folder(source.path, module, modules) else module
    top = module.partition(".")[0]
    package = modules.python(top, source.path)
    # `package.name` may be a name that the package itself defines.
    if package is None or not package.endswith("__init__.py") or "." not in module:
        return ""
    folder = package.removesuffix("__init__.py") + "/".join(module.split(".")[1:])
    return "" if modules.holds(folder) else f"{folder}.py"


def _is_folder(importer: str, module: str, modules: Modules) -> bool:
    """Whether a relative import means a package without an `__init__`."""
    level = len(module) - len(module.lstrip("."))
    folder = importer.split("/")[:-level]
    rest = [part for part in module[level:].split(".") if part]
    return modules.holds("/".join([*folder, *rest]))


def _guarded(source: SourceText, line: int) -> bool:
    """Whether the import is inside a `try` and may fail."""
    lines = source.text.split(b"\n", line)
    start = sum(len(each) + 1 for each in lines[: line - 1]) + len(lines[line - 1]) - len(lines[line - 1].lstrip())
    node = source.root.descendant_for_byte_range(start, start + 1)
    return node is not None and any(above.type == "try_statement" for above in ancestors(node))


def _lacks(source: SourceText | None, name: str, modules: Modules) -> bool:
    return source is not None and not _has(source, name, modules)


def _has(source: SourceText, name: str, modules: Modules) -> bool:
    if source.language is None or name == "default":
        return source.language is None or b"default" in source.content or b"module.exports" in source.content
    if source.family == "python":
        # Every module has names such as __doc__ and __file__.
        is_special = name.startswith("__") and name.endswith("__")
        if is_special or re.search(rb"^def __getattr__|^globals\(\)|^[ \t]*exec\(", source.content, re.MULTILINE):
            return True
    if source.family == "script" and (b"module.exports" in source.content or b"exports." in source.content):
        return True
    if find_definitions(source, name) or any(_declares(node) for node in source.named(name)):
        return True
    return any(each.local in (name, "*") for each in resolve_imports(source, modules))


def _declares(node: "Node") -> bool:
    """Whether an assignment, a loop, a declaration or an export gives the module this name."""
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
    return bool(kinds & {"object_pattern", "array_pattern"}) or text_of(parent).startswith("for ")
