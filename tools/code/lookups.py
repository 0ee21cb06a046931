"""Lines that look up a symbol at run time, in a way that a rename can't follow."""

import re
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from tools.code.languages import words
from tools.code.mentions import STRING_NODES
from tools.code.scopes import FileScopes
from tools.code.source import text_of
from tools.code.symbols import References, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

    from tools.code.project import Project

#: For ripgrep: files with lookups of names that are built at run time.
COMPUTED_LOOKUP = (
    r"(getattr\([^,]+,|(globals|locals|vars)\([^()]*\)\[|__dict__\[)\s*(f['\"]\w*\{|['\"][\w%]+['\"]\s*[+%])"
)
_COMPUTED = re.compile(
    rb"(?:\bgetattr\(\s*[^,\n]+,|\b(?:globals|locals|vars)\([^()\n]*\)\[|\b__dict__\[)\s*(?:f[\"'](\w*)\{[^}\"']*\}(\w*)[\"']|[\"'](\w+)[\"']\s*\+|[\"'](\w*)%s(\w*)[\"']\s*%)"
)
#: A file that looks up names which variables hold, or gives its module attributes that no statement binds.
_LOOKS_UP = re.compile(
    rb"\b(?:(?:get|set|has|del)attr\(\s*[^,\n]+,|(?:attrgetter|methodcaller)\()\s*[A-Za-z_]\w*\s*[,.)\[]"
    rb"|\b(?:globals|locals|vars|import_module|__import__|run_path|run_module)\(|\.__dict__\b|\bsys\.modules\b"
    rb"|^(?:def +)?__getattr__\b",
    re.MULTILINE,
)
#: A file that looks at the names of classes and functions, which become keys of a registry.
_LOOKS_AT_NAMES = re.compile(
    rb"\.__(?:qual)?name__\b|\b__(?:subclasses|init_subclass|reduce|reduce_ex)__\b|\bmetaclass\s*=|\(type\)\s*:"
)
#: The same of members of an enum.
_LOOKS_AT_MEMBERS = re.compile(rb"\.name\b|\b__members__\b|\w\[[A-Za-z_.]+\]")
_OWN_LOOKUP = re.compile(rb"(?<![\w.])(?:locals|vars)\(\)|(?<![\w.])(?:eval|exec)\(")
#: Methods that JavaScript itself calls by their names.
SCRIPT_METHODS = words("constructor handleEvent next return then throw toJSON toLocaleString toString valueOf")
_SCRIPT_NAME = r"(?<![\w$])(?:%s|constructor|new\.target)\.name(?![\w$])"
_RUNS_FILES = re.compile(rb"\brun_(?:path|module)\(")
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
_NAMELESS_DECORATORS = """
    property setter getter deleter staticmethod classmethod abstractmethod overload override final cache lru_cache
    cached_property wraps contextmanager asynccontextmanager dataclass singledispatch total_ordering runtime_checkable
    deprecated no_type_check parametrize skip skipif xfail given settings patch
"""
#: Decorators that don't care about a function's name.
_NAMELESS = frozenset(_NAMELESS_DECORATORS.split())


def note_risks(path: str, file: FileScopes, symbol: Symbol, found: References, project: "Project") -> None:
    """Add the lines that may use the symbol at run time, in a way that can't be followed."""
    if file.source.family != "python":
        found.risks += [f"{path}:{line} {why}." for line, why in _script_risks(file, symbol)]
        return
    risks = [(line, "looks up a name that it builds at run time") for line in _computed_lookups(file, symbol.name)]
    known = {each.place[:2] for each in found.found if each.path == path}
    risks += _hidden_uses(file, symbol, known, project)
    found.risks += [f"{path}:{line} {why}." for line, why in risks]


def note_own_lookups(symbol: Symbol, found: References) -> None:
    """Add the lines where a Python function looks up its own variables by name."""
    node = symbol.bindings[0].scope.node
    for match in _OWN_LOOKUP.finditer(node.text or b"") if symbol.path.endswith((".py", ".pyi")) else ():
        line = node.start_point[0] + 1 + (node.text or b"").count(b"\n", 0, match.start())
        found.risks.append(f"{symbol.path}:{line} may look at all variables there by their names.")


def note_text_risks(path: str, text: bytes, symbol: Symbol, found: References, project: "Project") -> None:
    """The same for a settings file that names the module and the symbol apart."""
    if symbol.path.endswith(".py") and _names_module(text, symbol, project):
        for match in re.finditer((_WHOLE_STRING % re.escape(symbol.name)).encode(), text):
            line = text.count(b"\n", 0, match.start()) + 1
            found.risks.append(f"{path}:{line} holds its name, and the file names its module.")


def _script_risks(file: FileScopes, symbol: Symbol) -> Iterator[tuple[int, str]]:
    """Yield the strings with the name of a function or class in a file that asks for that name: `f.name`."""
    text, word = file.source.text, re.escape(symbol.name)
    if symbol.is_member or not re.search((_SCRIPT_NAME % word).encode(), text):
        return
    for match in re.finditer((_WHOLE_STRING % word).encode(), text):
        yield text.count(b"\n", 0, match.start()) + 1, "holds its name, and the file asks for names at run time"


def _computed_lookups(file: FileScopes, name: str) -> Iterator[int]:
    """Find lines that look up a name built at run time which may become this one: `getattr(x, "do_" + word)`."""
    text = file.source.text
    for match in _COMPUTED.finditer(text):
        start, end = (match[1] or match[3] or match[4] or b"").decode(), (match[2] or match[5] or b"").decode()
        if (start or end) and name.startswith(start) and name.endswith(end) and len(name) > len(start + end):
            yield text.count(b"\n", 0, match.start()) + 1


def _hidden_uses(
    file: FileScopes, symbol: Symbol, known: Container[tuple[int, int]], project: "Project"
) -> Iterator[tuple[int, str]]:
    text, word = file.source.text, re.escape(symbol.name)
    patterns = list(_HIDDEN_USES)
    if symbol.is_member:
        patterns.append((_FORMAT_FIELD, "formats it"))
    whole, items = _string_risk(file, symbol, project)
    if whole:
        patterns.append((_WHOLE_STRING, whole))
    for pattern, why in patterns:
        for match in re.finditer((pattern % word).encode(), text):
            span = match.span(match.re.groups)
            node = file.source.root.descendant_for_byte_range(*span)
            if span not in known and _may_be_use(pattern, node, items=items):
                yield text.count(b"\n", 0, span[0]) + 1, why


def _string_risk(file: FileScopes, symbol: Symbol, project: "Project") -> tuple[str, bool]:
    """Why a string that is just the name may mean the symbol, and whether one in `x["name"]` may, too."""
    text = file.source.text
    if _is_field(symbol, project):
        return "holds its name, which may be the key of a field", True
    if _is_registered(symbol, project):
        return "holds its name, under which a decorator may have registered it", True
    if not symbol.is_member and _LOOKS_AT_NAMES.search(text):
        return "holds its name, and the file looks at names at run time", True
    if _LOOKS_AT_MEMBERS.search(text) and _is_enum_member(symbol, project):
        return "holds its name, which may be looked up in the enum", True
    if _LOOKS_UP.search(text):
        return "holds its name, and the file looks names up at run time", _RUNS_FILES.search(text) is not None
    if not symbol.is_member and _names_module(text, symbol, project):
        return "holds its name, and the file names its module", False
    return "", False


def _is_field(symbol: Symbol, project: "Project") -> bool:
    """Whether it is a field of a data class, which becomes a key when instances are turned into dictionaries."""
    if not symbol.is_member or symbol.owner is None or symbol.kind == "method":
        return False
    body = project.files[symbol.path].class_of(symbol.owner.binding)
    return body is not None and body.by_members


def _is_enum_member(symbol: Symbol, project: "Project") -> bool:
    if not symbol.is_member or symbol.owner is None or symbol.kind != "attribute":
        return False
    body = project.files[symbol.path].class_of(symbol.owner.binding)
    return body is not None and any(text_of(base).endswith(("Enum", "Flag")) for base in body.bases)


def _is_registered(symbol: Symbol, project: "Project") -> bool:
    nodes = [binding.node.parent for binding in symbol.bindings if binding.node is not None]
    marks = [each for node in nodes if node is not None for each in node.children if each.type == "decorator"]
    return not all(nameless(mark) for mark in marks)


def nameless(decorator: "Node") -> bool:
    """Whether a decorator surely doesn't care about a function's name."""
    return text_of(decorator).lstrip("@ ").partition("(")[0].rpartition(".")[2].strip() in _NAMELESS


def _names_module(text: bytes, symbol: Symbol, project: "Project") -> bool:
    module = project.modules.python_name(symbol.path) if symbol.path.endswith(".py") else ""
    return bool(module) and re.search(rb"[\"']" + re.escape(module.encode()) + rb"[\"']", text) is not None


def _may_be_use(pattern: str, node: "Node | None", *, items: bool) -> bool:
    """A field of a format is in a string, and the key of a dictionary is no attribute unless `items`."""
    if pattern not in (_FORMAT_FIELD, _WHOLE_STRING):
        return True
    if node is None or node.type not in STRING_NODES or node.parent is None:
        return False
    return items or node.parent.parent is None or node.parent.parent.type != "subscript"
