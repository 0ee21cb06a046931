"""What of a sentence speaks for an intent: its words, alone and in company, and where they stand."""

import re

_ALONE = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
#: A word or a sign. In scripts without spaces between words, each character is taken for one.
_WORD = re.compile(rf"[{_ALONE}]|[^\W{_ALONE}]+(?:'[^\W{_ALONE}]+)*|[^\s\w]")
#: What stands between backticks is what a request is about, and says little of what is wanted with it.
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
#: What is wanted stands at the beginning of a long text, or at its end.
_CHARACTERS, _FIRST, _LAST = 2_000, 80, 40
_STOPS = frozenset(".,;:!?-")
#: In most languages it is the end of a word that changes.
_STEM = 5


def features(text: str) -> list[str]:
    """Each once, in the order in which they come."""
    words = _words(text)
    sentence = ["^", *words, "$"]
    after, second_after = sentence[1:], sentence[2:]
    found = [
        *sentence,
        *[f"{word} {other}" for word, other in zip(sentence, after, strict=False)],
        *[f"{word} _ {other}" for word, other in zip(sentence, second_after, strict=False)],
        *[f">{other}" for word, other in zip(sentence, after, strict=False) if word in _STOPS],
        *[f"{word[:_STEM]}~" for word in words if len(word) > _STEM],
        f"#{min(len(words) // 4, 8)}",
    ]
    return list(dict.fromkeys(found))


def _words(text: str) -> list[str]:
    if "`" in text and not _CODE.fullmatch(text.strip()):
        text = _CODE.sub(" ` ", text)
    if len(text) > 2 * _CHARACTERS:
        text = f"{text[:_CHARACTERS]} {text[-_CHARACTERS:]}"
    words = _WORD.findall(text.lower())
    return words if len(words) <= _FIRST + _LAST else words[:_FIRST] + words[-_LAST:]
