"""Word vectors from files that come inside the `wordllama` package (the extra `vectors`).

The package itself is not imported: its loader downloads what it doesn't find, and this only reads. A text's vector is
the weighted mean of its words'; words that the weights don't know are put together from the longest pieces they know.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sidecar.config.weights import VectorsUnavailable, WeightFiles
from sidecar.memory.tokens import STOP_WORDS, word_parts

#: NumPy's, which is imported at the first use only.
Array = Any
#: The weights are trained so that their first numbers alone are useful, too.
SIZE = 128
_MAX_BYTES = 64 * 1024 * 1024
_KEPT_WORDS = 50_000
_WORD_START = "▁"


class WordVectors:
    """`name` says which weights these are: vectors of different ones can't be compared."""

    def __init__(self, files: WeightFiles) -> None:
        import numpy

        self.name = f"{files.name}, {SIZE} bytes a chunk"
        self._numpy = numpy
        try:
            self._table = _read_table(files.weights)
            self._pieces: dict[str, int] = json.loads(files.vocabulary.read_bytes())["model"]["vocab"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise VectorsUnavailable(f"The weights in {files.weights.parent} can't be read: {error}.") from error
        self._words: dict[str, Array] = {}

    def embed(self, weights: Mapping[str, float]) -> Array | None:
        """The vector of a text whose words count so much, of length 1; `None` if no word of it is known."""
        numpy = self._numpy
        known = [word for word in weights if word not in STOP_WORDS]
        if not known:
            return None
        rows = numpy.stack([self._word(word) for word in known])
        found = numpy.asarray([weights[word] for word in known], numpy.float32) @ rows
        length = float(numpy.linalg.norm(found))
        return found / length if length > 0 else None

    def _word(self, word: str) -> Array:
        found = self._words.get(word)
        if found is None:
            if len(self._words) > _KEPT_WORDS:
                self._words.clear()
            rows = self._table[self._split(word)]
            found = self._words[word] = rows.astype(self._numpy.float32).sum(0) / max(len(rows), 1)
        return found

    def _split(self, word: str) -> list[int]:
        text, place, found = _WORD_START + word, 0, []
        while place < len(text):
            ends = range(len(text), place, -1)
            end = next((each for each in ends if text[place:each] in self._pieces), 0)
            if end:
                found.append(self._pieces[text[place:end]])
            place = end or place + 1
        return found


def _read_table(file: Path) -> Array:
    """A safetensors file: the length of its header, the header as JSON, and the numbers."""
    import numpy

    if file.stat().st_size > _MAX_BYTES:
        raise ValueError("it is too large")
    data = file.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    (table,) = (each for name, each in json.loads(data[8:begin]).items() if name != "__metadata__")
    if table["dtype"] != "F16" or len(table["shape"]) != 2 or table["shape"][1] < SIZE:
        raise ValueError(f"it holds {table['dtype']} {table['shape']}")
    first, last = table["data_offsets"]
    numbers = numpy.frombuffer(data[begin + first : begin + last], numpy.float16).reshape(table["shape"])
    # A copy, so that the rest of the file isn't kept in memory.
    return numbers[:, :SIZE].copy()


def count_words(text: str) -> dict[str, float]:
    """How much each word of a code or question counts: more if it is repeated, but less each time."""
    counts: dict[str, int] = {}
    for word in word_parts(text):
        counts[word] = counts.get(word, 0) + 1
    return {word: 1 + math.log(count) for word, count in counts.items()}
