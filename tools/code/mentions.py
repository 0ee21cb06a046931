"""Symbols that strings name: `getattr(module, "greet")`, `patch("a.greet")`, `"package.module:main"`."""

import re
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tools.code.scopes import FileScopes, Place, Scope
from tools.code.source import text_of
from tools.code.symbols import References, Symbol, text_place

if TYPE_CHECKING:
    from tree_sitter import Node

#: Calls whose first argument has an attribute that a later argument names.
_ATTRIBUTE_CALLS = frozenset(
    {
        "getattr",
        "hasattr",
        "setattr",
        "delattr",
        "getattr_static",
        "object",
        "multiple",
        "spy",
        "spyOn",
        "stub",
        "replaceProperty",
    }
)
#: Calls that take an attribute from an object that comes later.
_GETTER_CALLS = frozenset({"attrgetter", "methodcaller"})
#: For ripgrep: files with lookups of names that are built at run time.
COMPUTED_LOOKUP = r"getattr\([^,]+,\s*(f['\"]\w*\{|['\"][\w%]+['\"]\s*[+%])"
_COMPUTED = re.compile(
    rb"\bgetattr\(\s*[^,\n]+,\s*(?:f[\"'](\w*)\{[^}\"']*\}(\w*)[\"']|[\"'](\w+)[\"']\s*\+|[\"'](\w*)%s(\w*)[\"']\s*%)"
)
#: Lookups of a name that a variable holds.
_BY_VARIABLE = re.compile(
    rb"\b(?:(?:get|set|has|del)attr\(\s*[^,\n]+,|(?:attrgetter|methodcaller)\()\s*[A-Za-z_]\w*\s*[,.)\[]"
)
#: Places that probably use a symbol at run time, with `%s` for its name, and what they do.
_HIDDEN_USES = (
    (r"\}[.:](%s)(?!\w)", "names it behind a value that only a run knows"),
    (r"\bpatch\.multiple\([^()]*\b(%s)\s*=", "replaces it by keyword"),
    (r"\b(?:import_module|__import__|reload)\([^()]*\)\.(%s)(?!\w)", "takes it from a module that it loads itself"),
    (
        r"\b(?:eval|exec|compile|timeit|Timer)\(\s*[rf]?(?P<q>[\"'])(?:(?!(?P=q)).)*?(?<!\w)(%s)(?!\w)",
        "runs a text that holds it",
    ),
)
_WHOLE_STRING = r"[\"'](%s)[\"']"
_FORMAT_FIELD = r"\{[\w\[\].]*\.(%s)(?!\w)[^{}\n]*\}"
_STRINGS = frozenset({"string_content", "string_fragment"})


class AttributeMention(NamedTuple):
    """A string that names an attribute of `object`, which is unknown if None."""

    place: Place
    object: "Node | None"
    scope: Scope


class PathMention(NamedTuple):
    """`prefix` and the name, separated by a dot or a colon, are a whole string."""

    place: Place
    prefix: str


def path_mentions(text: bytes, name: str) -> Iterator[PathMention]:
    """Find dotted paths that end with the name, or go on behind it, in quotes or as a whole word of a settings file."""
    dotted = re.compile(rb"(?<![\w.:/-])((?:\w+\.)*\w+)[.:](" + re.escape(name.encode()) + rb")(?![\w/-])")
    for match in dotted.finditer(text):
        yield PathMention(text_place(text, *match.span(2)), match[1].decode("utf-8", "replace"))


def quoted_paths(file: FileScopes, name: str) -> Iterator[PathMention]:
    """Find strings that are a dotted path with the name in it."""
    text, word = file.source.text, re.escape(name.encode())
    whole = re.compile(rb"[\"']((?:\w+\.)*\w+)[.:](" + word + rb")(?:[.:]\w+)*[\"']")
    for match in whole.finditer(text):
        yield PathMention(text_place(text, *match.span(2)), match[1].decode("utf-8", "replace"))


def attribute_mentions(file: FileScopes, name: str) -> Iterator[AttributeMention]:
    """Find strings that are the name of an attribute of some object."""
    text = file.source.text
    for match in re.finditer(rb"[\"'](" + re.escape(name.encode()) + rb")[\"']", text):
        node = file.source.root.descendant_for_byte_range(*match.span(1))
        if node is None or node.type not in _STRINGS or node.parent is None or node.parent.parent is None:
            continue
        place, around = text_place(text, *match.span(1)), node.parent.parent
        scope = scope_at(file, match.start(1))
        if around.type == "subscript" and (item := _dictionary_owner(around, file)) is not None:
            yield AttributeMention(place, item[0], scope)
        elif around.type in ("argument_list", "arguments") and around.parent is not None:
            callee = text_of(around.parent.child_by_field_name("function")).rpartition(".")[2]
            first = around.named_children[0]
            if callee in _GETTER_CALLS:
                yield AttributeMention(place, None, scope)
            elif callee in _ATTRIBUTE_CALLS and first != node.parent:
                yield AttributeMention(place, first, scope)


def computed_lookups(file: FileScopes, name: str) -> Iterator[int]:
    """Find lines that look up a name built at run time which may become this one: `getattr(x, "do_" + word)`."""
    if file.source.family != "python":
        return
    text = file.source.text
    for match in _COMPUTED.finditer(text):
        start, end = (match[1] or match[3] or match[4] or b"").decode(), (match[2] or match[5] or b"").decode()
        if (start or end) and name.startswith(start) and name.endswith(end) and len(name) > len(start + end):
            yield text.count(b"\n", 0, match.start()) + 1


def note_risks(path: str, file: FileScopes, symbol: Symbol, found: References) -> None:
    """Add the lines that may use the symbol at run time, in a way that can't be followed."""
    if file.source.family != "python":
        return
    risks = [(line, "looks up a name that it builds at run time") for line in computed_lookups(file, symbol.name)]
    known = {each.place[:2] for each in found.found if each.path == path}
    risks += _hidden_uses(file, symbol, known)
    found.risks += [f"{path}:{line} {why}." for line, why in risks]


def _hidden_uses(file: FileScopes, symbol: Symbol, known: Container[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    text, word = file.source.text, re.escape(symbol.name)
    patterns = list(_HIDDEN_USES)
    if symbol.is_member:
        patterns.append((_FORMAT_FIELD, "formats it"))
    if _BY_VARIABLE.search(text):
        patterns.append((_WHOLE_STRING, "holds its name, and the file looks names up at run time"))
    for pattern, why in patterns:
        for match in re.finditer((pattern % word).encode(), text):
            span = match.span(match.re.groups)
            if span not in known and _may_be_use(pattern, file.source.root.descendant_for_byte_range(*span)):
                yield text.count(b"\n", 0, span[0]) + 1, why


def _may_be_use(pattern: str, node: "Node | None") -> bool:
    """A field of a format is in a string, and the key of a dictionary is no attribute."""
    if pattern not in (_FORMAT_FIELD, _WHOLE_STRING):
        return True
    if node is None or node.type not in _STRINGS or node.parent is None:
        return False
    return node.parent.parent is None or node.parent.parent.type != "subscript"


def _dictionary_owner(subscript: "Node", file: FileScopes) -> "tuple[Node | None] | None":
    """The object of `vars(object)["name"]` and `object.__dict__["name"]`; `globals()` has the module itself."""
    value = subscript.child_by_field_name("value")
    if value is None:
        return None
    if value.type == "attribute" and text_of(value.child_by_field_name("attribute")) == "__dict__":
        return (value.child_by_field_name("object"),)
    if value.type == "call":
        function = text_of(value.child_by_field_name("function"))
        arguments = value.child_by_field_name("arguments")
        if function == "globals":
            return (file.source.root,)
        if function == "vars" and arguments is not None and arguments.named_child_count:
            return (arguments.named_children[0],)
    return None


def scope_at(file: FileScopes, offset: int) -> Scope:
    """The innermost scope around an offset."""
    inside = [each for each in file.scopes if each.node.start_byte <= offset < each.node.end_byte]
    return max(inside, key=lambda each: each.node.start_byte, default=file.module)
