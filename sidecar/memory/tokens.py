"""Code-aware tokens: identifiers split at case and underscores, lightly stemmed, plus the whole identifier."""

import re
from collections import Counter
from functools import lru_cache
from itertools import chain

WORD = re.compile(r"[^\W\d]\w*")
_ASCII_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
#: `no-wrap` is one word too.
_HYPHENATED = re.compile(r"(?<![\w-])[^\W\d_]\w*(?:-[^\W\d_]\w*)+(?![\w-])")
#: A quick look before the exact one: most code has no such word. It starts with the hyphen, which is fast to find.
_MAYBE_HYPHENATED = re.compile(r"-(?<=[^\W_]-)[^\W\d_]")
#: Every byte that is no part of an identifier becomes a space.
_SPACED = bytes(byte if re.match(r"\w", chr(byte), re.ASCII) else 0x20 for byte in range(256))
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_STOP_WORDS = """
a an and are as at be been but by can could did do does each else etc for from had has have how i if in into is it its
me my no not of on onto or our out over same should so some such than that the their them then there these they this
those to too up upon us use used uses using via was we were what when where whether which while who whom why will with
without would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
#: In nearly every function, so that they tell none from another.
_NOT_COUNTED = STOP_WORDS | {"self", "def", "none", "true", "false", "elif", "const", "func", "nil", "null"}
#: By their last letter.
_ENDINGS = {"n": ("ation",), "r": ("ator", "er", "or"), "t": ("ment",), "g": ("ing",), "d": ("ed",), "y": ("ly",)}
_VOWEL = re.compile("[aeiouy]")
_LONGEST = 60
_KEPT_WORDS = 20_000


@lru_cache(20_000)
def stem(word: str) -> str:
    """Cut the common English endings, so that `escapes`, `escaped`, `escaping` and `escaper` are one term."""
    if len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in _ENDINGS.get(word[-1], ()):
        cut = len(word) - len(ending)
        if cut >= 3 and word.endswith(ending) and _VOWEL.search(word, 0, cut):
            word = word[:cut]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == "y":
        word = word[:-1] + "i"
    return word


@lru_cache(5_000)
def terms_of(identifier: str) -> tuple[str, ...]:
    """The terms of one word or identifier: its stemmed parts, and the whole of it if it has several."""
    if identifier.isalpha() and identifier.islower():  # one part, as most words are
        return (stem(identifier)[:_LONGEST],) if len(identifier) > 1 else ()
    parts = [stem(part.lower()) for part in _PARTS.findall(identifier)]
    parts = [part[:_LONGEST] for part in parts if len(part) > 1]
    if len(parts) > 1:
        parts.append(joined(identifier)[:_LONGEST])
    return tuple(parts)


def parts_of(identifier: str) -> list[str]:
    """The stemmed parts of an identifier, without the whole of it."""
    return [stem(part.lower()) for part in _PARTS.findall(identifier) if len(part) > 1]


def word_parts(text: str) -> list[str]:
    """The parts of all identifiers, in lower case and not stemmed."""
    return [part.lower() for word in words_of(text) for part in _PARTS.findall(word) if len(part) > 1]


def joined(identifier: str) -> str:
    """One spelling for `no_wrap`, `noWrap` and `no-wrap`."""
    return identifier.replace("_", "").replace("-", "").lower()


def words_of(text: str) -> list[str]:
    """Every word and identifier; twice as fast for plain ASCII, which most code is."""
    return (_ASCII_WORD if text.isascii() else WORD).findall(text)


class _Terms(dict[str | bytes, tuple[str, ...]]):
    """The terms of each word, for lookups without a Python call. Words that say nothing have none.

    Words of ASCII are bytes, and may begin with digits that are no part of them.
    """

    def __missing__(self, key: str | bytes) -> tuple[str, ...]:
        if len(self) > _KEPT_WORDS:
            self.clear()
        word = key if isinstance(key, str) else key.decode().lstrip("0123456789")
        found = self[key] = () if word.lower() in _NOT_COUNTED else terms_of.__wrapped__(word)
        return found


_terms = _Terms()


def count_terms(text: str) -> Counter[str]:
    """How often each term occurs in a text."""
    words = text.encode().translate(_SPACED).split() if text.isascii() else WORD.findall(text)
    found = Counter(chain.from_iterable(map(_terms.__getitem__, words)))
    if _MAYBE_HYPHENATED.search(text):
        # The pattern is slow, so it sees only what has a hyphen.
        likely = " ".join([word for word in text.split() if "-" in word])
        found.update([joined(word)[:_LONGEST] for word in _HYPHENATED.findall(likely)])
    return found


@lru_cache(5_000)
def name_terms(name: str) -> tuple[str, ...]:
    """The distinct terms of a qualified name or a path, in order."""
    if name.isidentifier() and name.isascii():
        return tuple(dict.fromkeys(terms_of(name)))
    return tuple(dict.fromkeys(term for word in WORD.findall(name) for term in terms_of(word)))


def query_terms(query: str) -> list[str]:
    """The terms of a question, without words that say nothing about code."""
    words = WORD.findall(query)
    whole = [joined(word)[:_LONGEST] for word in _HYPHENATED.findall(query)]
    terms = dict.fromkeys(term for word in words if word.lower() not in STOP_WORDS for term in terms_of(word))
    terms.update(dict.fromkeys(whole))
    return list(terms) or list(dict.fromkeys(term for word in words for term in terms_of(word)))
