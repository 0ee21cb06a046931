"""A sentence cut into clauses: the word at the head of each, and the words that follow it."""

import re
from dataclasses import dataclass, field

from sidecar.agents.routing.lexicon import BRANDS, CHAT, FILLERS, NEGATIONS, QUESTIONS, STOPS, VERBS

_PIECES = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|“[^”]*”|«[^»]*»|\"[^\"\n]*\"|(?<!\w)'[^'\n]+'(?!\w)|\n+|[^\s\"`“”]+", re.DOTALL
)
_PATH = re.compile(r"\.{0,2}/[\w.-]|\w/[\w.*]|\w/$|\w\.[a-z][a-z0-9]{0,4}$", re.IGNORECASE)
_NAME = re.compile(r"\w_\w|^_\w|[a-z][A-Z]|\w\(\)|^[A-Z][a-z]+[A-Z]|::|^@\w")
_OPENING, _CLOSING = "([{<¿¡'*#>-–—•", ".,;:!?)]}'*…"
_ENDS = frozenset(".!?;:")
_JOINTS = frozenset(("and", "then", "but", "und", "et", "y", "e", "or", "&", "dann", "puis", "luego"))
_AFTER_COMMA = frozenset(("but", "please", "just", "then", "and", "do", "i", "so", "only", "can", "could", "tell"))
_AFTERWORDS = frozenset(("please", "now", "thanks", "bitte", "again"))
_FRAMEWORKS = re.compile(
    r"(?:node|next|vue|express|three|d3|react|nuxt|discord|socket|asp|chart)\.(?:js|io|net)$", re.IGNORECASE
)

#: The head and the tail of a long text say what is wanted; what is pasted between them does not.
_HEAD, _TAIL = 600, 200
QUOTED = '"'
LITERAL = "`"


@dataclass(slots=True)
class Clause:
    #: From the head on, in lower case, without what is only said around it.
    words: list[str] = field(default_factory=list)
    negated: bool = False
    #: It names something of the code: a path, an identifier, something between backticks.
    named: bool = False
    path: bool = False
    asks: bool = False
    #: Said before the head: “I”, “you”, “we”…
    before: frozenset[str] = frozenset()

    @property
    def head(self) -> str:
        return self.words[0] if self.words else ""

    def object(self) -> list[str]:
        """What the verb is about, up to where something is said about that."""
        words = self.words
        for place in range(1, len(words)):
            if words[place] in STOPS and place > 1:
                return words[1:place]
        return words[1:]

    def has(self, words: frozenset[str]) -> bool:
        return not words.isdisjoint(self.words)


def clauses(text: str) -> list[Clause]:
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    found: list[Clause] = []
    current: list[str] = []
    named = path = asks = False

    def close() -> None:
        nonlocal current, named, path, asks
        if current:
            found.append(_clause(current, named, path, asks))
        current, named, path, asks = [], False, False, False

    for piece in _PIECES.findall(text):
        first = piece[0]
        if first == "\n":
            close()
            continue
        if first == "`":
            current.append(LITERAL)
            named = True
            continue
        if first in '"“«' or (first == "'" and len(piece) > 2 and piece[-1] == "'"):
            current.append(QUOTED)
            continue
        if piece.isalpha():
            # The common case, and the only one that is felt: a plain word.
            word = piece.lower()
            if not (named or piece == word) and _NAME.search(piece) and word not in BRANDS:
                named = True
            if current and _begins(word, current):
                current.pop()
                close()
            current.append(word)
            continue
        bare = piece.lstrip(_OPENING).rstrip(_CLOSING)
        if not bare:
            if piece[-1] in "?!.;:":
                asks = asks or "?" in piece
                close()
            continue
        tail = piece[len(piece.rstrip(_CLOSING)) :]
        if (first == "-" and len(piece) > 1) or (first == "." and len(piece) > 1 and piece[1] == "/"):
            bare = piece.rstrip(_CLOSING)
        word = bare.lower().replace("’", "'").removesuffix("-moi").removesuffix("-nous")
        if (word == bare and bare.isalpha()) or word in BRANDS:
            named = named or "()" in tail
        elif _PATH.search(bare) and not _FRAMEWORKS.search(bare):
            named = path = True
        elif _NAME.search(bare) or "()" in piece:
            named = True
        if current and _begins(word, current):
            current.pop()
            close()
        current.append(word)
        if tail:
            if "?" in tail:
                asks = True
            if not _ENDS.isdisjoint(tail):
                close()
            elif "," in tail:
                current.append(",")
    close()
    return found


def _begins(word: str, current: list[str]) -> bool:
    """Whether a clause of its own begins here."""
    last = current[-1]
    if last == ",":
        return word in VERBS or word in NEGATIONS or word in _AFTER_COMMA
    return last in _JOINTS and (word in VERBS or word in NEGATIONS) and not _asking(current)


def _asking(words: list[str]) -> bool:
    for word in words:
        if word in QUESTIONS:
            return True
        if word not in FILLERS:
            return False
    return False


def _clause(words: list[str], named: bool, path: bool, asks: bool) -> Clause:
    if words[0] in ("in", "inside", "within") and "," in words[1:5] and words[-1] != ",":
        # “In server.ts, respond with 404…”: where comes first, what comes after.
        words = words[words.index(",") + 1 :]
    place, negated = 0, False
    last = len(words) - 1
    while place < last:
        word = words[place]
        if word == "do" and words[place + 1] == "not":
            negated = True
            place += 2
            break
        if (word, words[place + 1]) in (("go", "ahead"), ("for", "now")):
            place += 2
            continue
        if word in NEGATIONS:
            negated = True
            place += 1
            break
        if word in QUESTIONS and not _request(words, place):
            break
        if word not in FILLERS and word != "," and not (place == 0 and word in CHAT and word not in VERBS):
            break
        place += 1
    before = frozenset(words[:place])
    kept = [word for word in words[place:] if word != ","]
    while len(kept) > 1 and kept[-1] in _AFTERWORDS:
        kept.pop()
    if len(kept) > 1 and kept[0].endswith("ly") and kept[1] in VERBS:
        del kept[0]
    if kept and kept[0] not in VERBS and kept[0].endswith("ing"):
        kept[0] = _plain(kept[0])
    return Clause(kept, negated, named, path, asks, before)


def _plain(word: str) -> str:
    """“Running” is “run”, “making” is “make”, if that is a verb that we know."""
    for plain in (word[:-3], word[:-4], f"{word[:-3]}e"):
        if plain in VERBS:
            return plain
    return word


def _request(words: list[str], place: int) -> bool:
    """“Can you…” asks for work, “can it…” asks a question."""
    if words[place] not in FILLERS:
        return False
    following = words[place + 1] if place + 1 < len(words) else ""
    if words[place] in ("should", "can", "could", "would") and following in ("i", "it"):
        return False
    if (words[place] == "should" and following == "we") or (words[place] == "have" and place == 0):
        return False
    return following in ("you", "we", "i", "to", "me", "like", "please", "have", "need", "want") or place > 0
