"""Review rules on the syntax tree: syntax errors, debugging leftovers, hidden errors."""

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from tools.code.languages import parser, words
from tools.code.review import ReviewedFile, ReviewFinding, Rule, Severity
from tools.code.source import SourceText, line_of, text_of
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
    from tree_sitter import QueryCursor

    assert source.language is not None
    query = _query(source.language.module, source.language.function)
    found = QueryCursor(query).captures(source.root).get("node", []) if query is not None else []
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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(file.content)
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
