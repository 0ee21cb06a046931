"""“Create”, “write”, “build”, “make”: what is asked for depends on what is to be made."""

from sidecar.agents.routing import lexicon as lex
from sidecar.agents.routing.sentence import LITERAL, Clause
from sidecar.wire.tasks import Intent

_BRANCHES = frozenset(("branch", "tag", "commit"))
_TALK = lex.word_set("haiku poem joke story song")
_TELLINGS = frozenset(("explanation", "overview", "summary", "tour"))
_SKELETONS = frozenset(("skeleton", "boilerplate", "scaffolding"))
_TESTS = lex.word_set("test tests unittest spec docstring")
_FOR_ME = lex.word_set("me us mir uns moi nous up")
_PLACED = frozenset(("separate", "own", "dead"))
_VALUES = lex.word_set("state variable list field array")
_THINGS = lex.CODE | lex.PROJECTS
_INTO = lex.word_set("in to into dans en")


def making(head: str, clause: Clause) -> tuple[Intent, float]:
    thing = [word.rpartition("-")[2] if word not in lex.DOCS else word for word in clause.object()]
    while thing and thing[0] in _FOR_ME:
        thing = thing[1:]
    first = thing[0] if thing else ""
    last = thing[-1] if thing else ""
    if not _TELLINGS.isdisjoint(thing) and head == "create" and not _documents(thing, clause):
        return "explain_code", 0.75
    if not _SKELETONS.isdisjoint(thing):
        return ("edit_code", 0.88) if _TESTS.intersection(thing) else ("create_project", 0.85)
    if thing[-2:] == ["api", "reference"] or last == "document":
        return "write_docs", 0.85
    if head == "create" and thing[-1:] == ["project"] and not clause.path:
        return "create_project", 0.8
    if not _TALK.isdisjoint(thing):
        return "chat", 0.8
    if last in _BRANCHES or ("git" in thing and not _BRANCHES.isdisjoint(thing)) or thing[-2:] == ["pull", "request"]:
        return "run_command", 0.85
    if last in ("venv", "virtualenv") or thing[-2:] == ["virtual", "environment"]:
        return "run_command", 0.8
    if last in ("review", "code-review", "audit", "critique"):
        return "review_code", 0.85
    if with_program(clause) and head not in lex.FOUND and lex.PIECES.isdisjoint(thing) and not _project(thing, clause):
        return "run_command", 0.7
    if head == "build" and _built(thing):
        return "run_command", 0.9
    if head == "make" and first not in lex.INDEFINITE:
        shape = clause.has(lex.SHAPE) and not clause.has(_PLACED)
        return ("refactor_code", 0.8) if shape else ("edit_code", 0.85)
    if head == "set" and "up" not in clause.words[1:2]:
        return "edit_code", 0.9
    if _documents(thing, clause):
        return "write_docs", 0.9
    if "scratch" in clause.words and not clause.path:
        return "create_project", 0.9
    if head in lex.FOUND and not clause.has(_VALUES):
        return "create_project", 0.9
    if _project(thing, clause):
        return "create_project", 0.9
    return "edit_code", 0.88


def _built(thing: list[str]) -> bool:
    """“Build it”, “build the image”: there is something to be built already."""
    if not thing:
        return True
    if thing[-1] in lex.HANDMADE:
        return False
    return thing[0] in lex.DEFINITE or thing[0] in (LITERAL, "everything", "all", "for", "with", "in", "again")


def with_program(clause: Clause) -> bool:
    words = clause.words
    for place, word in enumerate(words[:-1]):
        if word in ("with", "using", "via", "mit", "avec", "con"):
            return words[place + 1] in lex.PROGRAMS or words[place + 1] in lex.CHECKERS
    return False


def _project(thing: list[str], clause: Clause) -> bool:
    if not thing:
        return False
    if lex.PROJECTS.isdisjoint(thing):
        if "command-line" in clause.words and lex.PIECES.isdisjoint(thing) and not _inside(clause):
            return True
        made = clause.head in ("build", "develop", "make") and thing[0] in lex.INDEFINITE and not clause.named
        return made and lex.PIECES.isdisjoint(thing) and clause.has(lex.LANGUAGES)
    whole = not {"landing", "portfolio"}.isdisjoint(thing)
    if thing[-1] not in lex.PROJECTS and not whole and not lex.PIECES.isdisjoint(thing):
        return False
    if thing[0] in lex.DEFINITE or "existing" in thing:
        return False
    return not _inside(clause)


def _inside(clause: Clause) -> bool:
    """It says in which file, or into what that is already there."""
    words = clause.words
    for place, word in enumerate(words[:-1]):
        if word in _INTO:
            following = words[place + 1]
            if following in ("the", "our", "my", "this") and _at(words, place + 2) in _THINGS:
                return True
            if ("." in following.lstrip("./")[:-1] and clause.path) or following == LITERAL:
                return True
    return False


def _at(words: list[str], place: int) -> str:
    return words[place] if place < len(words) else ""


def _documents(thing: list[str], clause: Clause) -> bool:
    written = not lex.DOCS.isdisjoint(thing) or any(word.endswith((".md", ".rst")) for word in thing)
    if written or ("notes" in thing and "release" in thing):
        return lex.PIECES.isdisjoint(thing[-1:]) or thing[-1] in ("section", "page", "file")
    if lex.PIECES.isdisjoint(thing) or thing[-1] in ("page", "section"):
        words = clause.words
        for place, word in enumerate(words):
            if word in _INTO and any(
                w in lex.DOCS or w.endswith(".md") or w.startswith("docs/") for w in words[place + 1 : place + 4]
            ):
                return True
    return False
