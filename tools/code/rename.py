"""A symbol under a new name: the new content of every file that it is written in, or the reason why not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tools.code.collisions import check_collisions, check_name
from tools.code.edits import Edit, edited, line_at
from tools.code.finding import Refusal, found_symbol
from tools.code.places import places_of
from tools.code.project import Project
from tools.code.scopes import FileScopes
from tools.code.symbols import Found, Symbol, rewritten
from tools.code.tree import below, parsed

_TEXTS = frozenset({"string_content", "string_fragment", "comment", "jsx_text", "html_comment"})
_IMPORTS = frozenset({"import_statement", "export_statement", "import_require_clause"})


@dataclass(frozen=True, slots=True)
class Wish:
    symbol: str
    new: str
    path: str | None = None
    line: int | None = None
    #: Also whole words in strings and comments.
    strings: bool = False


class Renamed(NamedTuple):
    symbol: Symbol
    found: Found
    #: The new content of each file, byte order mark included.
    contents: dict[str, bytes]
    #: How many of the places stand in strings and comments.
    in_strings: int


def renamed(wish: Wish, project: Project) -> Renamed:
    symbol = found_symbol(wish.symbol, project, wish.path, wish.line)
    check_name(wish.new, project.files[symbol.path].source.family)
    if wish.new == symbol.name:
        raise Refusal("no_match", f"{symbol.name} has this name already; nothing was changed.")
    if symbol.name.startswith("#") != wish.new.startswith("#"):
        raise Refusal("invalid_name", "A private #name stays private: give a new name that begins with #.")
    found = places_of(symbol, project)
    check_collisions(symbol, found, wish.new, project)
    contents: dict[str, bytes] = {}
    in_strings = 0
    for path, file in sorted(project.files.items()):
        edits = rewritten(found.places.get(path, set()), symbol.name, wish.new)
        if wish.strings and (more := list(_in_texts(symbol, file, edits, wish.new))):
            in_strings += len(more)
            edits += more
        if edits:
            contents[path] = _changed(file, edits)
    return Renamed(symbol, found, contents, in_strings)


def _changed(file: FileScopes, edits: list[Edit]) -> bytes:
    content = file.source.bom + edited(file.source.text, edits)
    again = parsed(file.path, content)
    if again is None or again.errors:
        line = line_at(file.source.text, edits[0].start)
        raise Refusal(
            "would_break", f"{file.path}:{line} would no longer be valid with this name; nothing was changed."
        )
    return content


def _in_texts(symbol: Symbol, file: FileScopes, taken: list[Edit], new: str) -> Iterator[Edit]:
    """Whole words in strings and comments; those of a local name only within its scope, and never a module's path."""
    word = re.compile(rb"(?<![\w$])" + re.escape(symbol.name.encode()) + rb"(?![\w$])")
    region = file.source.root
    local = [binding.scope for binding in symbol.bindings if binding.scope.kind not in ("module", "class")]
    if local:
        if file.path != symbol.path:
            return
        region = local[0].node
    spans = {(edit.start, edit.end) for edit in taken}
    for node in below(region):
        if node.type not in _TEXTS or not node.text or _is_path(node):
            continue
        for match in word.finditer(node.text):
            span = (node.start_byte + match.start(), node.start_byte + match.end())
            if span not in spans:
                yield Edit(*span, new.encode())


def _is_path(node: object) -> bool:
    parent = getattr(node, "parent", None)
    around = getattr(parent, "parent", None)
    return getattr(around, "type", "") in _IMPORTS
