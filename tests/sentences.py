"""The router's labelled sentences: trained with `learned` and (after an answer) `followed`, never with `unseen`.

It is trained with `continued.txt` too: requests such as "and the tests?" that ask for more of what was done before.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, cast

from sidecar.wire.intents import INTENTS, Intent

SENTENCES = Path(__file__).resolve().parent.parent / "packaging" / "router"
Part = Literal["learned", "followed", "unseen"]


def labelled(part: Part) -> Iterator[tuple[str, list[tuple[Intent, str]]]]:
    """Every file's name, and the intent and text of its sentences."""
    for path in sorted((SENTENCES / part).glob("*.txt")):
        yield path.stem, list(_read(path))


def all_sentences(part: Part) -> Iterator[tuple[Intent, str]]:
    for _, sentences in labelled(part):
        yield from sentences


def continuations() -> Iterator[str]:
    yield from (SENTENCES / "continued.txt").read_text(encoding="utf-8").splitlines()


def _read(path: Path) -> Iterator[tuple[Intent, str]]:
    """One sentence a line, under its intent; ¶ stands for a line break."""
    intent = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line[1:-1] in INTENTS and line[0] == "[":
            intent = line[1:-1]
        elif line:
            yield cast("Intent", intent), line.replace("¶", "\n")
