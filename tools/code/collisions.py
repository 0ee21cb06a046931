"""What stands in the way of a new name: the same name in a scope that it would come into, or that would hide it."""

import keyword
import re
import unicodedata

from tools.code.finding import Refusal
from tools.code.members import Members
from tools.code.project import Project
from tools.code.scopes import Binding, FileScopes, Scope
from tools.code.symbols import Found, Symbol
from tools.code.tree import Family

_SCRIPT_NAME = re.compile(r"#?[^\W\d][\w$]*|#?\$[\w$]*")
_RESERVED = """
    break case catch class const continue debugger default delete do else enum export extends false finally for
    function if import in instanceof new null return super switch this throw true try typeof var void while with
    yield let static implements interface package private protected public await
"""
_SCRIPT_WORDS = frozenset(_RESERVED.split())


def check_name(new: str, family: Family) -> None:
    if family == "python":
        fits = new.isidentifier() and not keyword.iskeyword(new) and unicodedata.normalize("NFKC", new) == new
    else:
        fits = bool(_SCRIPT_NAME.fullmatch(new)) and new not in _SCRIPT_WORDS
    if not fits:
        language = "Python" if family == "python" else "JavaScript"
        raise Refusal("invalid_name", f"{new!r} cannot be a name in {language}; nothing was changed. Choose another.")


def check_collisions(symbol: Symbol, found: Found, new: str, project: Project) -> None:
    if symbol.owner is not None and symbol.method is None:
        _check_members(symbol, found, new, project)
    _check_tangles(symbol, found, project)
    for path, binding in found.renamed:
        file = project.files[path]
        drawn = [place for place in binding.places if place.manner == "tag"]
        if drawn and not new[:1].isupper():
            raise Refusal(
                "invalid_name",
                f"{path}:{drawn[0].line} draws {symbol.name} as a component, whose name begins with an upper-case "
                "letter; nothing was changed.",
            )
        taken = _taken(binding, new, file)
        if taken is not None:
            line, why = taken
            raise Refusal(
                "name_taken", f"{new} would collide at {path}:{line}: {why}. Nothing was changed; choose another name."
            )


def _check_tangles(symbol: Symbol, found: Found, project: Project) -> None:
    renamed = {*symbol.bindings, *(binding for _, binding in found.renamed)}
    for path, file in project.files.items():
        for one, other, line in file.tangled:
            if one in renamed or other in renamed:
                raise Refusal(
                    "ambiguous",
                    f"{path}:{line} may mean one {symbol.name} or another, whichever is there when it is reached; "
                    "nothing was changed. Give them two names by hand first.",
                )


def _taken(binding: Binding, new: str, file: FileScopes) -> tuple[int, str] | None:
    scope = binding.scope
    for meaning in binding.meanings:
        there = scope.table(meaning).get(new)
        if there is not None:
            return there.line, f"{new} is defined there already"
    if scope.elsewhere.get(new):
        return scope.node.start_point[0] + 1, f"{new} is declared {scope.elsewhere[new]} there"
    for use, meant in file.uses:
        if use.name == new and meant is not binding and _within(use.scope, scope) and not _within(meant.scope, scope):
            return use.place.line, f"{new} means something else there, and would mean this"
    for use in file.free:
        if use.name == new and _within(use.scope, scope):
            return use.place.line, f"{new} means something else there, and would mean this"
    for use, meant in file.uses:
        if meant is not binding:
            continue
        between: Scope | None = use.scope
        while between is not None and between is not scope:
            other = between.table("value").get(new) or between.table("type").get(new)
            if other is not None and between.kind == "class" and between is use.scope and use.place.start < other.since:
                break  # the module's, until it is bound there
            if other is not None and (between.kind != "class" or between is use.scope):
                return use.place.line, f"another {new} hides it there"
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


def _check_members(symbol: Symbol, found: Found, new: str, project: Project) -> None:
    members = Members(project)
    for path, file in project.files.items():
        for body in file.classes:
            key = next((each for each in found.family if each.binding is body.binding), None)
            related = key is not None or any(
                each in found.family for each in members.ancestors(type(found.family[0])(path, body.binding))
            )
            if related and new in body.members:
                line = body.members[new][0].line
                raise Refusal(
                    "name_taken",
                    f"{new} would collide at {path}:{line}: {body.binding.name} has a member of this name already. "
                    "Nothing was changed; choose another name.",
                )
    for key in found.family:
        for each in members.ancestors(key):
            above = members.body(each)
            if above is not None and new in above.members:
                line = above.members[new][0].line
                raise Refusal(
                    "name_taken",
                    f"{new} would collide at {each.path}:{line}: {each.binding.name} has a member of this name "
                    "already. Nothing was changed; choose another name.",
                )
