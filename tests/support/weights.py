"""The weights of static vectors, which `make test` installs."""

import pytest

from sidecar.config.weights import VectorsUnavailable, WeightFiles, find_weights


def need_weights() -> WeightFiles:
    try:
        return find_weights()
    except VectorsUnavailable as error:
        pytest.skip(str(error))
