"""The tests of a Python file, as pytest and unittest would find them, and whether each can fail."""

import ast
import re
import warnings
from collections.abc import Iterator

#: A call by such a name is taken for one that can fail: better a test too many believed than one accused that is none.
_ASSERTS = re.compile(r"assert|expect|raises|warns|^fail|fail$|check|verify|ensure|should|must|compare|match", re.I)
_SKIPS = re.compile(r"\b(?:skip|skipif|xfail|skipTest|expectedFailure)\b|\bskip(?:If|Unless)\b")
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)

Found = tuple[str, int, bool, bool, str]


def python_cases(content: bytes) -> list[Found]:
    """Name, line, whether it asserts, whether it is skipped, and what it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []
    helpers, lines = _asserting_helpers(tree), content.decode("utf-8", "replace").splitlines()
    whole = any(_skips(node) for node in tree.body if isinstance(node, ast.Assign) and _named(node, "pytestmark"))
    return [
        (
            f"{prefix}{node.name}",
            node.lineno,
            _asserts(node, helpers),
            whole or skipped or _skipped(node),
            _does(node, lines),
        )
        for prefix, node, skipped in _tests(tree.body, "", False)
    ]


def _tests(
    body: list[ast.stmt], prefix: str, skipped: bool
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    for node in body:
        if isinstance(node, _Function) and node.name.startswith("test"):
            yield prefix, node, skipped
        elif isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or _is_test_case(node)):
            off = skipped or any(_skips(each) for each in node.decorator_list)
            yield from _tests(node.body, f"{prefix}{node.name}::", off)


def _is_test_case(node: ast.ClassDef) -> bool:
    return any("Test" in ast.unparse(base) for base in node.bases)


def _named(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def _skips(node: ast.AST) -> bool:
    return _SKIPS.search(ast.unparse(node)) is not None


def _skipped(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """By a mark, or because it says so before it does anything."""
    if any(_skips(each) for each in node.decorator_list):
        return True
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    first = body[0] if body else None
    return (isinstance(first, ast.Raise) or (isinstance(first, ast.Expr) and isinstance(first.value, ast.Call))) and (
        _skips(first)
    )


def _does(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """What stands in it, however it is indented. To write it anew from the tree would take many times as long."""
    first, last = node.body[0].lineno - 1, node.body[-1].end_lineno
    return "\n".join(line.strip() for line in lines[first:last] if not line.lstrip().startswith("#"))


def _asserting_helpers(tree: ast.Module) -> frozenset[str]:
    """Functions of the file that themselves assert; a test that calls one asserts too."""
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
        if isinstance(child, ast.Raise) or (isinstance(child, ast.Call) and _asserting_call(child, helpers)):
            return True
        if _asserts(child, helpers):
            return True
    return False


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a failed assertion inside ends here, without a word."""
    caught = "" if handler.type is None else ast.unparse(handler.type)
    broad = handler.type is None or re.search(r"\b(?:AssertionError|Exception|BaseException)\b", caught) is not None
    return broad and all(isinstance(each, ast.Pass | ast.Continue) or _is_text(each) for each in handler.body)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _asserting_call(call: ast.Call, helpers: frozenset[str]) -> bool:
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
