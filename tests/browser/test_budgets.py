"""The panel's budgets: its size always, its times with `make stories`, relaxed for a busy machine.

`npm run bench` in frontend/ is strict.
"""

import pytest

from tests.browser.conftest import Node
from tests.faults.scale import scaled


@pytest.mark.timeout(300)
def test_the_panel_keeps_its_budgets(node: Node) -> None:
    print(node("budgets.mjs", scaled("size", "12"), seconds=250))
