"""Cuts a file into chunks: one for each definition, section or block of other lines."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tools.code.definitions import holds_code
from tools.code.languages import SUFFIXES, Language
from tools.code.source import SourceText, captures, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_BLOCK_LINES = 60
_GAP_LINES = 20
_MAX_CHUNKS = 4_000
_LONGEST_NAME = 100
_TYPES = frozenset(("class", "struct", "interface", "trait", "module", "namespace", "enum", "record"))
_FUNCTIONS = frozenset(("function", "method", "constructor"))
_COMMENTS = frozenset(("comment", "line_comment", "block_comment"))
#: Statements around a definition; the comment above them documents it.
_WRAPPERS = frozenset(
    ("decorated_definition", "export_statement", "lexical_declaration", "variable_declaration", "type_declaration")
)
#: Definitions that aren't in `Language.definitions`, which other tools read.
_MORE = {
    "JavaScript": {"field_definition": "method", "pair": "method"},
    "TypeScript": {"public_field_definition": "method", "pair": "method"},
    "TSX": {"public_field_definition": "method", "pair": "method"},
}
_CODE_VALUES = frozenset(("arrow_function", "function_expression", "generator_function", "function"))
_RECEIVER = re.compile(r"\(\s{0,50}(?:\w+\s{1,50})?\*?\s{0,50}(?:\w+\.)?(\w+)")
_HEADING = re.compile(r"^#{1,6}\s+(\S.*)$")
_UNDERLINE = re.compile(r"^([=\-~^\"'#*+.`:_])\1{2,}\s*$")


class Chunk(NamedTuple):
    line: int
    end_line: int
    #: Qualified name; empty for a block without one.
    symbol: str
    kind: str
    #: Comments and docstrings that belong to it.
    doc: str
    text: str
    complexity: int = 0


class Called(NamedTuple):
    line: int
    name: str


class FileFacts(NamedTuple):
    chunks: list[Chunk]
    calls: list[Called]
    #: Import statements, as syntax nodes; they live as long as the source.
    imports: "list[Node]"


def cut(source: SourceText) -> FileFacts:
    if source.language is not None:
        return _cut_code(source, source.language)
    lines = source.text.decode("utf-8", "replace").split("\n")
    if source.path.endswith((".md", ".mdx", ".markdown", ".rst")):
        return FileFacts(list(_sections(lines))[:_MAX_CHUNKS], [], [])
    return FileFacts(list(_blocks(lines, range(1, len(lines) + 1), "text"))[:_MAX_CHUNKS], [], [])


# -- code ------------------------------------------------------------------------------------------------------------


@cache
def _query(name: str) -> "Query":
    """The query for everything we need to know of a file, by the name of its language."""
    from importlib import import_module

    from tree_sitter import Language as Grammar
    from tree_sitter import Query

    language = next(each for each in SUFFIXES.values() if each.name == name)
    grammar = Grammar(getattr(import_module(language.module), language.function)())

    def known(kinds: Iterable[str]) -> list[str]:
        """C and Java share a list of branches, and neither has all of them."""
        return [kind for kind in kinds if grammar.id_for_node_kind(kind, True) is not None]

    patterns = [f"({kind}) @definition" for kind in known((*language.definitions, *_MORE.get(language.name, ())))]
    patterns += [f"({kind}) @import" for kind in known(language.imports)]
    patterns += [f"({kind} {language.calls[kind]}: (_) @call)" for kind in known(language.calls)]
    patterns += [f"({kind}) @branch" for kind in known(language.branches)]
    if language.name in ("JavaScript", "TypeScript", "TSX"):
        patterns += ["(export_statement source: (string)) @import", "(call_expression function: (import)) @import"]
        patterns += ['((call_expression function: (identifier) @_name) @import (#eq? @_name "require"))']
    if language.name == "Rust":
        patterns += ["(impl_item) @scope", "(mod_item !body) @import"]
    return Query(grammar, "\n".join(patterns))


class _Definition(NamedTuple):
    node: "Node"
    name: str
    kind: str


def _cut_code(source: SourceText, language: Language) -> FileFacts:
    found = captures(_query(language.name), source)
    definitions = [each for node in found.get("definition", ()) if (each := _definition(node, language))]
    definitions.sort(key=lambda each: (each.node.start_byte, -each.node.end_byte))
    scopes = [(node.start_byte, node.end_byte, _impl_name(node)) for node in found.get("scope", ())]
    branches = sorted(node.start_byte for node in found.get("branch", ()))
    lines = source.text.decode("utf-8", "replace").split("\n")
    chunks: list[Chunk] = []
    covered = bytearray(len(lines) + 2)
    open_: list[tuple[int, str, str]] = []
    for place, each in enumerate(definitions[:_MAX_CHUNKS]):
        node = each.node
        while open_ and open_[-1][0] <= node.start_byte:
            open_.pop()
        parent = open_[-1][1] if open_ else next((s[2] for s in scopes if s[0] <= node.start_byte < s[1]), "")
        name = f"{parent}.{each.name}" if parent else each.name
        in_type = (open_ and open_[-1][2] in _TYPES) or (not open_ and parent)
        kind = "method" if each.kind == "function" and in_type else each.kind
        if language.name == "Go" and kind == "method" and (owner := node.child_by_field_name("receiver")):
            receiver = _RECEIVER.match(text_of(owner))
            name = f"{receiver[1]}.{each.name}" if receiver else name
        open_.append((node.end_byte, name, each.kind))
        chunks.append(_code_chunk(node, name, kind, definitions, place, lines, covered, branches))
    text = source.text
    # The captures of a query come in any order.
    calls = [Called(node.start_point[0] + 1, name) for node in found.get("call", ()) if (name := _called(node, text))]
    calls.sort()
    imports = sorted(found.get("import", ()), key=lambda node: node.start_byte)
    rest = [number for number in range(1, len(lines) + 1) if not covered[number] and lines[number - 1].strip()]
    chunks += _blocks(lines, rest, "block")
    return FileFacts(chunks, calls, imports)


def _definition(node: "Node", language: Language) -> _Definition | None:
    kind = language.definitions.get(node.type)
    if kind is None:
        value = node.child_by_field_name("value")
        name = (
            node.child_by_field_name("name") or node.child_by_field_name("key") or node.child_by_field_name("property")
        )
        if value is None or value.type not in _CODE_VALUES or name is None:
            return None
        return _Definition(node, text_of(name).strip("\"'")[:200], "method")
    if not holds_code(node):
        return None
    name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    while name is not None and (inner := name.child_by_field_name("declarator")) is not None:
        name = inner
    text = text_of(name)[:200]
    return _Definition(node, text, "function" if kind == "variable" else kind) if text else None


def _impl_name(node: "Node") -> str:
    found = re.match(r"\w+", text_of(node.child_by_field_name("type")))
    return found[0] if found else ""


def _code_chunk(
    node: "Node",
    name: str,
    kind: str,
    definitions: Sequence[_Definition],
    place: int,
    lines: Sequence[str],
    covered: bytearray,
    branches: Sequence[int],
) -> Chunk:
    first, last = line_of(node), node.end_point[0] + 1
    top = _top(node)
    doc = [text_of(each) for each in _comments_above(top)]
    start = first - sum(text.count("\n") + 1 for text in doc)
    covered[max(1, start) : last + 1] = b"\1" * (last + 1 - max(1, start))
    if (string := _docstring(node)) is not None:
        doc.append(text_of(string))
    if kind in _TYPES:
        # The methods are chunks of their own.
        text = "\n".join(lines[number - 1] for number in _own_lines(definitions, place, first, last))
    else:
        text = "\n".join(lines[first - 1 : last])
    complexity = bisect_left(branches, node.end_byte) - bisect_left(branches, node.start_byte) + 1
    return Chunk(first, last, name, kind, "\n".join(doc), text, complexity if kind in _FUNCTIONS else 0)


def _own_lines(definitions: Sequence[_Definition], place: int, first: int, last: int) -> Iterator[int]:
    """The lines of a type outside of the definitions in it, but with their first lines."""
    number, end = first, definitions[place].node.end_byte
    for inner in definitions[place + 1 :]:
        if inner.node.start_byte >= end:
            break
        begins = line_of(inner.node)
        if begins < number:
            continue
        yield from range(number, begins + 1)
        number = inner.node.end_point[0] + 2
    yield from range(number, last + 1)


def _top(node: "Node") -> "Node":
    while node.parent is not None and node.parent.type in _WRAPPERS:
        node = node.parent
    return node


def _comments_above(node: "Node") -> list["Node"]:
    found: list[Node] = []
    line, above = node.start_point[0], node.prev_named_sibling
    while above is not None and above.type in _COMMENTS and above.end_point[0] >= line - 1 - (above.end_point[1] == 0):
        if (before := above.prev_named_sibling) is not None and before.end_point[0] == above.start_point[0]:
            break  # a comment behind a statement
        found.append(above)
        line, above = above.start_point[0], before
    return found[::-1]


def _docstring(node: "Node") -> "Node | None":
    if node.type not in ("function_definition", "class_definition"):
        return None
    body = node.child_by_field_name("body")
    first = body.named_child(0) if body is not None and body.named_child_count else None
    if first is not None and first.type == "expression_statement" and first.named_child_count:
        first = first.named_child(0)
    return first if first is not None and first.type == "string" else None


@lru_cache(5_000)
def _identifier(text: bytes) -> str:
    name = text.decode("utf-8", "replace")
    return name if name.isidentifier() else ""


def _called(node: "Node", source: bytes) -> str:
    """The last part of what is called: `c` of `a.b.c()`."""
    start, end = node.start_byte, node.end_byte
    # Most calls end with a dot and the name; asking the tree takes several times as long.
    text = source[max(start, end - _LONGEST_NAME - 1) : end].rpartition(b".")
    if (text[1] or end - start <= _LONGEST_NAME) and (name := _identifier(text[2])):
        return name
    found = node
    if node.child_count:
        named = (node.child_by_field_name(field) for field in ("attribute", "property", "field", "name"))
        found = next(filter(None, named), node)
    name = text_of(found)
    return name if name.isidentifier() and len(name) <= _LONGEST_NAME else ""


# -- text ------------------------------------------------------------------------------------------------------------


def _sections(lines: Sequence[str]) -> Iterator[Chunk]:
    """The sections of Markdown or reStructuredText, long ones in blocks."""
    start, title, fenced = 1, "", False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        heading = None if fenced else _HEADING.match(line)
        below = lines[number] if number < len(lines) else ""
        underlined = not fenced and line.strip() and _UNDERLINE.match(below) and len(below) >= len(line.rstrip()) - 1
        if heading or underlined:
            yield from _blocks(lines, range(start, number), "section", title)
            start, title = number, (heading[1] if heading else line).strip(" #")[:200]
    yield from _blocks(lines, range(start, len(lines) + 1), "section", title)


def _blocks(lines: Sequence[str], numbers: Sequence[int], kind: str, title: str = "") -> Iterator[Chunk]:
    """Blocks of the given lines, cut where many lines between them belong to other chunks."""
    part: list[int] = []
    for number in numbers:
        if part and (len(part) >= _BLOCK_LINES or number > part[-1] + _GAP_LINES):
            yield from _block(lines, part, kind, title)
            part = []
        part.append(number)
    yield from _block(lines, part, kind, title)


def _block(lines: Sequence[str], part: Sequence[int], kind: str, title: str) -> Iterator[Chunk]:
    text = "\n".join(lines[number - 1] for number in part)
    if text.strip():
        yield Chunk(part[0], part[-1], title, kind, "", text)
