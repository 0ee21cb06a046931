"""How much a word of a question says about the code that it asks for: "fix" nothing, "symlink" nearly all.

Learned from commits with the files they changed and documentation with its functions: `packaging/learn_ranking.py`.
"""

from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("word_weights.tsv")
#: For words that the table doesn't have.
UNKNOWN = 0.85


def share_of(term: str, wish: float) -> float:
    """The share of its rarity that counts, given how likely the question is a wish for a change."""
    change, description = shares().get(term, (UNKNOWN, UNKNOWN))
    return wish * change + (1 - wish) * description


@cache
def shares() -> dict[str, tuple[float, float]]:
    """The first line explains the table."""
    rows = (line.split() for line in TABLE.read_text(encoding="utf-8").splitlines()[1:])
    return {term: (_share(change), _share(description)) for term, change, description in rows}


def _share(percent: str) -> float:
    return UNKNOWN if percent == "-" else int(percent) / 100
