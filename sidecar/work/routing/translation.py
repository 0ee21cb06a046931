"""Translates German, Spanish, French and Portuguese requests into English, word by word.

Most labelled sentences are English. With the English words beside its own, a request in another language profits from
all of them. The order of words stays, and so do unknown words.
"""

from functools import cache
from pathlib import Path

#: For each English word, those of the other languages, a column each; a final hyphen means any ending.
WORDS = Path(__file__).with_name("words.tsv")
_LANGUAGES = 5
#: Frequent English words, which tell that a request is English though others know some of its words too.
_ENGLISH = (
    "the a an is are was to of in it it's its and for with this that on what how why where who which can could you "
    "please not does do don't doesn't my we our your if when as at by from be has have i i'm there then so or but all "
    "any some should would will just run fix add make get let me"
)
#: This many words show the language.
_SAMPLE = 40
_SHORTEST_STEM = 3
_ENGLISH_FIRST = 0.4
#: What single words don't tell, for each language: `^` is the beginning of the request.
_PHRASES: tuple[tuple[tuple[str, str], ...], ...] = (
    (),
    (("^ wie", "^ how"), (". wie", ". how"), (", wie", ", how"), ("^ und wie", "^ and how"), ("was wenn", "what if")),
    (
        *(("por qué", "why"), ("por que", "why"), ("^ como", "^ how")),
        *(("y si", "what if"), ("hay que", "must")),
    ),
    (
        *(("qu'est - ce que", "what"), ("qu'est - ce qui", "what"), ("est - ce que tu", "tu"), ("est - ce que", "do")),
        *(("et si", "what if"), ("il faut", "must")),
    ),
    (
        *(("por que", "why"), ("por quê", "why"), ("^ como", "^ how"), (". como", ". how")),
        *(("a gente", "we"), ("e se", "what if")),
    ),
)
_PLAIN = str.maketrans("áéíóú", "aeiou")
#: In a hurry, people leave accents out: "tambien", "voce", "deuxieme". Shorter words become others: "está", "où".
_BARE = str.maketrans("áàâãçéêèíîñóôõúûù", "aaaaceeeiinooouuu")
_SHORTEST_BARE = 5
#: Letters and signs that only one of the languages has: short requests in Spanish and Portuguese share most words.
_LETTERS = {
    letter: language for language, letters in enumerate(("", "äöß", "ñ¿¡", "èùûîœ", "ãõ")) for letter in letters
}


class _Dictionary:
    def __init__(self, file: Path) -> None:
        self.languages: dict[str, tuple[int, ...]] = dict.fromkeys(_ENGLISH.split(), (0,))
        #: The few that there are, once each: this dictionary stays in memory.
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        self.words: list[dict[str, str]] = [{} for _ in range(_LANGUAGES)]
        self.stems: list[dict[str, str]] = [{} for _ in range(_LANGUAGES)]
        for line in file.read_text(encoding="utf-8").splitlines():
            english, *columns = line.split("\t")
            for language, column in enumerate(columns, start=1):
                for written in column.split():
                    if written.endswith("-"):
                        self.stems[language].setdefault(written[:-1], english)
                    elif (word := _bare(written)) not in self.words[language]:
                        self.words[language][word] = english
                        languages = (*self.languages.get(word, ()), language)
                        self.languages[word] = shared.setdefault(languages, languages)


def translate(words: list[str]) -> list[str] | None:
    """None if they are English, or in a language that the dictionary doesn't know."""
    if not words:  # the dictionary takes 2 ms and 0.3 MB, when the first request needs it
        return None
    dictionary = _dictionary()
    if (language := _language(words, dictionary)) == 0:
        return None
    known, stems = dictionary.words[language], dictionary.stems[language]
    line = whole = f"^ {' '.join(words)} "
    for phrase, english in _PHRASES[language]:
        line = line.replace(f"{phrase} ", f"{english} ")
    if line != whole:
        words = line.split()[1:]
    translated: list[str] = []
    for word in words:
        # French contracts articles and pronouns: l'erreur, j'ai.
        translated += [known.get(_bare(part)) or _by_stem(part, stems) for part in word.split("'") if part]
    # A question keeps the order of a statement in French and Portuguese: tu peux, você pode.
    for place in range(min(len(translated) - 1, _SAMPLE)):
        if translated[place] == "you" and translated[place + 1] in ("can", "could"):
            translated[place : place + 2] = translated[place + 1], "you"
    return translated


def _language(words: list[str], dictionary: _Dictionary) -> int:
    """The one most of whose words occur; a word of several languages counts in parts."""
    votes = [_ENGLISH_FIRST, 0.0, 0.0, 0.0, 0.0]
    sample = words[:_SAMPLE]
    if not (letters := "".join(sample)).isascii():
        for letter in _LETTERS.keys() & letters:
            votes[_LETTERS[letter]] += 1
    for languages in filter(None, map(dictionary.languages.get, sample if letters.isascii() else map(_bare, sample))):
        if languages == (0,):
            votes[0] += 1
            continue
        share = 1 / len(languages)
        for language in languages:
            votes[language] += share
    if not letters.isascii() and max(votes) == _ENGLISH_FIRST:
        # No word is known as such, but it isn't English; perhaps one is known by its stem.
        known = (
            place for place, stems in enumerate(dictionary.stems) if any(_by_stem(one, stems) != one for one in sample)
        )
        return next(known, 0)
    return votes.index(max(votes))


def _bare(word: str) -> str:
    """Without accents, if it is long enough to remain the same word."""
    return word if word.isascii() or len(word) < _SHORTEST_BARE else word.translate(_BARE)


def _by_stem(word: str, stems: dict[str, str]) -> str:
    for size in range(len(word), _SHORTEST_STEM - 1, -1):
        if (english := stems.get(word[:size])) is not None:
            return english
    # With a pronoun behind it, a Spanish order gets an accent: instala, instálalo.
    plain = word if word.isascii() else word.translate(_PLAIN)
    return word if plain == word or (found := _by_stem(plain, stems)) == plain else found


@cache
def _dictionary() -> _Dictionary:
    return _Dictionary(WORDS)
