"""A symbol that is to be renamed, the places where it is written, and what is written there instead."""

from dataclasses import dataclass, field
from typing import NamedTuple

from tools.code.edits import Edit
from tools.code.members import ClassKey
from tools.code.scopes import Binding, Place


@dataclass(frozen=True, slots=True)
class Symbol:
    """What is renamed: bindings of one name in one scope (several where a type and a value share it), or a member.

    A member has its class in `owner`; a parameter of a method, too, has the class and the method's name.
    """

    path: str
    name: str
    line: int
    kind: str
    bindings: tuple[Binding, ...] = ()
    owner: ClassKey | None = None
    method: str | None = None


class Written(NamedTuple):
    place: Place
    #: What is renamed there: the variable, or the property of that name. It matters where one word is both.
    property: bool = False


@dataclass(slots=True)
class Found:
    places: dict[str, set[Written]] = field(default_factory=dict)
    #: Bindings that take the new name, each with its file: what may collide.
    renamed: list[tuple[str, Binding]] = field(default_factory=list)
    unsure: list[tuple[str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    family: list[ClassKey] = field(default_factory=list)

    def add(self, path: str, place: Place, *, property: bool = False) -> None:
        self.places.setdefault(path, set()).add(Written(place, property))

    @property
    def count(self) -> int:
        return sum(len({written.place[:2] for written in places}) for places in self.places.values())


def rewritten(words: set[Written], old: str, new: str) -> list[Edit]:
    """The edits of one file. Where one word is a property and a variable (`{id}`), only the one meant changes."""
    both = {word.place[:2] for word in words if word.property} & {word.place[:2] for word in words if not word.property}
    edits = []
    for word in words:
        place = word.place
        if place.manner in ("shorthand", "pattern") and place[:2] not in both:
            text = f"{new}: {old}" if word.property else f"{old}: {new}"
        else:
            text = new
        edits.append(Edit(place.start, place.end, text.encode()))
    return edits
