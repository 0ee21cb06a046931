"""What the memory's tools say of an index that isn't whole yet."""

from sidecar.memory.port import MemoryState
from sidecar.memory.tools import unfinished


def test_an_answer_from_a_whole_index_says_nothing_more() -> None:
    assert unfinished(MemoryState("ready", done=10, total=10)) == ""


def test_an_empty_answer_from_half_an_index_says_how_much_of_it_is_there() -> None:
    assert "1,200 of 50,000 files" in unfinished(MemoryState("building", done=1_200, total=50_000))
