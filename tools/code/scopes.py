"""The declarations of one file: scopes, bindings, and every place where a name is written."""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tools.code.source import SourceText

if TYPE_CHECKING:
    from tree_sitter import Node

ScopeKind = Literal["module", "class", "function", "comprehension", "block"]
BindingKind = Literal["function", "class", "variable", "parameter", "import", "type"]
#: How a name is written. A `shorthand` (`{id}`) is a property and a variable at once; a `tag` is a JSX component.
Manner = Literal["plain", "shorthand", "pattern", "quoted", "tag"]

#: Instead of the name of a member that only a run knows: `const { [key]: value } = object`.
COMPUTED = "[]"

_FEW_WORDS = 8
_IDENTIFIER = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")


class Place(NamedTuple):
    start: int
    end: int
    line: int
    manner: Manner = "plain"
    defines: bool = False


def place_of(node: "Node", manner: Manner = "plain", *, defines: bool = False) -> Place:
    return Place(node.start_byte, node.end_byte, node.start_point[0] + 1, manner, defines)


@dataclass(frozen=True, slots=True)
class Import:
    """`module` is as written; `name` is the imported name, `*` for all, None for the module itself."""

    module: str
    name: str | None
    #: Where the imported name is written; the local name has places of its own.
    source: Place | None
    aliased: bool
    #: A default import of a script.
    default: bool = False


class ImportedName(NamedTuple):
    """One name that an import or re-export statement brings into the file; `local` is empty for a bare import."""

    local: str
    module: str
    name: str | None
    line: int


@dataclass(eq=False, slots=True)
class Binding:
    name: str
    scope: "Scope"
    kind: BindingKind
    line: int
    places: list[Place] = field(default_factory=list)
    imported: Import | None = None
    #: The node of a function or class definition.
    node: "Node | None" = None
    #: Type annotations and assigned values, each with the scope it is written in.
    annotations: list[tuple["Node", "Scope"]] = field(default_factory=list)
    values: list[tuple["Node", "Scope"]] = field(default_factory=list)
    #: Bound in a way that tells nothing about its type: a loop, an unpacking, a second definition.
    opaque: bool = False
    #: Offset where it is bound: a class body may read an outer name before it binds its own.
    since: int = 0
    #: In a script, a type and a value of the same name are two things.
    meanings: frozenset[str] = frozenset({"value", "type"})


@dataclass(eq=False, slots=True)
class Scope:
    kind: ScopeKind
    node: "Node"
    parent: "Scope | None"
    values: dict[str, Binding] = field(default_factory=dict)
    #: The same dictionary as `values` where types have no names of their own.
    types: dict[str, Binding] = field(default_factory=dict)
    #: Names that Python's `global` and `nonlocal` declare.
    elsewhere: dict[str, str] = field(default_factory=dict)
    #: The binding of the function or class whose scope this is.
    owner: Binding | None = None

    def table(self, meaning: str) -> dict[str, Binding]:
        return self.types if meaning == "type" else self.values


class Use(NamedTuple):
    """A name that is read, before its binding is known."""

    name: str
    place: Place
    scope: Scope
    meaning: str = "value"


class MemberAccess(NamedTuple):
    """`object.name`; without an object, a property such as a pattern's keyword or an object's key."""

    name: str
    place: Place
    object: "Node | None"
    scope: Scope


class Keyword(NamedTuple):
    """`callee(name=…)`, or a key of an object literal that has a declared type."""

    name: str
    place: Place
    callee: "Node"
    scope: Scope


class Export(NamedTuple):
    """A name that a script exports: one of its own bindings, or one of another module."""

    name: str
    local: str | None
    module: str | None
    #: Where an export clause writes the name.
    place: Place | None
    aliased: bool = False


@dataclass(slots=True)
class ClassBody:
    """A class or an interface: its bases, and where it writes each of its members."""

    binding: Binding
    scope: Scope
    bases: list["Node"]
    outer: Scope
    members: dict[str, list[Place]] = field(default_factory=dict)
    annotations: dict[str, list[tuple["Node", Scope]]] = field(default_factory=dict)
    values: dict[str, list[tuple["Node", Scope]]] = field(default_factory=dict)
    methods: dict[str, "Node"] = field(default_factory=dict)
    #: Constructed by naming members: a data class, a named tuple, an interface.
    by_members: bool = False


@dataclass(slots=True)
class FileScopes:
    source: SourceText
    module: Scope
    scopes: list[Scope] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    classes: list[ClassBody] = field(default_factory=list)
    accesses: list[MemberAccess] = field(default_factory=list)
    keywords: list[Keyword] = field(default_factory=list)
    imports: list[ImportedName] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    #: Modules that a script loads at run time.
    loaded: list[str] = field(default_factory=list)
    #: Whether a script imports by `require` or exports by `module.exports`.
    commonjs: bool = False
    #: Names that no scope of the file binds: builtins and names from star imports.
    free: list[Use] = field(default_factory=list)
    uses: list[tuple[Use, Binding]] = field(default_factory=list)
    #: Two bindings that one place may mean, depending on what ran before; neither can be renamed alone.
    tangled: list[tuple[Binding, Binding, int]] = field(default_factory=list)
    #: The strings of `__all__`.
    listed: list[tuple[str, Place]] = field(default_factory=list)
    #: `this.name`, with its class.
    own: list[tuple[ClassBody, str, Place]] = field(default_factory=list)
    #: Bindings that hold an instance (`self`) or the class (`cls`).
    selves: dict[Binding, ClassBody] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return self.source.path

    def class_of(self, binding: Binding) -> ClassBody | None:
        return next((body for body in self.classes if body.binding is binding), None)


def lookup(name: str, scope: Scope, meaning: str = "value") -> Binding | None:
    """Find the binding that a name means here; names of a class body are not visible in scopes below it."""
    here: Scope | None = scope
    while here is not None:
        hidden = here.kind == "class" and here is not scope
        word = here.elsewhere.get(name)
        if word == "global":
            while here.parent is not None:
                here = here.parent
            return here.table(meaning).get(name)
        if not hidden and word is None and (found := here.table(meaning).get(name)) is not None:
            return found
        here = here.parent
    return None


def find_export(file: FileScopes, name: str) -> Export | None:
    return next((each for each in file.exports if each.name == name), None)


class ModuleRef(NamedTuple):
    """A module; the path of a Python package without an `__init__` ends with a slash."""

    path: str


class BindingRef(NamedTuple):
    """A binding that is not an import, with its file."""

    path: str
    binding: Binding


Meaning = ModuleRef | BindingRef


class ClassKey(NamedTuple):
    """A class, with its file."""

    path: str
    binding: Binding


class ScopeWalk:
    """Walk a syntax tree: a handler takes each node of its kind, other nodes pass their children on.

    With `words`, functions and classes that hold none of them are bound but not entered; with `members`, classes and
    their methods are entered all the same. This keeps a search through hundreds of files fast. `_entered_words` are
    those with which a function affects names outside it.
    """

    _entered_words: frozenset[str] = frozenset()

    def __init__(self, source: SourceText, words: frozenset[str] | None = None, *, members: bool = False) -> None:
        self.module = Scope("module", source.root, None)
        self.file = FileScopes(source, self.module, [self.module])
        self._uses: list[Use] = []
        self._handlers: dict[str, Callable[[Any, Scope], None]] = {}
        self._offsets = None if words is None else find_words(source.text, words | self._entered_words)
        self._enters_classes = members
        self._skipped: list[tuple[int, int]] = []

    def block(self, node: "Node", scope: Scope) -> None:
        handlers = self._handlers
        for child in node.named_children:
            handler = handlers.get(child.type)
            if handler is not None:
                handler(child, scope)
            elif child.child_count:
                self.block(child, scope)

    def one(self, node: "Node | None", scope: Scope) -> None:
        if node is None:
            return
        handler = self._handlers.get(node.type)
        if handler is not None:
            handler(node, scope)
        elif node.child_count:
            self.block(node, scope)

    def _ignore(self, node: "Node", scope: Scope) -> None:
        pass

    def _lacks_words(self, node: "Node") -> bool:
        if self._offsets is None:
            return False
        index = bisect_left(self._offsets, node.start_byte)
        if index < len(self._offsets) and self._offsets[index] < node.end_byte:
            return False
        self._skipped.append((node.start_byte, node.end_byte))
        return True


def find_words(text: bytes, words: frozenset[str]) -> list[int]:
    """Return where one of the words starts, in order. May report more, never less."""
    encoded = frozenset(word.encode() for word in words)
    if len(encoded) <= _FEW_WORDS:
        return sorted(match.start() for word in encoded for match in re.finditer(re.escape(word), text))
    return [match.start() for match in _IDENTIFIER.finditer(text) if match[0] in encoded]
