"""A slash command that is none, but nearly one: to be said back to the person, instead of being taken for a sentence.

A path or an address may begin a sentence too (“/etc is not readable”, “/reviews answers 500”), so only what hardly can
be anything else counts as a suggest_command.
"""

import re
from collections.abc import Iterable

#: What begins like a command: a word after a slash, and nothing that makes a path of it.
SLASH = re.compile(r"/([\w-]+)(?!\S)\s*")
#: Names below this many letters are near too many words, so only their own letters count: swapped, doubled, left out.
_SHORT = 5
_ALIKE_SHORT = 0.65
_ALIKE = 0.8


def suggest_command(task: str, names: Iterable[str]) -> str | None:
    """What to say of a task that begins with a misspelled one of these commands; `None` of any other."""
    slash = SLASH.match(task.lstrip())
    if slash is None:
        return None
    word, known = slash[1], frozenset(names)
    if word in known or (near := _nearest(word.lower(), known)) is None:
        return None
    return (
        f"There is no command /{word[:50]}. Did you mean /{near}? Nothing was done with it; if it is a sentence, "
        "begin it with another word."
    )


def _nearest(word: str, names: Iterable[str]) -> str | None:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(word)
    alike: list[tuple[float, str]] = []
    for name in sorted(names):
        # People miss a letter within a word, not its first; and more of something is a name, not a suggest_command.
        swapped = sorted(word) == sorted(name)
        if not swapped and (word[0] != name[0] or word == f"{name}s"):
            continue
        short = len(name) < _SHORT
        if short and not set(word) <= set(name):
            continue
        matcher.set_seq1(name)
        if (ratio := matcher.ratio()) >= (_ALIKE_SHORT if short else _ALIKE):
            alike.append((ratio, name))
    return max(alike, key=lambda one: one[0])[1] if alike else None
