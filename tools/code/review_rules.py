"""Review rules on the syntax tree: syntax errors, leftovers, hidden errors, imports of what does not exist."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from tools.code.definitions import find_definitions
from tools.code.languages import parser, words
from tools.code.modules import Modules
from tools.code.project import ResolvedImport, resolve_imports
from tools.code.review import ReviewedFile, ReviewFinding, Rule, Severity
from tools.code.source import SourceText, ancestors, captures, line_of, text_of
from tools.parsed import parse_python
from tools.test_files import is_test

if TYPE_CHECKING:
    from tree_sitter import Node, Query

#: Severity, message, fix and rule.
RuleHit = tuple[Severity, str, str, Rule]
_CALLS: dict[str, RuleHit] = {
    "breakpoint": ("warning", "A breakpoint was left here.", "delete it.", "debug"),
    "pdb.set_trace": ("warning", "A breakpoint was left here.", "delete it.", "debug"),
    "ipdb.set_trace": ("warning", "A breakpoint was left here.", "delete it.", "debug"),
    "console.log": ("warning", "A console.log was left here.", "delete it, or use the project's log.", "debug"),
    "console.debug": ("warning", "A console.debug was left here.", "delete it, or use the project's log.", "debug"),
    "print": ("hint", "A print was left here.", "delete it if it was for debugging, or use logging.", "debug"),
    "eval": ("warning", "eval runs any code it is given.", "parse the value instead.", "style"),
}
_ONLY = re.compile(r"^(?:it|test|describe)\.only$|^f(?:it|describe)$")
_PRINTING = re.compile(
    r"(^|/)(cli|__main__|main|manage|setup|conftest)\.py$|(^|/)(scripts?|bin|tools|examples?|commands)/"
)
_LATER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_KINDS = words(
    "call call_expression except_clause catch_clause debugger_statement default_parameter typed_default_parameter "
    "macro_invocation comment line_comment block_comment"
)
_ASSET = re.compile(r"\.(css|scss|sass|less|svg|png|jpe?g|gif|webp|json|md|txt|html|wasm|vue|svelte)(\?.*)?$")


def check_tree(file: ReviewedFile) -> list[ReviewFinding]:
    source = file.source
    if source.language is None:
        return []
    found = _check_syntax(file, source)
    for node in _relevant_nodes(source):
        if file.counts(line_of(node)):
            found += [ReviewFinding(file.path, line_of(node), *each) for each in _check_node(node, source)]
    return found


def _relevant_nodes(source: SourceText) -> "list[Node]":
    """Return the nodes that rules check; a tree query is much faster than a walk."""
    assert source.language is not None
    query = _query(source.language.module, source.language.function)
    found = captures(query, source).get("node", []) if query is not None else []
    return sorted(found, key=lambda node: node.start_byte)


@cache
def _query(module: str, function: str) -> "Query | None":
    from tree_sitter import Query

    grammar = parser(module, function).language
    assert grammar is not None
    known = [kind for kind in sorted(_KINDS) if grammar.id_for_node_kind(kind, True) is not None]
    return Query(grammar, " ".join(f"({kind}) @node" for kind in known)) if known else None


def _check_syntax(file: ReviewedFile, source: SourceText) -> list[ReviewFinding]:
    errors = source.errors
    if not errors:
        return []
    line, message = errors[0], "There is a syntax error here."
    if source.family == "python":
        try:
            parse_python(file.content)
            return []  # newer than the grammar
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or line
            message = f"There is a syntax error here: {getattr(error, 'msg', error)}."
    within = file.counts(line) or any(file.counts(each) for each in errors)
    severity: Severity = "error" if within else "warning"
    return [ReviewFinding(file.path, line, severity, message, "correct it.", "syntax")]


def _check_node(node: "Node", source: SourceText) -> Iterator[RuleHit]:
    kind = node.type
    if kind in ("call", "call_expression"):
        yield from _check_call(node, source)
    elif kind == "except_clause":
        yield from _check_except(node)
    elif kind == "catch_clause" and source.family == "script":
        body = node.child_by_field_name("body")
        if body is not None and not body.named_children:
            yield "hint", "This hides an error.", "handle it, or say why it does not matter.", "style"
    elif "comment" in kind and (later := _LATER.search(text_of(node))):
        yield _open_task(node, later)
    elif kind == "debugger_statement":
        yield "warning", "A debugger statement was left here.", "delete it.", "debug"
    elif kind in ("default_parameter", "typed_default_parameter"):
        value = node.child_by_field_name("value")
        if value is not None and value.type in ("list", "dictionary", "set"):
            message = "All calls share this default value."
            yield "warning", message, "use None, and create the value in the function.", "style"
    elif kind == "macro_invocation" and text_of(node.child_by_field_name("macro")) == "dbg":
        yield "warning", "A dbg! was left here.", "delete it.", "debug"


def _check_call(node: "Node", source: SourceText) -> Iterator[RuleHit]:
    name = text_of(node.child_by_field_name("function"))
    if _ONLY.match(name) and source.family == "script" and is_test(source.path):
        yield "warning", f"{name} keeps all other tests from running.", "remove the .only.", "debug"
        return
    if name not in _CALLS or (name in ("breakpoint", "print") and source.family != "python"):
        return
    if name in ("print", "console.log") and _prints_by_design(source):
        return
    yield _CALLS[name]


def _prints_by_design(source: SourceText) -> bool:
    script = source.content.startswith(b"#!") or b"__main__" in source.content
    return script or bool(_PRINTING.search(source.path)) or is_test(source.path)


def _check_except(node: "Node") -> Iterator[RuleHit]:
    caught = [child for child in node.named_children if child.type not in ("block", "comment")]
    body = next((child for child in node.named_children if child.type == "block"), None)
    passes = body is not None and [child.type for child in body.named_children] == ["pass_statement"]
    if not caught:
        message = "A bare except also catches KeyboardInterrupt and SystemExit."
        yield "warning", message, "catch specific exceptions.", "style"
    elif passes and text_of(caught[0]).partition(" ")[0] in ("Exception", "BaseException"):
        message = "This hides every error."
        yield "warning", message, "catch a specific exception, or log it.", "style"


def _open_task(comment: "Node", later: re.Match[str]) -> RuleHit:
    task = text_of(comment)[later.start() :].splitlines()[0].rstrip(" */->")[:80]
    return "hint", f"Open task: “{task}”.", "do it, or move it to the issue tracker.", "todo"


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
