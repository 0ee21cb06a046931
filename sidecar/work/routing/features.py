"""Features of a sentence: its words, alone and combined, in English too, and their positions."""

import re
from itertools import pairwise

from sidecar.wire.intents import Intent
from sidecar.work.routing.translation import translate

_ALONE = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
#: A word or a sign. In scripts without spaces, each character counts as a word.
_WORD = re.compile(rf"[{_ALONE}]|[^\W{_ALONE}]+(?:'[^\W{_ALONE}]+)*|[^\s\w]")
#: Code in backticks says what a request is about, but little about what is wanted.
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
#: The request is at the beginning of a long text, or at its end.
_CHARACTERS, _FIRST, _LAST = 2_000, 80, 40
_STOPS = frozenset(".,;:!?-")
#: Most languages inflect the end of a word.
_STEM = 5
#: How people type in a hurry, and how most sentences spell it. German "im" and Spanish "ya" are words of their own.
_CONTRACTED = (
    "don't didn't doesn't isn't aren't wasn't weren't hasn't haven't hadn't can't won't wouldn't couldn't shouldn't "
    "what's that's where's who's how's there's here's let's you're i've"
)
_SPELLINGS = {word.replace("'", ""): word for word in _CONTRACTED.split()} | {
    "cannot": "can't",
    "cuz": "because",
    "pls": "please",
    "plz": "please",
    "thx": "thanks",
    "u": "you",
    "ur": "your",
}
#: Names in code: `snake_case`, `camelCase`, or anything in backticks.
_NAME = re.compile(r"_|`|[a-z0-9][A-Z]")
_NAMED = "@"
#: Features of follow-ups begin with this, some of reports with the other.
FOLLOWS, REPORTS = "↳", "¶"
#: What the intent before allowed; the others allow to write.
_KINDS = {"run_command": "<run"} | dict.fromkeys(("chat", "explain_code", "review_code", "research"), "<read")
_PARAGRAPH = "\n\n"
#: This many words say most about a report, or about a follow-up.
_TITLE = 8


def features(text: str, *, follows: bool = False, before: Intent | None = None) -> list[str]:
    """In order, some more than once.

    `follows`: something was said before in this conversation; `before`: the intent of that, if it is known.
    """
    text = _without_code(text).replace("’", "'")
    lower = text.lower()
    words = _words(lower)
    translated = translate(words)
    found = _combine(words, skip=translated is None)
    found += [f"{word[:_STEM]}~" for word in words if len(word) > _STEM]
    if not _STOPS.isdisjoint(words):
        found += [f">{other}" for word, other in pairwise(words) if word in _STOPS]
    found.append(f"#{min(len(words) // 4, 8)}")
    if translated is not None:
        found += _combine(translated)
    if _PARAGRAPH in text:
        # A title and paragraphs are the form of a report, whatever its words.
        found += [
            REPORTS,
            f"{REPORTS}{'?' in words}{min(text.count(_PARAGRAPH), 4)}",
            *[f"{REPORTS}{word}" for word in (translated or words)[:_TITLE]],
        ]
    if follows:
        # After an answer, a word may mean something else, and what is no question rarely mere talk.
        said = translated or words
        found += [f"{FOLLOWS}{word}" for word in said]
        # "Can that …?" asks about the answer, "can you …?" wants more of it.
        found.append(f"{FOLLOWS}{' '.join(said[:2])}{'?' if '?' in words else ''}")
        found.append(f"{FOLLOWS}{'?' in words}{min(len(words) // 3, 4)}")
        if before is not None:
            # "And the tests?" asks for more of what was done before.
            kind = _KINDS.get(before, "<write")
            found.append(f"{FOLLOWS}{kind} {'?' in words}{min(len(words) // 3, 4)}")
            found += [f"{FOLLOWS}{kind} {word}" for word in said[:_TITLE]]
    if (lower != text or "_" in text or "`" in text) and _NAME.search(text):
        # Which function it names says nothing; that it names one says much.
        named = _combine([_NAMED if _NAME.search(word) else word.lower() for word in _words(text)])
        # Those without a name are there already; in a translated text, not all of them.
        found += named if translated is not None else [feature for feature in named if _NAMED in feature]
    return found


def _combine(words: list[str], *, skip: bool = True) -> list[str]:
    """Each word alone, with the next one, and (`skip`) with the one after that."""
    line = ["^", *words, "$"]
    found = [*line, *[f"{word} {other}" for word, other in pairwise(line)]]
    if skip:
        found += [f"{word} _ {other}" for word, other in zip(line, line[2:], strict=False)]
    return found


def _words(text: str) -> list[str]:
    words = _WORD.findall(text)
    if not _SPELLINGS.keys().isdisjoint(words):
        words = [_SPELLINGS.get(word, word) for word in words]
    return words if len(words) <= _FIRST + _LAST else words[:_FIRST] + words[-_LAST:]


def _without_code(text: str) -> str:
    if "`" in text and not _CODE.fullmatch(text.strip()):
        text = _CODE.sub(" ` ", text)
    return text if len(text) <= 2 * _CHARACTERS else f"{text[:_CHARACTERS]} {text[-_CHARACTERS:]}"
