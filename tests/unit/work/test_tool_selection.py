"""Which tools a model is told of at first, and how it gets to know the others."""

import re

import pytest

from sidecar.memory.tools import FindCode
from sidecar.models.port import ModelTurn, ToolUse
from sidecar.wire.tools import ToolInfo
from sidecar.work.handover import WORKERS
from sidecar.work.roster import ROSTER
from sidecar.work.tool_selection import BUDGET, MORE_TOOLS, ToolSelection, description_size
from tools.executor.registry import default_registry

REGISTRY = default_registry()
CODER = REGISTRY.offers(frozenset(ROSTER["coder"].tools))


def asks(*names: str) -> ToolUse:
    return ToolUse(id="1", tool=MORE_TOOLS, args={"names": list(names)})


def named(selection: ToolSelection) -> list[str]:
    return [tool.name for tool in selection.offered]


@pytest.mark.parametrize("agent", ROSTER.values(), ids=lambda agent: agent.name)
@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_offered_at_first_stays_within_its_budget(agent: object, read_only: bool) -> None:
    chosen = agent.read_only() if read_only else agent  # type: ignore[attr-defined]
    selection = ToolSelection(REGISTRY.offers(frozenset(chosen.tools)))
    assert sum(map(description_size, selection.offered)) <= BUDGET
    assert {"read_file", "search_code", MORE_TOOLS} <= set(named(selection))


@pytest.mark.parametrize("worker", WORKERS)
def test_a_worker_may_use_every_tool_that_its_first_request_describes(worker: str) -> None:
    shared = frozenset((*ROSTER[worker].tools, *ROSTER["reviewer"].tools))
    assert set(named(ToolSelection(REGISTRY.offers(shared)))) - {MORE_TOOLS} <= set(ROSTER[worker].tools)


def test_the_coder_begins_with_what_most_tasks_need() -> None:
    first = set(named(ToolSelection(CODER)))
    assert {"read_file", "search_code", "find_files", "edit_file", "write_file", "run_command", "run_tests"} <= first


def test_a_researcher_begins_with_the_tools_that_its_instructions_name() -> None:
    agent = ROSTER["researcher"]
    tools = [*REGISTRY.offers(frozenset(agent.tools)), FindCode.spec.offer()]
    first = named(ToolSelection(tools, first=agent.first))
    assert set(re.findall(r"`([a-z]+_[a-z]+)`", agent.part)) <= set(first)
    assert first[:2] == named(ToolSelection(tools))[:2]


def test_an_unknown_name_beside_a_known_one_does_not_list_all_others() -> None:
    answer = ToolSelection(CODER).fetch(asks("delegate", "nonsense"))
    assert answer.content == "Now described to you: delegate.\nYou have no tool nonsense."


def test_however_many_tools_there_will_be_the_budget_holds() -> None:
    more = [tool.model_copy(update={"name": f"{tool.name}_{number}"}) for number in range(20) for tool in CODER]
    selection = ToolSelection([*CODER, *more])
    assert sum(map(description_size, selection.offered)) <= BUDGET
    everything = selection.fetch(asks()).content
    assert all(tool.name in everything for tool in more), "whoever asks for no name is told of all"


def test_an_agent_with_few_tools_is_told_of_all_of_them() -> None:
    few = REGISTRY.offers({"read_file", "git_blame", "apply_patch"})
    assert named(ToolSelection(few)) == [tool.name for tool in few]


def test_an_agent_with_none_of_the_usual_ones_is_told_of_some_of_its_own() -> None:
    own = [tool.model_copy(update={"name": f"own_{number}"}) for number, tool in enumerate(CODER)]
    assert "own_0" in named(ToolSelection(own))


def test_what_is_asked_for_comes_at_the_end_and_only_once() -> None:
    selection = ToolSelection(CODER)
    first = named(selection)
    assert selection.fetch(asks("git_blame", "git_log", "git_blame")).status == "success"
    assert selection.fetch(asks("git_log")).status == "success"
    assert named(selection) == [*first, "git_blame", "git_log"]


def test_what_is_not_there_is_said_with_what_is() -> None:
    selection = ToolSelection(CODER)
    answer = selection.fetch(asks("fly"))
    assert answer.status == "error"
    assert "no tool fly" in answer.content
    assert "git_blame: " in answer.content
    assert selection.fetch(ToolUse(id="1", tool=MORE_TOOLS, args={"names": "git_blame"})).status == "success"


def test_what_the_conversation_asked_for_is_there_again() -> None:
    selection = ToolSelection(CODER, [ModelTurn(text="", calls=[asks("git_blame")])])
    assert "git_blame" in named(selection)


def test_a_model_is_told_the_same_fields_in_fewer_words() -> None:
    for tool in REGISTRY:
        rich, terse = tool.spec.info(), tool.spec.offer()
        assert fields(rich) == fields(terse), rich.name
        assert rich.parameters.get("required") == terse.parameters.get("required")
        # An item of a todo list has a title of its own.
        own = ("title",) if rich.name != "todo" else ()
        for noise in (*own, "$defs", "$ref", "additionalProperties", "maxLength", '"null"'):
            assert f'"{noise}"' not in terse.to_json() or noise in str(fields(rich)), (noise, rich.name)


def fields(info: ToolInfo) -> list[str]:
    properties = info.parameters["properties"]
    assert isinstance(properties, dict)
    return list(properties)
