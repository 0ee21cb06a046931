from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, running_sidecar


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path) as running:
        yield running
