"""What a verb at the head of a clause asks for; often that depends on what the verb is about."""

from sidecar.agents.routing import lexicon as lex
from sidecar.agents.routing.making import making, with_program
from sidecar.agents.routing.questions import asked_about
from sidecar.agents.routing.sentence import LITERAL, QUOTED, Clause
from sidecar.wire.tasks import Intent

_DIFFS = lex.word_set("diff pr changes commit commits request änderungen")
_REQUESTS_FOR_MERGE = frozenset(("pr", "pull", "issue"))
_SCREEN = lex.word_set("when if page user screen header")
_PLACES = lex.word_set("where why how who word")
_BUILDS = frozenset(("compiles", "builds", "installed"))
_SERVERS = frozenset(("server", "app", "service", "application"))
_IMPROVES = frozenset(("improve", "improved", "improvements"))
_MINE = frozenset(("this", "my", "our"))
_STATES = frozenset(("git", "disk", "usage", "status", "version"))
_SEAMS = frozenset(("interface", "layer"))
_RUNNING = lex.word_set("throws crashes page app server")
_IT = lex.word_set("it them this that those these")


def by_verb(head: str, clause: Clause, parts: list[Clause]) -> tuple[Intent, float] | None:
    rest = clause.words[1:]
    thing = clause.object()
    following = rest[0] if rest else ""
    if head == "clean":
        return ("refactor_code", 0.9) if "up" in rest[:2] or clause.has(_CODE_ITSELF) else ("run_command", 0.8)
    if head == "merge" or head == "pull" or head == "push":
        into_code = clause.has(lex.PIECES) or "common" in rest or "duplicate" in rest
        return ("refactor_code", 0.85) if into_code and not clause.has(_GIT) else ("run_command", 0.9)
    if head in ("rename", "renomme", "benenne", "renombra"):
        return ("edit_code", 0.75) if clause.has(_NOT_SYMBOLS) else ("refactor_code", 0.85)
    if head in ("move", "verschiebe", "déplace"):
        between_files = clause.path and "from" in rest and "to" in rest and "." not in following
        apart = clause.has(_SYMBOLS) or "out" in rest or between_files
        return ("refactor_code", 0.8) if apart else ("edit_code", 0.8)
    if head == "stop" and following.endswith("ing"):
        return "edit_code", 0.8
    if head == "show" and "we" in clause.before and following not in ("me", "us"):
        return "edit_code", 0.7
    if head == "change" and "name" in thing and (clause.has(_SYMBOLS) or clause.named):
        return "refactor_code", 0.8
    if head == "get" and rest and rest[-1] in ("running", "started") and following not in ("rid", "me"):
        return "run_command", 0.75
    if head in ("update", "upgrade") and thing and thing[-1] in ("dependencies", "packages") and not clause.path:
        return "run_command", 0.7
    if (head == "use" and following in lex.PROGRAMS and "to" in rest) or (head == "bring" and following == "up"):
        return "run_command", 0.75
    if head == "make" and not _EASIER.isdisjoint(rest) and not _READ.isdisjoint(rest):
        return "refactor_code", 0.8
    if head == "undo" and "commit" in thing:
        return "run_command", 0.8
    if head in ("generate", "create", "produce") and thing[-2:] in (["coverage", "report"], ["test", "report"]):
        return "run_command", 0.75
    if head == "teach" and following not in ("me", "us") and "to" in rest:
        return "edit_code", 0.8
    if head == "add" and thing and thing[-1] in _STAGED and any(part.head == "commit" for part in parts):
        return "run_command", 0.85
    if head in ("convert", "turn", "port"):
        other = (
            ("use" in rest and not clause.has(_SYMBOLS))
            or following in ("off", "on")
            or not (clause.has(_OF_CODE) or clause.path or "this" in thing[:1])
        )
        if _into_documents(clause):
            return "write_docs", 0.8
        return ("edit_code", 0.75) if other else ("refactor_code", 0.75)
    if head == "switch":
        if "from" in rest and "to" in rest:
            return "refactor_code", 0.75
        return ("run_command", 0.8) if clause.has(lex.VERSION_CONTROL) or clause.path else ("edit_code", 0.75)
    if head in ("delete", "remove", "clear") and thing and thing[-1] in lex.GENERATED:
        return "run_command", 0.7
    if head == "proofread" and clause.has(_CODE_ITSELF):
        return "review_code", 0.8
    if head in lex.REFACTOR:
        if _documents(clause, thing):
            return "write_docs", 0.85
        return "refactor_code", 0.9
    if head in ("comment", "commente", "comenta"):
        return (
            ("edit_code", 0.8)
            if following == "out"
            else ("review_code", 0.8)
            if following == "on"
            else ("write_docs", 0.9)
        )
    if head in lex.DOCUMENT:
        return "write_docs", 0.95
    if head in lex.EXPLAIN:
        return _explaining(head, clause, following)
    if head in lex.REVIEW:
        return _reviewing(head, clause, following)
    if head == "format" and _documents(clause, thing) is False and clause.has(lex.TROUBLE):
        return "edit_code", 0.7
    if head == "revert" and clause.path and "commit" not in rest:
        return "edit_code", 0.7
    if head in ("mach", "mache") and thing and thing[-1] in lex.TESTS:
        return "run_command", 0.75
    if head in lex.RUN:
        return _running(head, clause, thing)
    if head == "new" or head in lex.CREATE:
        if thing[:1] == ["one"] and any(part is not clause and _on_docs(part) for part in parts):
            return "write_docs", 0.8
        return making(head, clause)
    return _editing(head, clause, thing, parts)


_CODE_ITSELF = lex.word_set("code class function module file imports")
_EASIER = frozenset(("easier", "simpler"))
_READ = lex.word_set("read understand follow maintain test extend")
_STAGED = frozenset(("all", "files", "everything", "changes", "it"))
_STARTERS = frozenset(("starter", "template", "skeleton", "boilerplate", "app", "project"))
_GIT = lex.word_set("branch main master develop origin upstream remote latest pr request")
_OF_CODE = lex.CODE | lex.PIECES | frozenset(("callbacks", "chains", "promises", "views", "var", "tests", "globals"))
_NOT_SYMBOLS = lex.word_set(
    "file folder directory label button column heading title tab menu datei page endpoint flag option"
)
_SYMBOLS = lex.word_set(
    "class classes function functions method methods helper helpers module code logic constants constant "
    "type types klasse funktion classe fonction business utilities tests interface interfaces"
)


def _explaining(head: str, clause: Clause, following: str) -> tuple[Intent, float] | None:
    rest = clause.words[1:]
    if head in ("give", "suggest", "spot", "find", "look", "search", "analyze", "analyse", "tell", "identify", "see",
                "show", "list", "investigate", "point",
        "schau", "finde", "suche", "cherche", "busca", "read"):  # fmt: skip
        if (
            head in ("see", "tell")
            and ("if" in rest or "whether" in rest)
            and clause.has(lex.TESTS)
            and clause.has(lex.PASS)
        ):
            return "run_command", 0.8
        if head == "look" and following in ("over", "through"):
            return "review_code", 0.85
        if clause.has(lex.FLAWS) and not _error_search(clause):
            return "review_code", 0.85
        if clause.has(_IMPROVES) and clause.has(_MINE):
            return "review_code", 0.75
        if (head == "schau" or (head == "look" and following == "at")) and clause.has(_DIFFS):
            return "review_code", 0.8
    if head == "give" and following in lex.DEFINITE and not clause.has(lex.FLAWS) and clause.has(lex.INDEFINITE):
        return "edit_code", 0.7
    if head == "give" and making("create", clause)[0] == "create_project" and clause.has(_STARTERS):
        return "create_project", 0.8
    if head in ("show", "display") and following in ("a", "an") and clause.has(lex.PIECES):
        return "edit_code", 0.7
    if head == "open" and "browser" in rest:
        return "run_command", 0.75
    if head == "open" and clause.has(_REQUESTS_FOR_MERGE):
        return "run_command", 0.7
    if head == "print" and not clause.has(lex.DEFINITE):
        return "edit_code", 0.7
    if head == "print":
        return "run_command", 0.7
    if head == "name" or (head == "display" and clause.has(_SCREEN)):
        return "edit_code", 0.65
    if head in ("explain", "describe", "summarize", "summarise", "outline", "list") and _into_documents(clause):
        return "write_docs", 0.85
    intent, confidence = asked_about(clause, said=True)
    return intent, confidence


def _error_search(clause: Clause) -> bool:
    """“Search for the word bug”, “find where the issue id is set”: not a review."""
    return LITERAL in clause.words or QUOTED in clause.words or clause.has(_PLACES)


def _reviewing(head: str, clause: Clause, following: str) -> tuple[Intent, float]:
    if with_program(clause):
        return "run_command", 0.75
    if head in ("check", "verify", "vérifie", "comprueba", "verifica", "prüfe", "überprüfe", "examine"):
        if not clause.named and clause.has(_STATES):
            return "run_command", 0.75
        if clause.words[-1] in ("types", "typing") and len(clause.words) <= 4:
            return "run_command", 0.75
        if "history" in clause.words:
            return "explain_code", 0.75
        if following == "out":
            return ("run_command", 0.8) if clause.has(lex.VERSION_CONTROL) else ("explain_code", 0.6)
        if following in ("if", "whether", "that", "ob", "si", "se", "out"):
            runs = clause.has(lex.PASS) or clause.has(_BUILDS)
            if runs:
                return "run_command", 0.85
            return ("review_code", 0.7) if clause.has(lex.FLAWS) else ("explain_code", 0.75)
        if following in ("where", "how", "why", "which", "what", "who"):
            return "explain_code", 0.8
        if following in ("in", "out"):
            return "run_command", 0.6
    return "review_code", 0.9


def _running(head: str, clause: Clause, thing: list[str]) -> tuple[Intent, float]:
    if head in ("start", "starte", "clone", "inicia") and making("create", clause)[0] == "create_project":
        if "new" in thing or not clause.has(_SERVERS):
            return "create_project", 0.85
        return "run_command", 0.7
    if head in ("time", "measure", "profile", "test", "teste", "reset", "revert", "switch", "fetch", "dump", "stop"):
        return "run_command", 0.75
    return "run_command", 0.93


def _editing(head: str, clause: Clause, thing: list[str], parts: list[Clause]) -> tuple[Intent, float]:
    if (thing and thing[-1] in ("branch", "tag")) or "branch" in thing or (head == "apply" and clause.has(_MIGRATIONS)):
        return "run_command", 0.75
    if (with_program(clause) and lex.PIECES.isdisjoint(thing)) or (
        head in ("upgrade", "update") and not lex.PROGRAMS.isdisjoint(thing)
    ):
        return "run_command", 0.7
    if thing and thing[-1] in ("review", "code-review"):
        return "review_code", 0.8
    if _documents(clause, thing):
        return "write_docs", 0.9
    if thing and thing[0] in _IT and len(thing) <= 2 and _spoken_of_docs(clause, parts):
        return "write_docs", 0.75
    if head in (
        "remove",
        "reduce",
        "improve",
        "replace",
        "apply",
        "introduce",
        "optimize",
        "optimise",
        "make",
        "eliminate",
        "verbessere",
        "get",
        "use",
    ) and (clause.has(lex.SHAPE) or "injection" in clause.words or (head == "introduce" and clause.has(_SEAMS))):
        return "refactor_code", 0.8
    return "edit_code", 0.9


_MIGRATIONS = frozenset(("migration", "migrations", "stash"))
_LOOKS = lex.word_set("color colour size font position margin generator parser builder link")


def _on_docs(clause: Clause) -> bool:
    return clause.has(lex.DOCS) and not clause.has(_RUNNING)


def _spoken_of_docs(clause: Clause, parts: list[Clause]) -> bool:
    """Whether “it” is documentation: what was named last, just before, else anywhere."""
    place = parts.index(clause) if clause in parts else 0
    for part in reversed(parts[:place]):
        if part.named or _on_docs(part):
            return _on_docs(part)
    return any(part is not clause and _on_docs(part) for part in parts)


def _documents(clause: Clause, thing: list[str]) -> bool:
    """Whether what is written or changed is documentation, not code that has to do with it."""
    if (
        not clause.has(lex.DOCS)
        and "notes" not in thing
        and not any(word.endswith((".md", ".rst")) for word in clause.words)
    ):
        return False
    if (
        not lex.DOCS.isdisjoint(thing)
        or ("notes" in thing and "release" in thing)
        or any(w.endswith(".md") for w in thing)
    ):
        return (thing[-1] not in _LOOKS and thing[-1] not in lex.PIECES) or thing[-1] in ("file", "section", "page")
    return _into_documents(clause)


_INTO = lex.word_set("in to into of from im in zum dans au en al")


def _into_documents(clause: Clause) -> bool:
    words = clause.words
    for place, word in enumerate(words):
        if (
            word in _INTO
            and words[place + 1 : place + 2]
            and words[place + 1] not in lex.VERBS
            and any(w in lex.DOCS or w.endswith((".md", ".rst")) for w in words[place + 1 : place + 4])
        ):
            return True
    return False
