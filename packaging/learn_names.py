"""Learns how names are made of the words of descriptions, from documented functions in directories of source code.

    python packaging/learn_names.py DIRECTORY...

IBM's translation model 1: each part of a function's name translates one word of its first documented sentence, or for
none; expectation maximization finds for which. The same directories give the same table.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from sidecar.memory.chunks import cut  # noqa: E402
from sidecar.memory.tokens import WORD, parts_of  # noqa: E402
from sidecar.memory.translations import MILLION, PERCENT, TABLE  # noqa: E402
from tools.code.source import SourceText  # noqa: E402

ROUNDS = 8
#: Rarer words and parts are accidents.
MIN_WORDS = 8
MIN_PARTS = 5
MIN_SHARE = 0.01
MAX_BYTES = 300_000
MAX_FILES = 2_500
MAX_WORDS = 30
MAX_NAME_PARTS = 7
SUFFIXES = frozenset((".py", ".go", ".ts", ".js", ".tsx"))
#: Tests and examples repeat themselves.
LEFT_OUT = re.compile(
    r"/node_modules/|/\.git/|/test|_test\.|\.test\.|\.spec\.|/fixtures|/docs/|/examples/|/locale", re.I
)
_MARKS = re.compile(r"^\s*(?:[rRuUbB]*(?:\"\"\"|''')|/\*\*?|\*/|\*|//+|#)\s?|\"\"\"|'''|\*/", re.MULTILINE)

Pair = tuple[tuple[str, ...], tuple[str, ...]]


def first_sentence(documentation: str) -> str:
    text = " ".join(_MARKS.sub("", documentation.strip()).strip().split("\n\n")[0].split())
    found = re.match(r"(.+?[.!?])(?:\s|$)", text)
    return "" if text.startswith("@") else (found[1] if found else text)[:400]


def pairs_of(path: Path) -> Iterator[Pair]:
    """The words and the parts of the name of each documented function."""
    source = SourceText(str(path), path.read_bytes())
    for chunk in cut(source).chunks if source.language is not None else ():
        if chunk.kind in ("function", "method") and chunk.doc:
            name = chunk.symbol.rpartition(".")[2]
            sentence = re.sub(rf"\b{re.escape(name)}\b", " ", first_sentence(chunk.doc), flags=re.I)
            words = [part for word in WORD.findall(sentence) for part in parts_of(word)][:MAX_WORDS]
            parts = parts_of(name)
            if len(words) > 1 and 0 < len(parts) <= MAX_NAME_PARTS:
                yield tuple(dict.fromkeys(words)), tuple(parts)


def read(directories: Sequence[str]) -> list[Pair]:
    found: dict[Pair, None] = {}
    for directory in directories:
        files = [path for path in sorted(Path(directory).rglob("*")) if path.suffix in SUFFIXES and path.is_file()]
        wanted = [path for path in files if not LEFT_OUT.search(str(path)) and path.stat().st_size < MAX_BYTES]
        for path in wanted[:: max(len(wanted) // MAX_FILES, 1)]:
            found.update(dict.fromkeys(pairs_of(path)))
    return list(found)


def learn(pairs: Sequence[Pair]) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """For each word the parts that translate it with their probabilities, and how often each part occurs."""
    words = Counter(word for sentence, _ in pairs for word in sentence)
    parts = Counter(part for _, name in pairs for part in name)
    known = [
        (("", *(word for word in sentence if words[word] >= MIN_WORDS)), [p for p in name if parts[p] >= MIN_PARTS])
        for sentence, name in pairs
    ]
    shares: dict[str, dict[str, float]] = {}
    counts: dict[str, defaultdict[str, float]] = {}
    for _ in range(ROUNDS):
        counts = defaultdict(lambda: defaultdict(float))
        for sentence, name in known:
            for part in name:
                given = [shares[word][part] for word in sentence] if shares else [1.0] * len(sentence)
                total = sum(given)
                for word, share in zip(sentence, given, strict=True):
                    counts[word][part] += share / total
        totals = {word: sum(row.values()) for word, row in counts.items()}
        shares = {word: {part: n / totals[word] for part, n in row.items()} for word, row in counts.items()}
    every = parts.total()
    kept = {
        word: {part: share for part, share in row.items() if share >= MIN_SHARE and counts[word][part] >= 1}
        for word, row in shares.items()
        if word
    }
    return {word: row for word, row in kept.items() if row}, {
        part: n / every for part, n in parts.items() if n >= MIN_PARTS
    }


def main() -> int:
    pairs = read(sys.argv[1:])
    shares, frequencies = learn(pairs)
    lines = [
        f"# packaging/learn_names.py, {len(pairs)} documented functions: a word, its frequency in names, its parts"
    ]
    used = {part for row in shares.values() for part in row}
    for word in sorted(shares.keys() | used):
        row = sorted(shares.get(word, {}).items(), key=lambda each: (-each[1], each[0]))
        frequency = str(max(round(frequencies[word] * MILLION), 1)) if word in frequencies else "-"
        lines.append(" ".join([word, frequency, *(f"{part} {round(share * PERCENT)}" for part, share in row)]))
    TABLE.write_text("\n".join(lines), encoding="utf-8")
    print(f"{len(pairs)} documented functions, {len(shares)} words, {sum(map(len, shares.values()))} translations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
