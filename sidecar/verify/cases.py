"""Finds the tests in a file, and whether each can fail at all, without running anything."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tools.code.languages import language_of, parse
from tools.code.source import descendants, text_of
from tools.parsed import parse_python

if TYPE_CHECKING:
    from tree_sitter import Node

_SIZE = 1 << 18
_SCRIPT_TEST = re.compile(r"^(?:it|test|xit|xtest|fit)(?:\.(\w+))*$")
_SCRIPT_ASSERTS = re.compile(
    r"\bexpect\w*\s*[.(]|\bassert\w*\b|\.should\b|\bshould\(|\bfail\(|\bthrow\b|\bt\.(?!log|plan|end)\w+\(|\b(?:check|verify|ensure)\w*\("
)
_SCRIPT_TRIVIAL = re.compile(r"\bexpect\(\s*(true|1)\s*\)\s*\.\w+\(\s*(true|1)?\s*\)|\bassert(?:\.ok)?\(\s*true\s*\)")
_GO_ASSERTS = re.compile(
    r"\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt|cmp)\.|\bpanic\(|\b(?:check|verify|must|assert)\w*\(", re.I
)
_RUST_ASSERTS = re.compile(
    r"assert\w*!|panic!|unreachable!|\.unwrap\w*\(|\.expect\w*\(|\?\s*[;)]|should_panic|\b(?:check|verify|assert)\w*\("
)
_RUST_TRIVIAL = re.compile(r"assert!\(\s*true\s*\)\s*;?")


#: A call with such a name counts as an assertion: a false alarm on a good test is worse than a bad test that passes.
_ASSERTS = re.compile(r"assert|expect|raises|warns|^fail|fail$|check|verify|ensure|should|must|compare|match", re.I)
_SKIPS = re.compile(r"\b(?:skip|skipif|xfail|skipTest|expectedFailure)\b|\bskip(?:If|Unless)\b")
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Case(NamedTuple):
    """A test by its name in the file. `text` is its body without layout."""

    name: str
    line: int
    asserts: bool
    skipped: bool
    text: str


@lru_cache(maxsize=128)
def find_cases(path: str, content: bytes | None) -> Mapping[str, Case]:
    """The tests by name; none if the file has no tests, doesn't parse, or is in an unknown language."""
    language = language_of(path)
    if content is None or language is None or len(content) > _SIZE:
        return {}
    if language.name == "Python":
        found = _python(content)
    elif language.name in ("JavaScript", "TypeScript", "TSX", "Go", "Rust"):
        root = parse(language, content).root
        read = {"Go": _go, "Rust": _rust}.get(language.name, _script)
        found = list(read(root))
    else:
        found = []
    return {case.name: case for case in found}


def _script(root: "Node") -> Iterator[Case]:
    for node in descendants(root):
        if node.type != "call_expression" or (called := node.child_by_field_name("function")) is None:
            continue
        word = text_of(called)
        given = node.child_by_field_name("arguments")
        if not _SCRIPT_TEST.match(word) or given is None or not given.named_children:
            continue
        first, *rest = given.named_children
        if first.type not in ("string", "template_string"):
            continue
        body = " ".join(text_of(each) for each in rest)
        skipped = bool(re.search(r"\.(skip|todo)\b|^x", word)) or not rest
        asserts = _SCRIPT_ASSERTS.search(_SCRIPT_TRIVIAL.sub("", body)) is not None
        yield Case(text_of(first).strip("'\"`"), node.start_point[0] + 1, asserts, skipped, _one_line(body))


def _go(root: "Node") -> Iterator[Case]:
    for node in root.named_children:
        name = node.child_by_field_name("name") if node.type == "function_declaration" else None
        if name is None or not re.match(r"Test(?![a-z])", text_of(name)) or text_of(name) == "TestMain":
            continue
        body = text_of(node.child_by_field_name("body"))
        skipped = re.search(r"^\{\s*\w+\.Skip", body) is not None
        yield Case(text_of(name), node.start_point[0] + 1, bool(_GO_ASSERTS.search(body)), skipped, _one_line(body))


def _rust(root: "Node") -> Iterator[Case]:
    attributes = ""
    for node in descendants(root):
        if node.type == "attribute_item":
            attributes += text_of(node)
            continue
        if node.type == "function_item" and re.search(r"\btest\b", attributes):
            body = attributes + text_of(node.child_by_field_name("body"))
            asserts = _RUST_ASSERTS.search(_RUST_TRIVIAL.sub("", body)) is not None
            name = text_of(node.child_by_field_name("name"))
            yield Case(name, node.start_point[0] + 1, asserts, "ignore" in attributes, _one_line(body))
        if node.type in ("function_item", "mod_item", "struct_item", "impl_item", "use_declaration"):
            attributes = ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _python(content: bytes) -> list[Case]:
    """The tests that pytest and unittest would find."""
    try:
        tree = parse_python(content)
    except (SyntaxError, ValueError):
        return []
    helpers, lines = _asserting_helpers(tree), content.decode("utf-8", "replace").splitlines()
    whole = any(_skips(node) for node in tree.body if isinstance(node, ast.Assign) and _assigns(node, "pytestmark"))
    return [
        Case(
            f"{prefix}{node.name}",
            node.lineno,
            _asserts(node, helpers),
            whole or skipped or _skipped(node),
            _body_text(node, lines),
        )
        for prefix, node, skipped in _python_tests(tree.body, "", False)
    ]


def _python_tests(
    body: list[ast.stmt], prefix: str, skipped: bool
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    for node in body:
        if isinstance(node, _Function) and node.name.startswith("test"):
            yield prefix, node, skipped
        elif isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or _is_test_case(node)):
            off = skipped or any(_skips(each) for each in node.decorator_list)
            yield from _python_tests(node.body, f"{prefix}{node.name}::", off)


def _is_test_case(node: ast.ClassDef) -> bool:
    return any("Test" in ast.unparse(base) for base in node.bases)


def _assigns(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def _skips(node: ast.AST) -> bool:
    return _SKIPS.search(ast.unparse(node)) is not None


def _skipped(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """By a decorator, or by its first statement."""
    if any(_skips(each) for each in node.decorator_list):
        return True
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    first = body[0] if body else None
    return (isinstance(first, ast.Raise) or (isinstance(first, ast.Expr) and isinstance(first.value, ast.Call))) and (
        _skips(first)
    )


def _body_text(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """The body without indentation and comments. Unparsing the tree would take many times as long."""
    first, last = node.body[0].lineno - 1, node.body[-1].end_lineno
    return "\n".join(line.strip() for line in lines[first:last] if not line.lstrip().startswith("#"))


def _asserting_helpers(tree: ast.Module) -> frozenset[str]:
    """Functions of the file that assert; a test that calls one asserts too."""
    owners: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    return frozenset(
        node.name
        for owner in owners
        for node in owner.body
        if isinstance(node, _Function) and not node.name.startswith("test") and _asserts(node, frozenset())
    )


def _asserts(node: ast.AST, helpers: frozenset[str]) -> bool:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Try) and any(_swallows(handler) for handler in child.handlers):
            rest = [*child.handlers, *child.orelse, *child.finalbody]
            if any(_asserts(each, helpers) for each in rest):
                return True
            continue
        if isinstance(child, ast.Assert) and not _always_true(child.test):
            return True
        if isinstance(child, ast.Raise) or (isinstance(child, ast.Call) and _is_assertion(child, helpers)):
            return True
        if _asserts(child, helpers):
            return True
    return False


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a failed assertion inside the `try` is silently dropped here."""
    caught = "" if handler.type is None else ast.unparse(handler.type)
    broad = handler.type is None or re.search(r"\b(?:AssertionError|Exception|BaseException)\b", caught) is not None
    return broad and all(isinstance(each, ast.Pass | ast.Continue) or _is_text(each) for each in handler.body)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_assertion(call: ast.Call, helpers: frozenset[str]) -> bool:
    function = call.func
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    if name in helpers:
        return True
    if not _ASSERTS.search(name) or _SKIPS.search(name):
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return not given or not all(isinstance(each, ast.Constant) for each in given) or name in ("fail", "match")


def _always_true(test: ast.expr) -> bool:
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Tuple):
        return bool(test.elts)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return isinstance(test.operand, ast.Constant) and not test.operand.value
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(_always_true(each) for each in test.values)
    if isinstance(test, ast.BoolOp):
        return all(_always_true(each) for each in test.values)
    if isinstance(test, ast.Compare) and len(test.comparators) == 1:
        left, right = test.left, test.comparators[0]
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            return True
        return isinstance(test.ops[0], ast.Eq | ast.Is) and ast.dump(left) == ast.dump(right)
    return False
