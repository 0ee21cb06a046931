"""What a file declares: its scopes, their bindings, and every place where each name is written."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from tools.code.tree import Source, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

ScopeKind = Literal["module", "class", "function", "comprehension", "block"]
BindingKind = Literal["function", "class", "variable", "parameter", "import", "type"]
#: How a name is written at a place: `shorthand` is `{id}`, which stands for a property and for a variable at once.
#: A `tag` is a component where it is drawn.
Manner = Literal["plain", "shorthand", "pattern", "quoted", "tag"]


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
    """`module` as it is written; `name` is what is imported from it, `*` everything, nothing the module itself."""

    module: str
    name: str | None
    #: Where the imported name is written, if it is; the local name has places of its own.
    source: Place | None
    aliased: bool
    #: A script's `import x from`: whatever is the default there.
    default: bool = False


@dataclass(eq=False, slots=True)
class Binding:
    name: str
    scope: "Scope"
    kind: BindingKind
    line: int
    places: list[Place] = field(default_factory=list)
    imported: Import | None = None
    #: The definition of a function or a class.
    node: "Node | None" = None
    #: What says of which type it is, each with the scope that it is written in.
    annotations: list[tuple["Node", "Scope"]] = field(default_factory=list)
    values: list[tuple["Node", "Scope"]] = field(default_factory=list)
    #: Bound in a way that says nothing of its type: a loop, an unpacking, a second definition.
    opaque: bool = False
    #: From where on it is bound: a class body may read an outer name before it makes its own.
    since: int = 0
    #: As what it can be named: in a script, a type and a value of the same name are two things.
    meanings: frozenset[str] = frozenset({"value", "type"})


@dataclass(eq=False, slots=True)
class Scope:
    kind: ScopeKind
    node: "Node"
    parent: "Scope | None"
    values: dict[str, Binding] = field(default_factory=dict)
    #: Only where types are names of their own; elsewhere the same dictionary as `values`.
    types: dict[str, Binding] = field(default_factory=dict)
    #: Python's `global` and `nonlocal`.
    elsewhere: dict[str, str] = field(default_factory=dict)
    #: The binding of the function or class whose scope this is.
    owner: Binding | None = None

    def table(self, meaning: str) -> dict[str, Binding]:
        return self.types if meaning == "type" else self.values


class Use(NamedTuple):
    """A name that is read, before it is known which binding it means."""

    name: str
    place: Place
    scope: Scope
    meaning: str = "value"


class Access(NamedTuple):
    """`object.name`, or a property where a name alone says which (a keyword of a pattern, a key of an object)."""

    name: str
    place: Place
    object: "Node | None"
    scope: Scope


class Keyword(NamedTuple):
    """`callee(name=…)`, or the key of an object that is given where a type is declared."""

    name: str
    place: Place
    callee: "Node"
    scope: Scope


class Export(NamedTuple):
    """What a script offers under `name`: a binding of its own, or another module's."""

    name: str
    local: str | None
    module: str | None
    #: Where the name is written if it is written for the export itself.
    place: Place | None
    aliased: bool = False


@dataclass(slots=True)
class ClassBody:
    """A class or an interface: what it derives from, and where each of its members is written within it."""

    binding: Binding
    scope: Scope
    bases: list["Node"]
    outer: Scope
    members: dict[str, list[Place]] = field(default_factory=dict)
    annotations: dict[str, list[tuple["Node", Scope]]] = field(default_factory=dict)
    values: dict[str, list[tuple["Node", Scope]]] = field(default_factory=dict)
    #: Functions of the body, by name.
    methods: dict[str, "Node"] = field(default_factory=dict)
    #: Made by naming its members: a data class, a named tuple, an interface.
    by_members: bool = False


@dataclass(slots=True)
class FileScopes:
    source: Source
    module: Scope
    scopes: list[Scope] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    classes: list[ClassBody] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    keywords: list[Keyword] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    #: Modules that a script loads while it runs: what is taken from them has no import.
    loaded: list[str] = field(default_factory=list)
    #: Names that no scope of the file binds: built-in ones, and those that a star import brings.
    free: list[Use] = field(default_factory=list)
    uses: list[tuple[Use, Binding]] = field(default_factory=list)
    #: Two bindings that one place may mean, whichever is bound when it is reached: neither can have another name alone.
    tangled: list[tuple[Binding, Binding, int]] = field(default_factory=list)
    #: The strings of `__all__`.
    listed: list[tuple[str, Place]] = field(default_factory=list)
    #: `this.name`, with the class that it is written in.
    own: list[tuple[ClassBody, str, Place]] = field(default_factory=list)
    #: The bindings that stand for an instance within a class (`self`), or for the class itself (`cls`).
    selves: dict[Binding, ClassBody] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return self.source.path

    def class_of(self, binding: Binding) -> ClassBody | None:
        return next((body for body in self.classes if body.binding is binding), None)


def lookup(name: str, scope: Scope, meaning: str = "value") -> Binding | None:
    """Which binding a name means here, by the rules that both languages share; a class's names are not seen below."""
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


def words_of(node: "Node") -> str:
    return " ".join(text_of(node).split())
