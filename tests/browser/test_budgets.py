"""The panel's budgets for size and speed, relaxed for a busy machine; `npm run bench` in frontend/ is strict."""

import pytest

from tests.browser.conftest import Node


@pytest.mark.timeout(300)
def test_the_panel_keeps_its_budgets(node: Node) -> None:
    print(node("budgets.mjs", "12", seconds=250))
