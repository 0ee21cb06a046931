"""The numbers in an agent's report: commits made, files changed, tests written and passed.

A number counts only in a plain statement whose subject is the agent's own work, in English, German, French, Spanish or
Italian. A number that is too high is a false claim; what can't be counted for certain is ignored.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

from sidecar.verify.prose import find_doubt, sentences

Kind = Literal["commits", "created", "deleted", "changed", "tests", "passed"]

_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve",
    "ein(?:e[nms]?)? zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "une? deux trois quatre cinq six sept huit neuf dix onze douze",
    "un[oa]? dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "un[oa]? due tre quattro cinque sei sette otto nove dieci undici dodici",
)
_NUMBERS = [[line.split()[place] for line in _NUMBER_WORDS] for place in range(12)]
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,6}|an?(?:\s+single)?|" + "|".join(word for row in _NUMBERS for word in row) + ")"
_COMMITS = r"commits?"
_FILES = r"files?|dateien?|fichiers?|archivos?|ficheros?"
_TESTS = r"(?:test\s+)?cases|tests?|specs?|testfälle|pruebas?|(?:casi|cas|casos)\s+(?:di|de)\s+(?:test|pruebas?)"
_NOUN = (
    rf"(?:(?P<commits>{_COMMITS})|(?P<files>{_FILES})|(?P<tests>{_TESTS}))\b"
    rf"(?!\s+(?:{_FILES}|suites?|functions?|messages?|modules?|folders?)\b)"
)
#: Words between a number and its noun, as in "2 new Python files"; a plural is a noun of its own, and no preposition.
_ADJECTIVE = (
    r"(?!(?:in|of|from|to|for|with|across|and|or|per|by|on|at|the|is|are|was|were|line|lines|und|et|y|e|de|von)\b)"
    r"(?:css|js|ts|less|sass|neue|nouveaux|nouvelles|nuev[oa]s|otr[oa]s|autres|nuovi|altri|[^\W\d_][\w/+-]*[^\Ws])\s+"
)
_COUNTED = (
    rf"(?P<number>{_NUMBER})(?:\s*(?:/|of|von|sur|de|di)\s*(?:the\s+|all\s+)?\d{{1,6}})?\s+"
    rf"(?:{_ADJECTIVE}){{0,2}}?{_NOUN}"
)
_CREATE = (
    r"created|added|wrote|written|generated|introduced|made|produced|committed|pushed|split|erstellt|angelegt|hinzugefügt|"
    r"geschrieben|gemacht|erzeugt|créée?s?|ajoutée?s?|écrite?s?|cread[oa]s?|creé|añadid[oa]s?|añadí|escrit[oa]s?|"
    r"escribí|hecho|creat[oaie]|aggiunt[oaie]|scritt[oaie]|fatto"
)
_CHANGE = (
    r"made\s+(?:the\s+|some\s+)?(?:changes|edits|updates)\s+(?:to|in)|changes|touches|affects|"
    r"changed|modified|updated|edited|touched|rewrote|rewritten|refactored|fixed|adjusted|patched|reformatted|renamed|"
    r"replaced|geändert|bearbeitet|aktualisiert|angepasst|modifiziert|modifiée?s?|changée?s?|corrigée?s?|"
    r"modificad[oa]s?|modifiqué|cambiad[oa]s?|cambié|actualizad[oa]s?|actualicé|modificat[oaie]|cambiat[oaie]|"
    r"aggiornat[oaie]"
)
_DELETE = (
    r"deleted|removed|gelöscht|entfernt|supprimée?s?|eliminad[oa]s?|eliminé|borrad[oa]s?|borré|eliminat[oaie]|"
    r"rimoss[oaie]|cancellat[oaie]"
)
_VERB = rf"(?:(?P<create>{_CREATE})|(?P<change>{_CHANGE})|(?P<delete>{_DELETE}))\b"
_PASSES = (
    r"(?:pass|passes|passed|passing|green|succeed|succeeds|succeeded|bestanden|grün|passent|réussis?|réussissent|pasan|"
    r"pasaron|superad[oa]s?|passano|superat[oaie])\b"
)
#: What may precede the statement: the agent itself, and nothing else that could be its subject.
_SUBJECT = (
    r"^[\W_]*(?:\d{1,2}[.)]\s+)?[\W_]*(?:(?:(?:the|this|my)\s+(?:change|fix|patch|commit)|it|i|we|i've|we've|have|has|been|then|also|and|now|"
    r"successfully|in total|altogether|overall|done|"
    r"summary|a total of|total of|exactly|all|both|ran|ich|wir|habe|haben|es|wurden?|insgesamt|alle|"
    r"j['’]ai|j['’]|nous|avons|ai|tous|toutes|et|he|hemos|y|todos|todas|se|ho|abbiamo|e|tutti|tutte)"
    r"[\s:,–—-]+)*[*_`]*"
)
#: Between a verb and its number: "in 2 commits", "a total of 3 files", never another verb.
_BETWEEN = (
    r"(?:\s+(?!(?:to|that|which|who|so|for|when|by|using|with|from|if|about|around|roughly|approximately|nearly|almost|"
    r"some|up|least|most|etwa|rund|environ|unos|circa)\b)[\w'’`./-]+){0,6}?"
    r"(?:\s+(?P<inside>in|across|into|over|en|dans)(?:\s+(?:the|exactly|all|only|just))?|"
    r"\s+(?:a\s+total\s+of|exactly|all|only|just|the\s+following|insgesamt|genau))?\s+"
)
_AUXILIARY = (
    r"(?:\s+(?:were|was|have|has|been|are|is|now|successfully|wurden?|sind|neu|ont|été|sont|fueron|han|sido|sono|stat[ei]|"
    r"all|still|again|alle|jetzt))*\s+"
)
#: As in "all 4 changed files are formatted"; those of a commit or of someone else are not the agent's own.
_CHANGED_FILES = (
    rf"(?P<change>changed|modified|edited|updated|touched|geänderten?|modifiés|modificados|modificati)\s+"
    rf"(?P<files>{_FILES})\b(?!\s+(?:in|of|from|by|since|on|that|which)\b)"
)
_KEEPS_FILES = re.compile(r"committed|pushed|split", re.IGNORECASE)
_RELATIVE = r"(?!\s+(?:that|which|who)\b)"
#: Sentences without these words claim no number.
_MENTIONS = re.compile(rf"commit|(?:{_FILES}|tests?|cases|specs?|testf|prueba|pass(?:ed|ing))", re.IGNORECASE)
_QUANTIFIES = re.compile(
    r"\d|\bcommits?\b|\b(?:" + "|".join(word for row in _NUMBERS for word in row) + r")\b", re.IGNORECASE
)


class _Patterns(NamedTuple):
    active: re.Pattern[str]
    passive: re.Pattern[str]
    more: re.Pattern[str]
    changed: re.Pattern[str]
    label: re.Pattern[str]
    passing: re.Pattern[str]
    pass_label: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Compiled on first use, because that takes longer than most verifications."""
    mark, end = r"[*_`\s]*[:=][*_`\s]*", r"[*_`.\s]*$"
    articles = r"(?:(?:the|these|die|les|las|los|i|gli|of)\s+)*"
    texts = (
        rf"{_SUBJECT}{_VERB}:?{_BETWEEN}[*_`]*{_COUNTED}",
        rf"{_SUBJECT}{_COUNTED}{_RELATIVE}{_AUXILIARY}{_VERB}",
        rf"^[\W_]*{_COUNTED}[\W_]*$",
        rf"{_SUBJECT}{articles}(?P<number>{_NUMBER})\s+{_CHANGED_FILES}",
        rf"^[\W_]*(?:new\s+)?{_NOUN}(?:\s+{_VERB})?{mark}(?P<number>{_NUMBER}){end}",
        rf"{_SUBJECT}{articles}{_COUNTED}{_RELATIVE}{_AUXILIARY}{_PASSES}",
        rf"^[\W_]*(?:{_TESTS})\s+{_PASSES}{mark}(?P<number>\d{{1,6}})\b",
    )
    return _Patterns(*(re.compile(text, re.IGNORECASE) for text in texts))


_PASSED = re.compile(r"(?:^|[\s(:])(?P<number>\d{1,6})\s+(?:passed|passing)\b")
#: Passing tests in other orders of words: "ran 12 tests, all green", "tests pass (12/12)".
_PASSED_TOO = re.compile(
    r"\bran\s+(?:all\s+|the\s+)*(?P<ran>\d{1,6})\s+(?:\w+\s+)?tests?\b[^.\n]{0,30}?\b(?:pass\w*|green|success\w*|ok)\b"
    r"|(?P<run>\d{1,6})\s+(?:\w+\s+)?tests?\s+(?:ran|run|executed|completed|finished)\s+(?:successfully|green|without\s+\w+)"
    r"|\btests?\s+(?:all\s+|now\s+)*(?:pass|passed|passing|green)\b[\s:(]{0,3}(?P<some>\d{1,6})\s*(?:/|of|out\s+of)\s*\d"
    r"|\b(?:\d{1,3}\s?%|all)\s+of\s+(?:the\s+)?(?P<all>\d{1,6})\s+(?:\w+\s+)?tests?\s+pass",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r",\s+|\s+[–—-]\s+|[()]|\s+(?:and|und|et|y|e)\s+(?=\S)")
_FOREIGN_DOUBT = re.compile(
    r"\b(?:nicht|kein\w*|nie|würde\w*|könnte\w*|sollte\w*|falls|wenn|bevor|ne|pas|jamais|pourra\w*|devra\w*|"
    r"nunca|podría\w*|debería\w*|antes|non|mai|potrebbe\w*|dovrebbe\w*|prima)\b",
    re.IGNORECASE,
)


class Count(NamedTuple):
    kind: Kind
    number: int
    #: The words that claim it.
    text: str
    #: They don't say who did it: "Files changed: 3", "2 files changed".
    impersonal: bool = False


def parse_counts(report: str) -> list[Count]:
    """The numbers that a report claims, in order; for each kind the highest one counts."""
    found: list[Count] = []
    for sentence in sentences(report):
        if not (_MENTIONS.search(sentence) and _QUANTIFIES.search(sentence)):
            continue
        doubt = find_doubt(sentence)
        if match := _FOREIGN_DOUBT.search(sentence):
            doubt = min(doubt, match.start())
        found += _counts(sentence, doubt)
    return found


def _counts(sentence: str, doubt: int) -> Iterator[Count]:
    patterns = _patterns()
    if label := patterns.label.match(sentence):
        if label.end() <= doubt and (kind := _kind(label, label)) is not None:
            yield Count(kind, _value(label["number"]), sentence.strip(), impersonal=True)
        return
    if (passed := _PASSED_TOO.search(sentence)) and passed.end() <= doubt:
        yield Count("passed", int(passed[passed.lastgroup or 0]), passed[0].strip())
        return
    bare = patterns.more.match(sentence)
    if bare is not None and bare["commits"]:
        yield Count("commits", _value(bare["number"]), sentence.strip(), impersonal=True)
        return
    start, verb, impersonal = 0, None, False
    for clause in _CLAUSE.split(sentence):
        place = sentence.find(clause, start)
        start = place + len(clause)
        if start > doubt:
            return
        if changed := patterns.changed.match(clause):
            yield Count("changed", _value(changed["number"]), clause.strip(), impersonal=True)
            continue
        if passing := patterns.passing.match(clause) or _PASSED.search(clause) or patterns.pass_label.match(clause):
            if "commits" not in passing.groupdict() or passing["tests"]:
                yield Count("passed", _value(passing["number"]), clause.strip())
            continue
        active = patterns.active.match(clause)
        counted = active or patterns.passive.match(clause)
        if counted is not None:
            verb, impersonal = counted, active is None
        elif verb is not None:
            counted = patterns.more.match(clause)
        if counted is not None and verb is not None and (kind := _kind(counted, verb)) is not None:
            yield Count(kind, _value(counted["number"]), clause.strip(), impersonal)


def _kind(counted: re.Match[str], verb: re.Match[str]) -> Kind | None:
    created = verb["create"] is not None or (verb is counted and verb["change"] is None and verb["delete"] is None)
    if counted["commits"]:
        return "commits" if created else None
    if (verb["create"] or "").lower() == "committed":
        return None  # the files of a commit need not be new
    if counted["tests"]:
        return "tests" if verb["create"] else None
    if verb["create"] and _KEEPS_FILES.fullmatch(verb["create"]):
        return None  # what is committed or split may have been there before
    if verb["delete"]:
        return "deleted"
    if verb["change"] or verb.groupdict().get("inside"):
        return "changed"
    return "created" if verb["create"] else None


def _value(word: str) -> int:
    digits = word.replace(",", "")
    if digits.isdigit():
        return int(digits)
    low = word.lower()
    for number, row in enumerate(_NUMBERS, start=1):
        if any(re.fullmatch(each, low) for each in row):
            return number
    return 1  # an article
