"""Symbols, and the references to them that a search finds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from sidecar.wire.base import JsonObject
from tools.code.scopes import Binding, ClassKey, FileScopes, Place, find_export

if TYPE_CHECKING:
    from tools.code.classes import ClassIndex
    from tools.code.project import Project

Certainty = Literal["certain", "likely"]
#: `alias`: a name other than the symbol's own. `text`: inside a string.
Role = Literal["name", "property", "alias", "text"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """Bindings of one name in one scope (two where a type and a value share it), or a member of a class.

    A member has its class in `owner`; a parameter of a method has the class and the method's name.
    """

    path: str
    name: str
    line: int
    kind: str
    bindings: tuple[Binding, ...] = ()
    owner: ClassKey | None = None
    method: str | None = None

    @property
    def is_member(self) -> bool:
        return self.owner is not None and self.method is None

    @property
    def containers(self) -> list[str]:
        """The names of the classes and functions around it, outermost first."""
        if self.bindings:
            return _owners(self.bindings[0])
        return [*_owners(self.owner.binding), self.owner.binding.name] if self.owner is not None else []

    @property
    def qualified_name(self) -> str:
        return ".".join([*self.containers, self.name])

    @property
    def details(self) -> JsonObject:
        return {"path": self.path, "line": self.line, "kind": self.kind, "name": self.qualified_name}


class Reference(NamedTuple):
    path: str
    place: Place
    certainty: Certainty
    role: Role
    #: For a member: the class of the object it is taken from.
    receiver: ClassKey | None = None


@dataclass(slots=True)
class References:
    found: set[Reference] = field(default_factory=set)
    #: Bindings that a rename changes, each with its file.
    bindings: list[tuple[str, Binding]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Reasons why a rename may break the program though no place shows it.
    risks: list[str] = field(default_factory=list)
    #: Classes that override each other's member.
    family: list[ClassKey] = field(default_factory=list)
    #: The names under which the symbol can be imported, and the files that export it as default.
    names: set[str] = field(default_factory=set)
    default_exporters: set[str] = field(default_factory=set)

    def add(self, path: str, place: Place, role: Role = "name", receiver: ClassKey | None = None) -> None:
        self.found.add(Reference(path, place, "certain", role, receiver))

    def add_likely(self, path: str, place: Place, role: Role = "property") -> None:
        self.found.add(Reference(path, place, "likely", role))

    def include(self, other: "References") -> None:
        self.found |= other.found
        self.bindings += other.bindings
        self.notes += other.notes
        self.risks += other.risks
        self.family += other.family
        self.names |= other.names

    @property
    def certain(self) -> list[Reference]:
        return [each for each in self.found if each.certainty == "certain"]

    @property
    def likely_lines(self) -> list[tuple[str, int]]:
        return sorted({(each.path, each.place.line) for each in self.found if each.certainty == "likely"})


@dataclass(eq=False)
class ReferenceFinder:
    """Searches the files for the symbol, and adds to what was found."""

    _symbol: Symbol
    _project: "Project"
    _classes: "ClassIndex"
    _found: References
    _files: Mapping[str, FileScopes]


def text_place(text: bytes, start: int, end: int) -> Place:
    return Place(start, end, text.count(b"\n", 0, start) + 1, "quoted")


def _owners(binding: Binding) -> list[str]:
    names: list[str] = []
    scope = binding.scope
    while scope is not None:
        if scope.owner is not None and scope.owner.name:
            names.insert(0, scope.owner.name)
        if scope.parent is None:
            break
        scope = scope.parent
    return names


def symbols_named(name: str, files: Mapping[str, FileScopes]) -> Iterator[Symbol]:
    for _, file in sorted(files.items()):
        yield from symbols_in(file, name)


def symbols_in(file: FileScopes, name: str) -> Iterator[Symbol]:
    path = file.path
    taken: set[Binding] = set()
    for binding in file.bindings:
        if binding.name == name and binding not in taken and (binding.imported is None or binding.imported.aliased):
            together = _together(binding, file)
            taken.update(together)
            yield _symbol(path, together, file)
    for body in file.classes:
        in_scope = body.scope.kind == "class" and name in body.scope.values
        if name in body.members and not in_scope and body.binding.name:
            lines = [place.line for place in body.members[name]]
            kind = "method" if name in body.methods else "attribute"
            yield Symbol(path, name, min(lines), kind, owner=ClassKey(path, body.binding))


def _together(binding: Binding, file: FileScopes) -> tuple[Binding, ...]:
    """Return the bindings that are one symbol: a type and a value exported under one name."""
    scope, name = binding.scope, binding.name
    both = {each for each in (scope.values.get(name), scope.types.get(name)) if each is not None}
    if len(both) == 2 and scope is file.module and find_export(file, name) is not None:
        return tuple(sorted(both, key=lambda each: each.line))
    return (binding,)


def _symbol(path: str, bindings: tuple[Binding, ...], file: FileScopes) -> Symbol:
    first = bindings[0]
    scope = first.scope
    if scope.kind == "class" and scope.owner is not None:
        member = {"function": "method", "class": "class"}.get(first.kind, "attribute")
        return Symbol(path, first.name, first.line, member, bindings, ClassKey(path, scope.owner))
    owner: ClassKey | None = None
    method: str | None = None
    function = scope.owner
    if first.kind == "parameter" and function is not None and function.scope.kind == "class" and function.scope.owner:
        owner, method = ClassKey(path, function.scope.owner), function.name
    kind: str = "alias" if first.imported is not None else first.kind
    if kind in ("variable", "function") and scope is not file.module:
        kind = f"local {kind}"
    return Symbol(path, first.name, first.line, kind, bindings, owner, method)
