"""Rules about what a program does: syntax errors, what was left from looking for a fault, what hides one."""

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from tools.code.files import is_test
from tools.code.languages import parser
from tools.code.outline import error_lines, readable
from tools.code.review import Finding, Severity, Subject
from tools.code.source import PYTHON, SCRIPT, Source, text

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_CALLS: dict[str, tuple[Severity, str, str]] = {
    "breakpoint": ("warning", "A breakpoint was left here.", "delete it."),
    "pdb.set_trace": ("warning", "A breakpoint was left here.", "delete it."),
    "ipdb.set_trace": ("warning", "A breakpoint was left here.", "delete it."),
    "console.log": ("warning", "A console.log was left here.", "delete it, or use the project's log."),
    "console.debug": ("warning", "A console.debug was left here.", "delete it, or use the project's log."),
    "print": ("hint", "A print was left here.", "delete it if it was for looking for a fault, or use logging."),
    "eval": ("warning", "eval runs whatever it is given.", "read the value without running it."),
}
_ONLY = re.compile(r"^(?:it|test|describe)\.only$|^f(?:it|describe)$")
_SPEAKS = re.compile(
    r"(^|/)(cli|__main__|main|manage|setup|conftest)\.py$|(^|/)(scripts?|bin|tools|examples?|commands)/"
)
_LATER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_KINDS = (
    "call",
    "call_expression",
    "except_clause",
    "catch_clause",
    "debugger_statement",
    "default_parameter",
    "typed_default_parameter",
    "macro_invocation",
    "comment",
    "line_comment",
    "block_comment",
)


def tree_rules(subject: Subject) -> list[Finding]:
    source = subject.source
    if source.language is None:
        return []
    found = _syntax(subject, source)
    for node in _worth_a_look(source):
        line = node.start_point[0] + 1
        if subject.counts(line):
            found += [Finding(subject.path, line, *each) for each in _about(node, source)]
    return found


def _worth_a_look(source: Source) -> "list[Node]":
    """The nodes that a rule is about, found by the grammar itself: walking over all of them would take seconds."""
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
    known = [kind for kind in _KINDS if grammar.id_for_node_kind(kind, True) is not None]
    return Query(grammar, " ".join(f"({kind}) @node" for kind in known)) if known else None


def _syntax(subject: Subject, source: Source) -> list[Finding]:
    if not source.root.has_error:
        return []
    errors = error_lines(Source(subject.path, readable(subject.content)).root)
    if not errors:
        return []
    line, message = errors[0], "There is a syntax error here."
    if source.kind in PYTHON:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(subject.content)
            return []  # Python itself knows better than the grammar
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or line
            message = f"There is a syntax error here: {getattr(error, 'msg', error)}."
    within = subject.counts(line) or any(subject.counts(each) for each in errors)
    severity: Severity = "error" if within else "warning"
    return [Finding(subject.path, line, severity, message, "correct it; the file cannot be read as it is.")]


def _about(node: "Node", source: Source) -> Iterator[tuple[Severity, str, str]]:
    kind = node.type
    if kind in ("call", "call_expression"):
        yield from _call(node, source)
    elif kind == "except_clause":
        yield from _except(node)
    elif kind == "catch_clause" and source.kind in SCRIPT:
        body = node.child_by_field_name("body")
        if body is not None and not body.named_children:
            yield "hint", "An error is caught here and nobody hears of it.", "handle it, or say why it does not matter."
    elif "comment" in kind and (later := _LATER.search(text(node))):
        yield _left(node, later)
    elif kind == "debugger_statement":
        yield "warning", "A debugger statement was left here.", "delete it."
    elif kind in ("default_parameter", "typed_default_parameter"):
        value = node.child_by_field_name("value")
        if value is not None and value.type in ("list", "dictionary", "set"):
            message = "This default is made once and shared by all calls."
            yield "warning", message, "use None, and make a new one in the function."
    elif kind == "macro_invocation" and text(node.child_by_field_name("macro")) == "dbg":
        yield "warning", "A dbg! was left here.", "delete it."


def _call(node: "Node", source: Source) -> Iterator[tuple[Severity, str, str]]:
    name = text(node.child_by_field_name("function"))
    if _ONLY.match(name) and source.kind in SCRIPT and is_test(source.path):
        yield "warning", f"{name} keeps all other tests from running.", "take the .only away."
        return
    if name not in _CALLS or (name in ("breakpoint", "print") and source.kind not in PYTHON):
        return
    if name in ("print", "console.log") and _is_spoken(source):
        return
    yield _CALLS[name]


def _is_spoken(source: Source) -> bool:
    """Whether a file is there to write to a terminal."""
    script = source.content.startswith(b"#!") or b"__main__" in source.content
    return script or bool(_SPEAKS.search(source.path)) or is_test(source.path)


def _except(node: "Node") -> Iterator[tuple[Severity, str, str]]:
    caught = [child for child in node.named_children if child.type not in ("block", "comment")]
    body = next((child for child in node.named_children if child.type == "block"), None)
    passes = body is not None and [child.type for child in body.named_children] == ["pass_statement"]
    if not caught:
        message = "A bare except also catches the signal that ends the program."
        yield "warning", message, "name the exceptions that are meant."
    elif passes and text(caught[0]).partition(" ")[0] in ("Exception", "BaseException"):
        message = "Every error is caught here and nobody hears of it."
        yield "warning", message, "name the exception that is meant, or log it."


def _left(comment: "Node", later: re.Match[str]) -> tuple[Severity, str, str]:
    said = text(comment)[later.start() :].splitlines()[0].rstrip(" */->")[:80]
    return "hint", f"Something is left for later: “{said}”.", "do it, or note it where such things are kept."
