"""The labelled sentences, by file."""

from collections.abc import Iterator
from pathlib import Path

SENTENCES = Path(__file__).parent / "sentences"


def labelled(name: str) -> Iterator[tuple[str, str]]:
    """The intent and the sentence of every line."""
    intent = ""
    for line in (SENTENCES / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            intent = line.strip("[]")
        elif line and not line.startswith("#"):
            yield intent, line
