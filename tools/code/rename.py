"""Rename a symbol: the new content of every file that writes it, or the reason for a refusal."""

import keyword
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from tools.code.classes import ClassIndex
from tools.code.edits import ByteEdit, apply_edits, line_at
from tools.code.mentions import DocumentedNames, is_document
from tools.code.project import Project, Refusal
from tools.code.references import find_references
from tools.code.scopes import Binding, ClassKey, FileScopes, Scope
from tools.code.source import Family, SourceText, descendants
from tools.code.symbol_lookup import find_counterparts, find_symbol
from tools.code.symbols import Reference, References, Symbol
from tools.test_files import is_collected_by_name

if TYPE_CHECKING:
    from tree_sitter import Node

#: Files of other languages whose code may use the symbol.
OTHER_CODE = tuple(
    ".vue .svelte .astro .mdx .ipynb .html .htm .jinja .jinja2 .j2 .mako .pyx .pxd .hbs .ejs .twig .coffee .rpy".split()  # noqa: SIM905
)
_TEXTS = frozenset({"string_content", "string_fragment", "comment", "jsx_text", "html_comment"})
_IMPORTS = frozenset({"import_statement", "export_statement", "import_require_clause"})


@dataclass(frozen=True, slots=True)
class RenameRequest:
    symbol: str
    new: str
    path: str | None = None
    line: int | None = None
    #: Also rename whole words in strings and comments.
    strings: bool = False
    #: Also rename the places that probably mean the symbol.
    likely: bool = False


class RenameResult(NamedTuple):
    symbol: Symbol
    references: References
    #: Renamed places in code.
    places: int
    #: The new content of each file, byte order mark included.
    contents: dict[str, bytes]
    #: Renamed places in strings and comments.
    in_strings: int
    #: Renamed places in documents.
    in_documents: int
    #: Words in strings, comments and documents that stay.
    mentions: list[tuple[str, int]]


def plan_rename(wish: RenameRequest, project: Project, texts: Mapping[str, bytes] | None = None) -> RenameResult:
    """`texts` are the documents and settings files that hold the name."""
    symbol = find_symbol(wish.symbol, project, wish.path, wish.line)
    wish = replace(wish, new=_last_part(wish.new, symbol))
    _check_name(wish.new, project.files[symbol.path].source.family)
    if wish.new == symbol.name:
        raise Refusal("no_match", f"{symbol.name} already has this name; nothing was changed.")
    if symbol.name.startswith("#") != wish.new.startswith("#"):
        raise Refusal("invalid_name", "A private #name stays private: give a new name that begins with #.")
    texts = texts or {}
    scripts = {path: text for path, text in texts.items() if not is_document(path) and not path.endswith(OTHER_CODE)}
    found = find_references(symbol, project, texts=scripts)
    for counterpart in find_counterparts(symbol, project):
        found.include(find_references(counterpart, project, texts=scripts))
    _check_collisions(symbol, found, wish.new, project)
    if _loses_tests(symbol, wish.new):
        found.risks.append(f"{symbol.path}:{symbol.line} is a test, and {wish.new} is no name of a test.")
    contents: dict[str, bytes] = {}
    renamed: dict[str, set[Reference]] = {}
    chosen = list(found.found) if wish.likely else found.certain
    for each in chosen:
        renamed.setdefault(each.path, set()).add(each)
    in_strings = 0
    mentions: list[tuple[str, int]] = []
    for path, file in sorted(project.files.items()):
        edits = _rename_edits(renamed.get(path, set()), symbol.name, wish.new)
        if wish.strings and (more := list(_in_texts(symbol, file, edits, wish.new))):
            in_strings += len(more)
            edits += more
        if edits:
            contents[path] = _changed(file, edits)
        if not wish.strings and _is_known_outside(symbol):
            mentions += _text_lines(symbol, file, found)
    documented = DocumentedNames(symbol, found, project)
    in_documents = 0
    for path, text in texts.items():
        edits = _rename_edits(renamed.get(path, set()), symbol.name, wish.new)
        if is_document(path) and _is_known_outside(symbol):
            edits += [ByteEdit(*span, wish.new.encode()) for span in documented.spans(text)]
            in_documents += len(edits)
        others = _word_lines(symbol.name, text, {(edit.start, edit.end) for edit in edits})
        mentions += [(path, line) for line in others] if _is_known_outside(symbol) else []
        if edits:
            contents[path] = apply_edits(text, edits)
    places = len({(each.path, *each.place[:2]) for each in chosen})
    return RenameResult(symbol, found, places, contents, in_strings, in_documents, sorted(set(mentions)))


def _loses_tests(symbol: Symbol, new: str) -> bool:
    """Whether a test would no longer be found, which no run reports."""
    if not (symbol.path.endswith(".py") and is_collected_by_name(symbol.path)):
        return False
    prefix = "Test" if symbol.kind == "class" else "test"
    return symbol.kind in ("class", "function", "method") and symbol.name.startswith(prefix) > new.startswith(prefix)


def _last_part(new: str, symbol: Symbol) -> str:
    """The new name of `Class.method to Class.other`."""
    container, _, name = new.rpartition(".")
    if not container:
        return new
    if container.split(".") == symbol.containers[-container.count(".") - 1 :]:
        return name
    raise Refusal(
        "invalid_name",
        f"{symbol.qualified_name} can't become {new}: a rename does not move it. Nothing was changed; give the new "
        f"name alone, or move it.",
    )


def _is_known_outside(symbol: Symbol) -> bool:
    """Whether documents may speak of it: not of a local name or a parameter."""
    return symbol.is_member or any(binding.scope.kind == "module" for binding in symbol.bindings)


def _text_lines(symbol: Symbol, file: FileScopes, found: References) -> Iterator[tuple[str, int]]:
    """Yield the lines of strings and comments that hold the name and stay."""
    known = {each.place[:2] for each in found.found if each.path == file.path}
    text = file.source.text
    for match in _word(symbol.name).finditer(text):
        if match.span() in known:
            continue
        node = file.source.root.descendant_for_byte_range(*match.span())
        if node is not None and node.type in _TEXTS and not _is_path(node):
            yield file.path, line_at(text, match.start())


def _word_lines(name: str, text: bytes, taken: set[tuple[int, int]]) -> list[int]:
    return [line_at(text, match.start()) for match in _word(name).finditer(text) if match.span() not in taken]


def _word(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])")


def _changed(file: FileScopes, edits: list[ByteEdit]) -> bytes:
    content = file.source.bom + apply_edits(file.source.text, edits)
    if not SourceText(file.path, content).is_valid:
        line = line_at(file.source.text, edits[0].start)
        raise Refusal(
            "would_break", f"{file.path}:{line} would no longer be valid with this name; nothing was changed."
        )
    return content


def _in_texts(symbol: Symbol, file: FileScopes, taken: list[ByteEdit], new: str) -> Iterator[ByteEdit]:
    """Yield whole words in strings and comments, for a local name only in its scope, never in a module path."""
    word = _word(symbol.name)
    region = file.source.root
    local = [binding.scope for binding in symbol.bindings if binding.scope.kind not in ("module", "class")]
    if local:
        if file.path != symbol.path:
            return
        region = local[0].node
    spans = {(edit.start, edit.end) for edit in taken}
    for node in descendants(region):
        if node.type not in _TEXTS or not node.text or _is_path(node):
            continue
        for match in word.finditer(node.text):
            span = (node.start_byte + match.start(), node.start_byte + match.end())
            if span not in spans:
                yield ByteEdit(*span, new.encode())


def _is_path(node: "Node") -> bool:
    around = node.parent.parent if node.parent is not None else None
    return around is not None and around.type in _IMPORTS


def _rename_edits(references: set[Reference], old: str, new: str) -> list[ByteEdit]:
    """Return the edits of one file. Of a shorthand `{id}`, only the property or the variable may change."""
    properties = {each.place[:2] for each in references if each.role == "property"}
    both = properties & {each.place[:2] for each in references if each.role != "property"}
    edits = []
    for each in references:
        place = each.place
        if place.manner in ("shorthand", "pattern") and place[:2] not in both:
            text = f"{new}: {old}" if each.role == "property" else f"{old}: {new}"
        else:
            text = new
        edits.append(ByteEdit(place.start, place.end, text.encode()))
    return edits


_SCRIPT_NAME = re.compile(r"#?[^\W\d][\w$]*|#?\$[\w$]*")
_RESERVED = """
    break case catch class const continue debugger default delete do else enum export extends false finally for
    function if import in instanceof new null return super switch this throw true try typeof var void while with
    yield let static implements interface package private protected public await
"""
_SCRIPT_WORDS = frozenset(_RESERVED.split())


def _check_name(new: str, family: Family | None) -> None:
    if family == "python":
        fits = new.isidentifier() and not keyword.iskeyword(new) and unicodedata.normalize("NFKC", new) == new
    else:
        fits = bool(_SCRIPT_NAME.fullmatch(new)) and new not in _SCRIPT_WORDS
    if not fits:
        language = "Python" if family == "python" else "JavaScript"
        raise Refusal(
            "invalid_name", f"{new!r} is not a valid name in {language}; nothing was changed. Choose another."
        )


def _check_collisions(symbol: Symbol, found: References, new: str, project: Project) -> None:
    if symbol.is_member:
        _check_members(symbol, found, new, project)
    _check_tangles(symbol, found, project)
    for path, binding in found.bindings:
        file = project.files[path]
        drawn = [place for place in binding.places if place.manner == "tag"]
        if drawn and not new[:1].isupper():
            raise Refusal(
                "invalid_name",
                f"{path}:{drawn[0].line} uses {symbol.name} as a JSX component, which needs an upper-case name; "
                "nothing was changed.",
            )
        taken = _taken(binding, new, file)
        if taken is not None:
            line, why = taken
            raise Refusal(
                "name_taken", f"{new} would collide at {path}:{line}: {why}. Nothing was changed; choose another name."
            )


def _check_tangles(symbol: Symbol, found: References, project: Project) -> None:
    renamed = {*symbol.bindings, *(binding for _, binding in found.bindings)}
    for path, file in project.files.items():
        for one, other, line in file.tangled:
            if one in renamed or other in renamed:
                raise Refusal(
                    "ambiguous",
                    f"{path}:{line} may mean either of two symbols named {symbol.name}, depending on what ran before; "
                    "nothing was changed. Give them different names by hand first.",
                )


def _taken(binding: Binding, new: str, file: FileScopes) -> tuple[int, str] | None:
    scope = binding.scope
    for meaning in binding.meanings:
        there = scope.table(meaning).get(new)
        if there is not None:
            return there.line, f"{new} is already defined there"
    if scope.elsewhere.get(new):
        return scope.node.start_point[0] + 1, f"{new} is declared {scope.elsewhere[new]} there"
    for use, meant in file.uses:
        if use.name == new and meant is not binding and _within(use.scope, scope) and not _within(meant.scope, scope):
            return use.place.line, f"{new} means something else there"
    for use in file.free:
        if use.name == new and _within(use.scope, scope):
            return use.place.line, f"{new} means something else there"
    for use, meant in file.uses:
        if meant is not binding:
            continue
        between: Scope | None = use.scope
        while between is not None and between is not scope:
            other = between.table("value").get(new) or between.table("type").get(new)
            if other is not None and between.kind == "class" and between is use.scope and use.place.start < other.since:
                break  # it still means the module's there
            if other is not None and (between.kind != "class" or between is use.scope):
                return use.place.line, f"another {new} would hide it there"
            if between.elsewhere.get(binding.name) == "global":
                break
            between = between.parent
    return None


def _within(scope: Scope | None, outer: Scope) -> bool:
    while scope is not None:
        if scope is outer:
            return True
        scope = scope.parent
    return False


def _check_members(symbol: Symbol, found: References, new: str, project: Project) -> None:
    classes = ClassIndex(project)
    for path, file in project.files.items():
        for body in file.classes:
            key = next((each for each in found.family if each.binding is body.binding), None)
            related = key is not None or any(
                each in found.family for each in classes.ancestors(ClassKey(path, body.binding))
            )
            if related and new in body.members:
                line = body.members[new][0].line
                raise Refusal(
                    "name_taken",
                    f"{new} would collide at {path}:{line}: {body.binding.name} already has a member of this name. "
                    "Nothing was changed; choose another name.",
                )
    for key in found.family:
        for each in classes.ancestors(key):
            above = classes.body(each)
            if above is not None and new in above.members:
                line = above.members[new][0].line
                raise Refusal(
                    "name_taken",
                    f"{new} would collide at {each.path}:{line}: {each.binding.name} already has a member of this "
                    "name. Nothing was changed; choose another name.",
                )
