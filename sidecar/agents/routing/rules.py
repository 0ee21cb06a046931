"""What each clause asks for, and what the sentence as a whole asks for."""

from typing import NamedTuple

from sidecar.agents.routing import lexicon as lex
from sidecar.agents.routing.making import making
from sidecar.agents.routing.questions import asked_about
from sidecar.agents.routing.sentence import LITERAL, QUOTED, Clause, clauses
from sidecar.agents.routing.stems import by_stem
from sidecar.agents.routing.verbs import by_verb
from sidecar.wire.tasks import Intent


class Guess(NamedTuple):
    intent: Intent
    confidence: float
    why: str


#: When several things are asked for: who makes changes also runs and explains, and not the other way round.
_RANK: dict[Intent, int] = {
    "create_project": 5,
    "edit_code": 4,
    "refactor_code": 4,
    "write_docs": 4,
    "run_command": 3,
    "review_code": 2,
    "explain_code": 1,
    "chat": 0,
}
_WORDS: dict[Intent, str] = {
    "create_project": "it asks for a new project",
    "edit_code": "it asks for a change",
    "refactor_code": "it asks to restructure code",
    "write_docs": "it asks for documentation",
    "run_command": "it asks to run something",
    "review_code": "it asks for a review",
    "explain_code": "it asks about the code and for no change",
    "chat": "it is about no code",
}
_IT = lex.word_set("it them this that those these")


def guess(text: str) -> Guess:
    if (by_its_stem := by_stem(text)) is not None:
        intent, stem = by_its_stem
        return Guess(intent, 0.75, f"{_WORDS[intent]} (“{stem}”)")
    parts = clauses(text)
    found: list[tuple[Intent, float, str]] = []
    forbidden = False
    for clause in parts:
        if clause.negated:
            forbidden = forbidden or clause.has(lex.CHANGES)
            if not (clause.has(lex.EXPLAIN) and clause.before & {"i"}):
                continue
            found.append(("explain_code", 0.85, clause.head))
            continue
        if len(parts) > 1 and _aside(clause):
            continue
        meant = _by_head(clause, parts)
        if meant is not None:
            found.append((*meant, clause.head))
    best = max(found, key=lambda each: _RANK[each[0]], default=None)
    if best is None and parts and parts[0].before & {"thanks", "thank"}:
        return Guess("chat", 0.8, "it says thanks")
    if best is None or best[0] == "chat":
        trouble = _trouble(parts)
        if trouble is not None and not (best is not None and len(parts) == 1):
            return trouble
    if best is None:
        return _last_resort(parts, forbidden)
    intent, confidence, word = best
    if forbidden and intent == "chat":
        intent = "explain_code"
    others = {each[0] for each in found if each[0] not in (intent, "chat", "explain_code")}
    if others and _RANK[intent] - max(_RANK[each] for each in others) < 1:
        confidence = min(confidence, 0.7)
    said = f" (“{word}”)" if word not in (LITERAL, QUOTED) else ""
    return Guess(intent, confidence, f"{_WORDS[intent]}{said}{', and forbids changes' if forbidden else ''}")


def _by_head(clause: Clause, parts: list[Clause]) -> tuple[Intent, float] | None:
    head = clause.head
    if _typed(clause):
        return "run_command", 0.95
    if clause.words[:2] == ["code", "review"] or (head in ("do", "perform", "conduct") and clause.has(_REVIEWS)):
        return "review_code", 0.9
    if head == "comment" and clause.asks and clause.words[1:2] and clause.words[1] not in lex.DEFINITE:
        return asked_about(clause)
    if head in ("if", "when", "wenn") and not clause.asks and clause.has(lex.EDIT):
        return "edit_code", 0.7
    if (head == "as" and "want" in clause.words) or clause.words[:2] == ["take", "care"]:
        return "edit_code", 0.8
    if head in ("have", "take", "go") and not {"look", "over", "through"}.isdisjoint(clause.words[1:4]):
        return ("review_code", 0.8) if clause.has(_CHANGES) or clause.path else ("explain_code", 0.7)
    if _wished(clause):
        return making("create", Clause(["create", *clause.words], path=clause.path, named=clause.named))
    if head == "do" and not clause.asks and (clause.words[1:3] == ["the", "same"] or _IT.issuperset(clause.words[1:2])):
        return "edit_code", 0.6
    if "instead" in clause.before and head == "of" and clause.has(lex.VERBS):
        return "edit_code", 0.65
    if (head in lex.QUESTIONS and head not in lex.VERBS) or head in ("do", "any"):
        return asked_about(clause)
    if clause.words[:2] in (["type", "check"], ["whoami"], ["pwd"]):
        return "run_command", 0.85
    if head in ("unit", "test", "tests") and "for" in clause.words[1:3]:
        return "edit_code", 0.7
    if clause.words in (["tests"], ["unit", "tests"], ["build"]):
        return "run_command", 0.8
    if _is_chat(clause):
        return "chat", 0.9
    if head in lex.VERBS and not _noun(clause):
        return by_verb(head, clause, parts)
    if clause.before & _WISHES and clause.has(lex.WORLD) and len(clause.words) <= 3:
        return "chat", 0.7
    if clause.before & _WISHES and (head in lex.INDEFINITE or head in lex.DEFINITE):
        return making("create", Clause(["create", *clause.words], path=clause.path, named=clause.named))
    if clause.before & _REQUESTS:
        for place, word in enumerate(clause.words):
            if word in lex.VERBS:
                return by_verb(word, Clause(clause.words[place:], path=clause.path, named=clause.named), parts)
    if clause.before & _WISHES:
        return "edit_code", 0.6
    if clause.asks:
        return asked_about(clause)
    return None


def _wished(clause: Clause) -> bool:
    """“We need rate limiting”, “can we have pagination?”: what follows is a thing, whatever verb it looks like."""
    before = clause.before
    if before & {"to", "you", "help"} or clause.head in lex.DEFINITE or clause.head in lex.INDEFINITE:
        return False
    if "have" in before and before & {"can", "could"} and before & {"we", "i"}:
        return True
    return bool(before & {"need", "want"} and before & {"we", "i"} and len(clause.words) > 1 and not clause.asks)


def _aside(clause: Clause) -> bool:
    """“Before I refactor this…”, “I want to add a cache later”: what is not asked for now."""
    return "later" in clause.words or bool(clause.before & _TIMES and clause.before & _SUBJECTS)


_TIMES = frozenset(("before", "after", "once"))
_SUBJECTS = frozenset(("i", "we", "you"))


def _noun(clause: Clause) -> bool:
    """“Install button should be green”, “port 8080 is taken”: what looks like a verb is none."""
    words = clause.words
    if len(words) < 3 or clause.asks or words[1] in lex.DEFINITE or words[1] in lex.INDEFINITE:
        return False
    if (words[1].isdigit() and words[0] == "port") or words[1] in _MODALS:
        return True
    return words[2] in _MODALS and (words[1] in lex.PIECES or words[1] in lex.CODE)


_MODALS = lex.word_set("should must shouldn't needs is isn't doesn't does")
_REQUESTS = lex.word_set("can could would kannst könntest puedes peux-tu pouvez-vous peux podrías")
_WISHES = lex.word_set("want need like quiero möchte veux brauche")
_REVIEWS = frozenset(("review", "audit", "inspection", "critique"))
_CHANGES = lex.word_set("pr pull diff changes change code commit my implementation")
_SMALL_TALK = lex.word_set("joke haiku poem story something yourself advice ideas")


def _is_chat(clause: Clause) -> bool:
    words = clause.words
    if clause.has(_SMALL_TALK) and not clause.named and not clause.has(lex.CODE):
        return True
    return len(words) <= 4 and words[0] in lex.CHAT and not clause.has(lex.VERBS)


def _typed(clause: Clause) -> bool:
    """Whether it is a command line as one types it."""
    words = clause.words
    head, rest = words[0], words[1:]
    if clause.asks or clause.before & {"what", "how"}:
        return False
    if head in _LISTERS and rest and rest[0].startswith("-"):
        return True
    if head.startswith("./"):
        return True
    if head in lex.CHECKERS and head != "make":
        return not rest or rest[0] not in lex.NOT_A_PART
    if head in lex.PROGRAMS:
        return bool(rest) and rest[0] not in lex.NOT_A_PART
    if head == "make":
        return not rest or (len(rest) == 1 and rest[0] in lex.MAKE_TARGETS)
    if head in lex.NAMES_TOO:
        if head == "go":
            return bool(rest) and rest[0] in _GO
        return bool(rest) and (rest[0].startswith(("-", ".")) or clause.path)
    return False


_LISTERS = lex.word_set("ls cat grep find dir tree ps df du")
_GO = lex.word_set("build test run mod vet fmt get install generate")


def _trouble(parts: list[Clause]) -> Guess | None:
    for clause in parts:
        if clause.asks or clause.negated or clause.head in lex.QUESTIONS:
            continue
        if clause.has(lex.TROUBLE) or clause.head.endswith(("error", "exception")):
            return Guess("edit_code", 0.75, "it tells of something that is not as it should be")
    return None


def _last_resort(parts: list[Clause], forbidden: bool) -> Guess:
    if forbidden:
        return Guess("explain_code", 0.8, "it forbids changes")
    if parts and not lex.DOCS.isdisjoint(parts[0].words[:3]):
        return Guess("write_docs", 0.55, "it names documentation")
    for clause in parts:
        for place, word in enumerate(clause.words):
            if word in lex.VERBS and place:
                meant = by_verb(word, Clause(clause.words[place:], path=clause.path, named=clause.named), parts)
                if meant is not None:
                    return Guess(meant[0], 0.55, f"{_WORDS[meant[0]]} (“{word}”), perhaps")
    first = parts[0] if parts else Clause()
    if not lex.PROJECTS.isdisjoint(first.words[:4]) and first.has(lex.LANGUAGES) and not first.asks:
        return Guess("create_project", 0.55, "it names a kind of project and a language")
    if any(not part.asks and part.head in ("there's", "there") and len(part.words) > 2 for part in parts):
        return Guess("edit_code", 0.6, "it tells of something that is there, probably because it should not be")
    if any(not part.asks and part.head in lex.DEFINITE and len(part.words) > 4 for part in parts):
        return Guess("edit_code", 0.55, "it tells how something is, probably because it should not be so")
    if _orders(first):
        return Guess("edit_code", 0.5, f"“{first.head}” seems to ask for something to be done")
    if len(parts) == 1 and len(first.words) == 2 and first.named and first.head.endswith("ize"):
        return Guess("edit_code", 0.5, f"“{first.head}” seems to ask for something to be done")
    if any(part.named or part.has(lex.CODE) for part in parts):
        return Guess("explain_code", 0.5, "it names code, but no rule says what is to be done with it")
    return Guess("chat", 0.5, "no rule recognised it as work on code")


def _orders(clause: Clause) -> bool:
    """A verb that the rules do not know, at the head of a sentence that is neither a question nor about somebody."""
    words = clause.words
    if len(words) < 3 or clause.asks or not words[0].isalpha() or words[0].endswith(("s", "ing", "ed")):
        return False
    if words[0] in lex.CHAT or words[0] in lex.CODE or words[0] in _SOMEBODY or words[1] in _MODALS:
        return False
    return clause.before <= lex.FILLERS and not clause.before & _SPEAKERS


_SOMEBODY = lex.word_set(
    "i i'm you it he she they we that this there here my your our the a an in on at for with about so because "
    "not all every some no what who how lovely"
)
_SPEAKERS = frozenset(("i", "i'm", "i'd", "thanks", "thank"))
