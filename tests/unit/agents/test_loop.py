"""The loop by itself, with books that are kept in a list."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from sidecar.agents.errors import AgentError
from sidecar.agents.loop import Heard, Job, collect, work
from sidecar.agents.roster import ROSTER, Agent
from sidecar.models.port import Delta, ModelTurn, Reply, Request, Stop, ToolReturn, ToolTurn, ToolUse, UserTurn


class Replies:
    """A model that says what it is given to say, the last of it for ever."""

    provider, name = "list", "replies"

    def __init__(self, *replies: Reply, context_size: int | None = None) -> None:
        self._replies = replies
        self.context_size = context_size
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        self.requests.append(Request(request.agent, request.system, list(request.history), request.tools))
        yield self._replies[min(len(self.requests), len(self._replies)) - 1]


class ListBooks:
    def __init__(self, result: Callable[[ToolUse], str] = lambda call: "same") -> None:
        self.result = result
        self.told: list[str] = []
        self.messages: list[str] = []

    async def turn(self, key: str, agent: str, ask: Callable[[Sequence[str]], AsyncIterator[Delta | Reply]]) -> Heard:
        heard, self.messages = self.messages, []
        return Heard(heard, await collect(ask(heard), lambda delta: None))

    async def call(self, key: str, agent: Agent, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]:
        return [ToolReturn(id=call.id, tool=call.tool, status="success", content=self.result(call)) for call in calls]

    def spoken(self) -> bool:
        return bool(self.messages)

    def left_out(self, what: str) -> None:
        self.told.append(what)


def call(number: int, tool: str = "read_file", **args: str) -> Reply:
    return Reply(stop=Stop.TOOL_USE, calls=[ToolUse(id=f"c{number}", tool=tool, args={"path": f"{number}", **args})])


def end(text: str) -> Reply:
    return Reply(stop=Stop.END, text=text)


def job(model: Replies, agent: str = "coder", limit: int | None = None) -> Job:
    return Job("k", ROSTER[agent], model, [UserTurn(text="The rules. The request.")], max_iterations=limit)


def texts(request: Request) -> list[str]:
    return [turn.text for turn in request.history if isinstance(turn, UserTurn)]


async def test_at_its_limit_an_agent_is_told_to_wrap_up_and_may_go_on() -> None:
    model = Replies(*[call(number) for number in range(5)], end("done"))
    assert await work(job(model, "planner"), ListBooks(lambda call: str(call.args))) == "done"
    assert not any("Finish now" in text for text in texts(model.requests[2]))
    assert "You have used 3 turns. Finish now" in texts(model.requests[3])[-1]


async def test_five_times_its_limit_is_the_end() -> None:
    model = Replies(*[call(number) for number in range(100)])
    with pytest.raises(AgentError) as error:
        await work(job(model, "planner"), ListBooks(lambda call: str(call.args)))
    assert (error.value.code, len(model.requests)) == ("iteration_limit", 15)


async def test_without_progress_an_agent_gets_no_more_than_its_limit_again() -> None:
    model = Replies(call(1), *[call(number, "search_code") for number in (2, 1, 2, 1, 3, 1, 3, 2, 3)])
    with pytest.raises(AgentError) as error:
        await work(job(model, "planner"), ListBooks())
    assert error.value.code in ("iteration_limit", "repetition")
    assert len(model.requests) < 15


async def test_the_persons_own_limit_overrides() -> None:
    model = Replies(*[call(number) for number in range(100)])
    with pytest.raises(AgentError) as error:
        await work(job(model, limit=2), ListBooks(lambda call: str(call.args)))
    assert (error.value.code, len(model.requests)) == ("iteration_limit", 2)


async def test_the_same_call_again_and_again_is_pointed_out_and_then_stopped() -> None:
    model = Replies(call(1))
    with pytest.raises(AgentError) as error:
        await work(job(model), ListBooks())
    assert (error.value.code, error.value.retry, len(model.requests)) == ("repetition", False, 5)
    assert "read_file" in error.value.message
    assert "same call 3 times" in texts(model.requests[3])[-1]


async def test_two_calls_in_turns_are_a_repetition_too() -> None:
    model = Replies(*[call(number % 2) for number in range(50)])
    with pytest.raises(AgentError) as error:
        await work(job(model), ListBooks())
    assert (error.value.code, len(model.requests)) == ("repetition", 9)


async def test_the_same_call_with_other_results_is_no_repetition() -> None:
    model = Replies(*[call(1)] * 8, end("it ended"))
    answers = iter(range(100))
    assert await work(job(model), ListBooks(lambda call: f"line {next(answers)}")) == "it ended"


async def test_a_message_from_the_person_lets_a_stopped_agent_go_on() -> None:
    model = Replies(*[call(1)] * 5, end("as you say"))

    class Interrupted(ListBooks):
        async def call(self, key: str, agent: Agent, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]:
            if len(model.requests) == 5:
                self.messages = ["try something else"]
            return await super().call(key, agent, calls)

    assert await work(job(model), Interrupted()) == "as you say"
    assert texts(model.requests[-1])[-1] == "try something else"


async def test_an_empty_reply_is_asked_again_and_then_an_end() -> None:
    model = Replies(end(""), end(" \n"), end("now"))
    assert await work(job(model), ListBooks()) == "now"
    with pytest.raises(AgentError) as error:
        await work(job(Replies(end(""))), ListBooks())
    assert (error.value.code, error.value.recoverable) == ("empty_reply", True)


async def test_a_reply_that_was_cut_off_goes_on_and_nothing_of_its_calls_is_done() -> None:
    cut = Reply(stop=Stop.LENGTH, text="half a", calls=[ToolUse(id="c", tool="delete_file", args={})])
    model = Replies(cut, end("whole"))

    def never(call: ToolUse) -> str:
        raise AssertionError("half a call was carried out")

    assert await work(job(model), ListBooks(never)) == "whole"
    assert model.requests[1].history[-2] == ModelTurn(text="half a")


async def test_a_refusal_is_an_end_with_its_own_code() -> None:
    with pytest.raises(AgentError) as error:
        await work(job(Replies(Reply(stop=Stop.DECLINED))), ListBooks())
    assert (error.value.code, error.value.retry) == ("model_declined", False)


# -- the window --------------------------------------------------------------------------------------------------------

LONG = "x" * 3_000


async def test_when_the_window_fills_old_results_are_left_out_and_that_is_told() -> None:
    model = Replies(*[call(number) for number in range(30)], end("done"), context_size=20_000)
    books = ListBooks(lambda call: f"result {call.args['path']} {LONG}")
    assert await work(job(model), books) == "done"
    last = model.requests[-1].history
    assert texts(model.requests[-1])[0] == "The rules. The request."
    results = [turn.returns[0].content for turn in last if isinstance(turn, ToolTurn)]
    assert "left out to make room" in results[0]
    assert results[-1] == f"result 29 {LONG}"
    assert 1 <= len(books.told) <= 6, "room is made rarely, so that the beginning of a request stays the same"
    assert "records" in books.told[0]
    assert all(sum(len(str(turn)) for turn in request.history) < 20_000 * 4 for request in model.requests)


async def test_the_newest_failed_check_stays_word_for_word() -> None:
    failed = f"2 failed, 1 passed {LONG}"

    def result(call: ToolUse) -> str:
        return failed if call.tool == "run_tests" else LONG + str(call.args["path"])

    model = Replies(call(0, "run_tests"), *[call(number) for number in range(1, 30)], end("done"), context_size=20_000)
    await work(job(model), ListBooks(result))
    kept = [turn.returns[0].content for turn in model.requests[-1].history if isinstance(turn, ToolTurn)]
    assert kept[0] == failed
    assert "left out" in kept[1]


async def test_what_was_written_long_ago_is_left_out_of_the_calls_too() -> None:
    model = Replies(*[call(number, content=LONG) for number in range(30)], end("done"), context_size=20_000)
    await work(job(model), ListBooks(lambda call: "ok " + str(call.args["path"])))
    first = model.requests[-1].history[1]
    assert isinstance(first, ModelTurn)
    assert first.calls[0].args == {"path": "0", "content": "[3,000 characters, left out]"}


async def test_the_same_history_is_made_again_from_the_same_replies() -> None:
    async def last_request() -> Request:
        model = Replies(*[call(number) for number in range(30)], end("done"), context_size=20_000)
        await work(job(model), ListBooks(lambda call: f"{call.args['path']} {LONG}"))
        return model.requests[-1]

    first, second = await asyncio.gather(last_request(), last_request())
    assert first == second
