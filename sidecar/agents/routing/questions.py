"""Questions: about this code, about the state of the build, for an opinion on the code, or about the world."""

from sidecar.agents.routing import lexicon as lex
from sidecar.agents.routing.sentence import LITERAL, QUOTED, Clause
from sidecar.wire.tasks import Intent

_HERE = lex.word_set("this these our we here my us diese dieser cette ce esta este")
_THE = lex.word_set("the that it der die das le la les el los las den dem se l'")
_MINE = lex.word_set("this these my code pr diff change changes i here module file it")
_ANYTHING = frozenset(("anything", "something"))
_OURS = lex.word_set("this these my our pr diff")
_JUDGED = lex.word_set("is are any anything does did do what que what's how could can was has have")
_LOOKS = lex.word_set("list ls dir search grep find cat open show tree locate liste suche busca cherche trace")
_AUXILIARIES = lex.word_set("is are was were do does did will should would can has have")
_OPINION = lex.word_set("think penses-tu pensez-vous denkst hältst opinas piensas parece")
_BOTH = frozenset(("two", "both", "these", "our"))
_RUNNABLE = lex.TESTS | lex.PROGRAMS | lex.CHECKERS | frozenset(("command", "script"))
_FAIL = frozenset(("fail", "fails", "failing", "failed", "red", "broken"))
_HOW_DOES = (["how", "does"], ["how", "do"], ["what", "does"])
_WORLD_LIKE = frozenset(("explain", "give", "tell", "compare"))


def asked_about(clause: Clause, said: bool = False) -> tuple[Intent, float]:
    """`said`: it is no question but a sentence like “explain…” or “show…”."""
    words = clause.words
    if (said and "output" in words and (LITERAL in words or clause.has(_RUNNABLE))) or (
        not clause.named and clause.has(lex.MACHINE)
    ):
        return "run_command", 0.75
    if (not said and _runs(clause)) or ("git" in words and "status" in words):
        return "run_command", 0.8
    if not (said or clause.asks) and words[0] in ("when", "wenn", "if") and not _AUXILIARIES.issuperset(words[1:2]):
        return "edit_code", 0.65
    if words[:2] == ["what's", "in"] or words[:3] == ["what", "is", "in"]:
        return "explain_code", 0.8
    if not said and _judges(clause):
        return "review_code", 0.8
    evidence = _evidence(clause)
    if said:
        evidence += 3 if clause.head in _LOOKS else 1 if clause.head not in _WORLD_LIKE else 0
    if evidence >= 1:
        return "explain_code", min(0.95, 0.7 + 0.05 * evidence)
    return "chat", 0.6 if evidence == 0 else 0.8


def _evidence(clause: Clause) -> int:
    """How much speaks for this code rather than the world."""
    words = clause.words
    score = 4 * clause.named + 2 * clause.has(_HERE) + clause.has(_THE) + (LITERAL in words or QUOTED in words)
    score += 2 * clause.has(lex.CODE)
    score -= (1 if clause.has(_BOTH) and clause.has(lex.CODE) else 3) * clause.has(lex.WORLD)
    if words[:2] in _HOW_DOES and words[2:3] and words[2] in ("a", "an") and not (clause.named or clause.has(_HERE)):
        score -= 3
    if words[:2] == ["what", "time"]:
        score -= 3
    if words[:3] == ["why", "did", "you"] or words[:2] == ["did", "you"]:
        score += 3
    if words[0] in ("what", "what's") and len(words) > 2 and words[1] in ("is", "are", "a", "an", "the", "does"):
        score -= 1
    if words[0] == "how" and len(words) > 2 and words[1] in ("do", "can", "to") and words[2] in ("i", "you"):
        score -= 2 if not (clause.has(_HERE) or clause.named) else 0
    if score <= 0 and words[:2] == ["what", "does"] and words[-1] in ("do", "return"):
        score = 1
    if words[:2] in (["what", "is"], ["what", "are"]) and not clause.named and not clause.has(_HERE | _THE):
        score -= 2
    if words[0] in ("should", "would") or ("should" in words and "one" in words):
        score -= 3
    if words[0] in ("where", "where's") or "anywhere" in words or words[:2] == ["what", "happens"]:
        score += 2
    if words[0] == "how" and words[1:2] and words[1] in ("is", "are") and words[2:3] != ["you"]:
        score += 1
    if "what" in words[:2] and words[-1] in ("is", "are") and not {"a", "an"}.isdisjoint(words[1:4]):
        # “Explain what an API is.”
        score -= 3
    if words[0] == "how" and "about" in words and "go" in words:
        # “How would I go about adding…” is asked by one who stands before the code.
        score += 3
    return score


def _runs(clause: Clause) -> bool:
    words = clause.words
    if words[0] in ("do", "does", "is", "are", "did") and clause.has(lex.TESTS) and clause.has(lex.PASS):
        return True
    if words[0] == "does" and len(words) <= 4 and clause.has(lex.PASS) and words[-1] not in ("work", "works"):
        return True
    if words[0] in ("is", "are") and words[-1] == "running":
        return True
    if "version" in words and not {"installed", "running", "my", "have"}.isdisjoint(words):
        return True
    if words[0] in ("which", "why", "what") and "tests" in words and clause.has(_FAIL) and not clause.named:
        return True
    return "output" in words and (LITERAL in words or clause.has(lex.PROGRAMS))


def _judges(clause: Clause) -> bool:
    if clause.head not in _JUDGED or not clause.has(lex.FLAWS):
        return clause.has(_OPINION) and (clause.has(_MINE) or "mon" in clause.words)
    if "if" in clause.words and "would" in clause.words:
        return False
    if clause.head == "any" or ("improve" in clause.words and "you" in clause.words):
        return True
    if not {"better", "good", "clean"}.isdisjoint(clause.words) and not (clause.named or clause.has(_OURS)):
        return False
    there = clause.words[1:2] == ["there"] and clause.has(_THE) and clause.has(lex.CODE)
    return clause.has(_MINE) or clause.named or clause.has(_ANYTHING) or there
