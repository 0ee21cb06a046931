"""Hundreds of tools that aren't ours: found by words, cheap in the prompt, the same prefix every time."""

from sidecar.models.port import ModelTurn, ToolUse
from sidecar.wire.base import JsonObject
from sidecar.wire.tools import ToolInfo
from sidecar.work.tool_search import ToolIndex
from sidecar.work.tool_selection import EXTERNAL_BUDGET, MORE_TOOLS, ToolSelection, description_size
from tests.unit.work.test_tool_selection import CODER
from tests.unit.work.tool_catalog import BLIND_REQUESTS, FURTHER_REQUESTS, REQUESTS, catalog


def _asks(**args: object) -> ToolUse:
    return ToolUse(id="1", tool=MORE_TOOLS, args=args)  # type: ignore[arg-type]


def _tool(name: str, description: str, properties: JsonObject) -> ToolInfo:
    parameters: JsonObject = {"type": "object", "properties": properties}
    return catalog()[0].model_copy(update={"name": name, "description": description, "parameters": parameters})


def _recall(requests: list[tuple[str, str]]) -> tuple[float, list[tuple[str, str]]]:
    """The share of requests whose tool is among the first five, and the others."""
    tools = catalog()
    assert len(tools) == 500
    index = ToolIndex(tools)
    missed = [each for each in requests if each[1] not in [tool.name for tool in index.search(each[0], 5)]]
    return 1 - len(missed) / len(requests), missed


def test_the_right_tool_is_among_the_first_five() -> None:
    recall, missed = _recall(REQUESTS)
    assert recall >= 0.95, (recall, missed)


def test_other_words_for_the_same_thing_find_the_tool_too() -> None:
    recall, missed = _recall(FURTHER_REQUESTS)
    assert recall >= 0.95, (recall, missed)


def test_requests_that_no_one_looked_at_find_their_tool() -> None:
    recall, missed = _recall(BLIND_REQUESTS)
    assert recall >= 0.95, (recall, missed)


def test_a_tool_is_found_by_its_arguments_and_a_misspelled_name() -> None:
    tools = [
        _tool("a__one", "Does something.", {"units": {"type": "string", "description": "celsius or fahrenheit"}}),
        _tool("a__two", "Does something.", {"level": {"type": "string", "enum": ["debug", "verbose"]}}),
        _tool("a__subscription", "Does something.", {}),
        _tool("a__three", "Does something.", {}),
    ]
    for query, name in (("celsius", "a__one"), ("verbose", "a__two"), ("subscripton", "a__subscription")):
        assert [tool.name for tool in ToolIndex(tools).search(query)] == [name]


def test_an_abbreviation_may_stand_in_the_plural() -> None:
    tools = [_tool(f"a__{name}", "", {}) for name in ("list_issues", "list_pull_requests", "list_builds")]
    assert ToolIndex(tools).search("open PRs")[0].name == "a__list_pull_requests"


def test_everyday_words_find_the_words_of_tools() -> None:
    names = (
        "geocode",
        "elevation",
        "directions",
        "search_places",
        "handle_dialog",
        "navigate",
        "hover",
        "stop_stale_environments",
    )
    index = ToolIndex([_tool(f"s__{name}", "", {}) for name in names])
    for query, name in (
        ("restaurants near the office", "search_places"),
        ("latitude and longitude of a town", "geocode"),
        ("how high above sea level", "elevation"),
        ("to Hamburg by train", "directions"),
        ("confirm the popup", "handle_dialog"),
        ("open the page", "navigate"),
        ("point with the mouse", "hover"),
        ("shut down what is old", "stop_stale_environments"),
    ):
        assert index.search(query, 1)[0].name == f"s__{name}", query


def test_tools_whose_names_say_nothing_are_no_error() -> None:
    assert ToolIndex([_tool("s__1", "", {}), _tool("s__2", "", {})]).search("send a message") == []
    assert ToolIndex([]).search("send a message") == []


def test_tools_of_one_noun_leave_room_for_another_noun_of_the_request() -> None:
    found = [tool.name for tool in ToolIndex(catalog()).search("link two entities in memory")]
    assert {each.rpartition("_")[2] for each in found} == {"entity", "relation"}


def test_five_hundred_tools_of_twenty_servers_cost_less_than_two_kilobytes() -> None:
    without = sum(description_size(tool) for tool in ToolSelection(CODER).offered)
    with_them = sum(description_size(tool) for tool in ToolSelection(CODER, external=catalog()).offered)
    assert with_them - without <= 2_000


def test_the_prefix_is_the_same_whatever_the_order_in_which_servers_answered() -> None:
    tools = catalog()
    first, second = (ToolSelection(CODER, external=each).offered for each in (tools, tools[::-1]))
    assert first == second


def test_what_is_found_is_described_at_the_end_and_a_resumed_task_offers_the_same() -> None:
    selection = ToolSelection(CODER, external=catalog())
    before = tuple(selection.offered)
    call = _asks(query="post a message to slack")
    answer = selection.fetch(call)
    assert "slack__create_message" in answer.content
    assert tuple(selection.offered[: len(before)]) == before
    assert "slack__create_message" in [tool.name for tool in selection.offered[len(before) :]]
    resumed = ToolSelection(CODER, [ModelTurn(text="", calls=[call])], external=catalog())
    assert resumed.offered == selection.offered
    assert len(selection.offered) <= len(before) + 5


def test_a_few_tools_are_described_at_once() -> None:
    few = catalog()[:3]
    assert sum(map(description_size, few)) <= EXTERNAL_BUDGET
    names = [tool.name for tool in ToolSelection(CODER, external=few).offered]
    assert names[-3:] == [tool.name for tool in few]


def test_they_can_be_asked_for_by_name_and_nonsense_finds_nothing() -> None:
    selection = ToolSelection(CODER, external=catalog())
    assert "redis__get_key" in selection.fetch(_asks(names=["redis__get_key"])).content
    assert selection.fetch(_asks(query="qqqqq zzzzz")).content == "No tool fits these words."
    assert "Search with `query`" in selection.fetch(_asks()).content
    assert len(selection.fetch(_asks()).content) < 6_000
