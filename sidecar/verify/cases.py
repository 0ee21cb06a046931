"""The tests that stand in a file: their names, and whether each can fail at all. Read from the text, nothing is run."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from sidecar.verify.python_cases import python_cases
from tools.code.languages import language_of, parser

if TYPE_CHECKING:
    from tree_sitter import Node

_SIZE = 1 << 18
_SCRIPT_TEST = re.compile(r"^(?:it|test|xit|xtest|fit)(?:\.(\w+))*$")
_SCRIPT_ASSERTS = re.compile(
    r"\bexpect\w*\s*[.(]|\bassert\w*\b|\.should\b|\bshould\(|\bfail\(|\bthrow\b|\bt\.(?!log|plan|end)\w+\(|\b(?:check|verify|ensure)\w*\("
)
_SCRIPT_NOTHING = re.compile(r"\bexpect\(\s*(true|1)\s*\)\s*\.\w+\(\s*(true|1)?\s*\)|\bassert(?:\.ok)?\(\s*true\s*\)")
_GO_ASSERTS = re.compile(
    r"\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt|cmp)\.|\bpanic\(|\b(?:check|verify|must|assert)\w*\(", re.I
)
_RUST_ASSERTS = re.compile(
    r"assert\w*!|panic!|unreachable!|\.unwrap\w*\(|\.expect\w*\(|\?\s*[;)]|should_panic|\b(?:check|verify|assert)\w*\("
)
_RUST_NOTHING = re.compile(r"assert!\(\s*true\s*\)\s*;?")


class Case(NamedTuple):
    """A test by the name that it has in its file. `text` is what it does, however it is called and laid out."""

    name: str
    line: int
    asserts: bool
    skipped: bool
    text: str


@lru_cache(maxsize=128)
def cases(path: str, content: bytes | None) -> Mapping[str, Case]:
    """Nothing for a file that holds no tests, cannot be read, or is written in a language that is not known."""
    language = language_of(path)
    if content is None or language is None or len(content) > _SIZE:
        return {}
    if language.name == "Python":
        found = [Case(*each) for each in python_cases(content)]
    elif language.name in ("JavaScript", "TypeScript", "TSX", "Go", "Rust"):
        root = parser(language.module, language.function).parse(content).root_node
        read = {"Go": _go, "Rust": _rust}.get(language.name, _script)
        found = list(read(root))
    else:
        found = []
    return {case.name: case for case in found}


def _script(root: "Node") -> Iterator[Case]:
    for node in _below(root):
        if node.type != "call_expression" or (called := node.child_by_field_name("function")) is None:
            continue
        word = _text(called)
        given = node.child_by_field_name("arguments")
        if not _SCRIPT_TEST.match(word) or given is None or not given.named_children:
            continue
        first, *rest = given.named_children
        if first.type not in ("string", "template_string"):
            continue
        body = " ".join(_text(each) for each in rest)
        skipped = bool(re.search(r"\.(skip|todo)\b|^x", word)) or not rest
        asserts = _SCRIPT_ASSERTS.search(_SCRIPT_NOTHING.sub("", body)) is not None
        yield Case(_text(first).strip("'\"`"), node.start_point[0] + 1, asserts, skipped, _plain(body))


def _go(root: "Node") -> Iterator[Case]:
    for node in root.named_children:
        name = node.child_by_field_name("name") if node.type == "function_declaration" else None
        if name is None or not re.match(r"Test(?![a-z])", _text(name)) or _text(name) == "TestMain":
            continue
        body = _text(node.child_by_field_name("body"))
        skipped = re.search(r"^\{\s*\w+\.Skip", body) is not None
        yield Case(_text(name), node.start_point[0] + 1, bool(_GO_ASSERTS.search(body)), skipped, _plain(body))


def _rust(root: "Node") -> Iterator[Case]:
    attributes = ""
    for node in _below(root):
        if node.type == "attribute_item":
            attributes += _text(node)
            continue
        if node.type == "function_item" and re.search(r"\btest\b", attributes):
            body = attributes + _text(node.child_by_field_name("body"))
            asserts = _RUST_ASSERTS.search(_RUST_NOTHING.sub("", body)) is not None
            name = _text(node.child_by_field_name("name"))
            yield Case(name, node.start_point[0] + 1, asserts, "ignore" in attributes, _plain(body))
        if node.type in ("function_item", "mod_item", "struct_item", "impl_item", "use_declaration"):
            attributes = ""


def _below(root: "Node") -> Iterator["Node"]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


def _text(node: "Node | None") -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _plain(text: str) -> str:
    return " ".join(text.split())
