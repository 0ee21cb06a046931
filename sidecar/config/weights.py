"""Where the weights of static word vectors are: inside the `wordllama` package, which is not imported for that."""

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_VOCABULARY = "tokenizers/l2_supercat_tokenizer_config.json"


class VectorsUnavailable(Exception):
    """There are no weights to compute vectors with; the message says what to do."""


class WeightFiles(NamedTuple):
    name: str
    weights: Path
    vocabulary: Path


def find_weights() -> WeightFiles:
    """Looks for files only. Raises `VectorsUnavailable`."""
    package = find_spec("wordllama")
    if package is None or not package.submodule_search_locations or find_spec("numpy") is None:
        message = (
            "Vectors are on, but their weights are not installed. Install `rainy-brain[vectors]`, or turn them off."
        )
        raise VectorsUnavailable(message)
    place = Path(package.submodule_search_locations[0])
    found = WeightFiles(f"wordllama {Path(_WEIGHTS).stem}", place / _WEIGHTS, place / _VOCABULARY)
    if not (found.weights.is_file() and found.vocabulary.is_file()):
        raise VectorsUnavailable(f"This wordllama has no {_WEIGHTS} inside. Install another version of it.")
    return found
