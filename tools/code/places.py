"""Every place where a symbol is written, in all files: those that are certain, and those that nobody can be sure of."""

from tools.code.bound_places import BoundPlaces
from tools.code.member_places import MemberPlaces
from tools.code.members import Members
from tools.code.project import Project
from tools.code.symbols import Found, Symbol


def places_of(symbol: Symbol, project: Project) -> Found:
    found, members = Found(), Members(project)
    if symbol.owner is not None and symbol.method is None:
        MemberPlaces(symbol, project, members, found).find(symbol.owner)
    else:
        BoundPlaces(symbol, project, members, found).find()
    found.unsure = sorted(set(found.unsure))
    return found
