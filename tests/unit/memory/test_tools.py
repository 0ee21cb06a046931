"""What the memory's tools say of an index that isn't whole yet."""

import pytest

from sidecar.memory.port import Affected, Dependents, MemoryState
from sidecar.memory.tools import affected_result

NOTHING = "Nothing depends on it."
HIT = Affected("shop/prices.py", "", 1, "imports shop/tax.py", 1)
HALF = MemoryState("building", done=1_200, total=50_000)


def test_an_answer_from_a_whole_index_says_nothing_more() -> None:
    assert affected_result(Dependents("ready", []), "dependent", NOTHING, MemoryState("ready")).content == NOTHING
    found = affected_result(Dependents("ready", [HIT]), "dependent", NOTHING, MemoryState("ready"))
    assert found.content == "1 shop/prices.py:1 imports shop/tax.py"


@pytest.mark.parametrize("hits", [[], [HIT]])
def test_an_answer_from_half_an_index_says_how_much_of_it_is_there(hits: list[Affected]) -> None:
    found = affected_result(Dependents("building", hits), "dependent", NOTHING, HALF)
    assert "1,200 of 50,000 files" in found.content.split("\n")[-1]
    assert found.details["state"] == "building"


def test_an_index_that_becomes_ready_after_its_answer_does_not_make_it_whole() -> None:
    found = affected_result(Dependents("building", []), "dependent", NOTHING, MemoryState("ready", done=9, total=9))
    assert "there may be more" in found.content
