"""What comes nearest to a request that nobody understood: the examples that share most of its words."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

CONFIGURE = (
    "Configure a language model for it: `brain keys set anthropic` stores a key, `brain models` lists models on this "
    "machine, and `brain doctor` helps."
)
_WORD = re.compile(r"[`\w./@-]+")
_SMALL = re.compile(
    r"an?|the|th(?:is|at|ese|ose)|my|our|your|me|i|you|we|it|is|are|was|be|do|does|did|can|could|would|will|should|to|of|in|"
    r"on|at|for|with|and|or|but|if|so|as|by|from|into|about|please|pls|what|how|why|when|there|here|have",
    re.IGNORECASE,
)
_PATH = re.compile(r"/|\.(py|tsx?|jsx?|md|go|rs|java|c|h|json|toml|ya?ml|css|html)$")
_NAME = re.compile(r"_|[a-z][A-Z]|^`.+`$|\(\)$")
_ENDING = re.compile(r"(?:ies|ing|ed|es|s|e)$")


def nearest(asked: str, examples: Iterable[str], most: int = 3) -> list[str]:
    """The best first; none that shares nothing with it."""
    known = list(dict.fromkeys(examples))
    common = Counter(word for example in known for word in _words(example))
    wanted = _words(asked)
    # A word that few examples have says more than one that many have.
    scores = {
        example: sum(1 / common[word] for word in shared) / (1 + 0.1 * len(_words(example)))
        for example in known
        if (shared := wanted & _words(example))
    }
    return sorted(scores, key=lambda example: -scores[example])[:most]


def _words(text: str) -> set[str]:
    found = set()
    for word in _WORD.findall(text):
        bare = word.strip("`.-")
        if not bare or _SMALL.fullmatch(bare):
            continue
        if _PATH.search(bare):
            found.add("<path>")
        elif _NAME.search(word):
            found.add("<name>")
        else:
            found.add(_ENDING.sub("", bare.lower()) if len(bare) > 3 else bare.lower())
    return found


def told(asked: str, examples: Sequence[str]) -> str:
    """One sentence, with the nearest things, and what does the rest."""
    near = nearest(asked, examples)
    if near:
        hint = f"The nearest that it can do: {', '.join(f'“{example}”' for example in near)}."
    else:
        hint = "Say “what can you do?” to see what it can."
    return f"The offline model works by rules and did not understand this. {hint} {CONFIGURE}"
