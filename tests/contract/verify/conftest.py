from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.workbench import Workbench, workbench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with workbench(tmp_path) as made:
        yield made
