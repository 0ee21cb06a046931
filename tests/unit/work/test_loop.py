"""The loop by itself, with a log in memory."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from sidecar.engine.errors import AgentError
from sidecar.engine.state import UserMessage
from sidecar.engine.steps import StepKey
from sidecar.models.errors import Failure
from sidecar.models.port import (
    Capabilities,
    Delta,
    ModelTurn,
    NativeTurn,
    Reply,
    Request,
    Stop,
    ToolReturn,
    ToolTurn,
    ToolUse,
    UserTurn,
)
from sidecar.wire.base import JsonObject
from sidecar.work.compaction import turn_tokens
from sidecar.work.loop import Job, run_agent
from sidecar.work.replies import CollectedReply
from sidecar.work.roster import ROSTER


class Replies:
    """A model that says what it is given to say, the last of it for ever."""

    provider, name = "list", "replies"

    def __init__(self, *replies: Reply, context_size: int | None = None) -> None:
        self._replies = replies
        self.capabilities = Capabilities(context_tokens=context_size)
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        self.requests.append(Request(request.agent, request.system, list(request.history), request.tools))
        yield self._replies[min(len(self.requests), len(self._replies)) - 1]


KEY = StepKey(1, "coder", 1)


class ListTurnLog:
    def __init__(self, result: Callable[[ToolUse], str] = lambda call: "same") -> None:
        self.result = result
        self.left_out: list[str] = []
        self.messages: list[str] = []
        self.ends: list[StepKey] = []
        self.rooms: list[int] = []

    def recorded(self, key: StepKey) -> CollectedReply | None:
        return None

    async def begin(self) -> Sequence[UserMessage]:
        messages, self.messages = self.messages, []
        return [UserMessage(id=f"m{number}", text=text) for number, text in enumerate(messages)]

    def show(self, key: StepKey, delta: Delta) -> None:
        pass

    def keep_partial(self, key: StepKey, text: str) -> None:
        pass

    def record(
        self, key: StepKey, messages: Sequence[UserMessage], reply: Reply, room: int, told: Sequence[str]
    ) -> CollectedReply:
        self.rooms.append(room)
        return CollectedReply(messages, reply, room)

    async def call(self, key: StepKey, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]:
        return [
            ToolReturn(
                id=call.id,
                tool=call.tool,
                status="success",
                content=self.result(call),
                details={"exitCode": 1} if call.tool == "run_tests" else {},
            )
            for call in calls
        ]

    def may_continue(self, key: StepKey) -> bool:
        return bool(self.messages)

    def record_stop(self, key: StepKey) -> None:
        self.ends.append(key)

    def note_left_out(self, what: str) -> None:
        self.left_out.append(what)


def call(number: int, tool: str = "read_file", **args: str) -> Reply:
    return Reply(stop=Stop.TOOL_USE, calls=[ToolUse(id=f"c{number}", tool=tool, args={"path": f"{number}", **args})])


def end(text: str) -> Reply:
    return Reply(stop=Stop.END, text=text)


def job(model: Replies, agent: str = "coder", limit: int | None = None) -> Job:
    return Job(KEY, ROSTER[agent], model, [UserTurn(text="The rules. The request.")], max_iterations=limit)


def texts(request: Request) -> list[str]:
    return [turn.text for turn in request.history if isinstance(turn, UserTurn)]


async def test_at_its_limit_an_agent_is_told_to_wrap_up_and_may_go_on() -> None:
    model = Replies(*[call(number) for number in range(5)], end("done"))
    assert await run_agent(job(model, "planner"), ListTurnLog(lambda call: str(call.args))) == "done"
    assert not any("Finish now" in text for text in texts(model.requests[2]))
    assert "You have used 3 turns. Finish now" in texts(model.requests[3])[-1]


async def test_five_times_its_limit_is_the_end() -> None:
    model = Replies(*[call(number) for number in range(100)])
    with pytest.raises(AgentError) as error:
        await run_agent(job(model, "planner"), ListTurnLog(lambda call: str(call.args)))
    assert (error.value.code, len(model.requests)) == ("iteration_limit", 15)


async def test_without_progress_an_agent_gets_no_more_than_its_limit_again() -> None:
    model = Replies(call(1), *[call(number, "search_code") for number in (2, 1, 2, 1, 3, 1, 3, 2, 3)])
    with pytest.raises(AgentError) as error:
        await run_agent(job(model, "planner"), ListTurnLog())
    assert error.value.code in ("iteration_limit", "repetition")
    assert len(model.requests) < 15


async def test_the_users_own_limit_overrides() -> None:
    model = Replies(*[call(number) for number in range(100)])
    with pytest.raises(AgentError) as error:
        await run_agent(job(model, limit=2), ListTurnLog(lambda call: str(call.args)))
    assert (error.value.code, len(model.requests)) == ("iteration_limit", 2)


async def test_the_same_call_again_and_again_is_pointed_out_and_then_stopped() -> None:
    model = Replies(call(1))
    with pytest.raises(AgentError) as error:
        await run_agent(job(model), ListTurnLog())
    assert (error.value.code, error.value.retry, len(model.requests)) == ("repetition", False, 5)
    assert "read_file" in error.value.message
    assert "same call 3 times" in texts(model.requests[3])[-1]


async def test_two_calls_in_turns_are_a_repetition_too() -> None:
    model = Replies(*[call(number % 2) for number in range(50)])
    with pytest.raises(AgentError) as error:
        await run_agent(job(model), ListTurnLog())
    assert (error.value.code, len(model.requests)) == ("repetition", 9)


async def test_the_same_call_with_other_results_is_no_repetition() -> None:
    model = Replies(*[call(1)] * 8, end("it ended"))
    answers = iter(range(100))
    assert await run_agent(job(model), ListTurnLog(lambda call: f"line {next(answers)}")) == "it ended"


async def test_a_message_from_the_user_lets_a_stopped_agent_go_on() -> None:
    model = Replies(*[call(1)] * 5, end("as you say"))

    class Interrupted(ListTurnLog):
        async def call(self, key: StepKey, calls: Sequence[ToolUse]) -> Sequence[ToolReturn]:
            if len(model.requests) == 5:
                self.messages = ["try something else"]
            return await super().call(key, calls)

    assert await run_agent(job(model), Interrupted()) == "as you say"
    assert texts(model.requests[-1])[-1] == "try something else"


async def test_an_empty_reply_is_asked_again_and_then_an_end() -> None:
    model = Replies(end(""), end(" \n"), end("now"))
    assert await run_agent(job(model), ListTurnLog()) == "now"
    with pytest.raises(AgentError) as error:
        await run_agent(job(Replies(end(""))), ListTurnLog())
    assert (error.value.code, error.value.recoverable) == ("empty_reply", True)


async def test_a_reply_that_was_cut_off_goes_on_and_nothing_of_its_calls_is_done() -> None:
    cut = Reply(stop=Stop.LENGTH, text="half a", calls=[ToolUse(id="c", tool="delete_file", args={})])
    model = Replies(cut, end("whole"))

    def never(call: ToolUse) -> str:
        raise AssertionError("half a call was carried out")

    assert await run_agent(job(model), ListTurnLog(never)) == "whole"
    assert model.requests[1].history[-2] == ModelTurn(text="half a")


async def test_a_refusal_is_an_end_with_its_own_code() -> None:
    with pytest.raises(AgentError) as error:
        await run_agent(job(Replies(Reply(stop=Stop.DECLINED))), ListTurnLog())
    assert (error.value.code, error.value.retry) == ("model_declined", False)


async def test_what_the_user_says_during_an_agents_last_word_is_heard_all_the_same() -> None:
    model = Replies(end("done"), end("done, with tabs"))

    class Interrupted(ListTurnLog):
        def record(
            self, key: StepKey, messages: Sequence[UserMessage], reply: Reply, room: int, told: Sequence[str]
        ) -> CollectedReply:
            self.messages = ["use tabs"] if len(model.requests) == 1 else []
            return super().record(key, messages, reply, room, told)

    assert await run_agent(job(model), Interrupted()) == "done, with tabs"
    assert texts(model.requests[1])[-1] == "use tabs"
    assert model.requests[1].history[-2] == ModelTurn(text="done")


async def test_an_agent_that_was_stopped_and_resumed_has_as_many_turns_again() -> None:
    class Resumed(ListTurnLog):
        def may_continue(self, key: StepKey) -> bool:
            return key.turn == 2

    model = Replies(*[call(number) for number in range(100)])
    log = Resumed(lambda call: str(call.args))
    with pytest.raises(AgentError):
        await run_agent(job(model, limit=2), log)
    assert (len(model.requests), log.ends) == (4, [KEY.of_turn(4)])


# -- the window --------------------------------------------------------------------------------------------------------

LONG = "x" * 3_000


async def test_when_the_window_fills_old_results_are_left_out_and_that_is_reported() -> None:
    model = Replies(*[call(number) for number in range(30)], end("done"), context_size=20_000)
    log = ListTurnLog(lambda call: f"result {call.args['path']} {LONG}")
    assert await run_agent(job(model), log) == "done"
    last = model.requests[-1].history
    assert texts(model.requests[-1])[0] == "The rules. The request."
    results = [turn.returns[0].content for turn in last if isinstance(turn, ToolTurn)]
    assert "left out to make room" in results[0]
    assert results[-1] == f"result 29 {LONG}"
    assert 1 <= len(log.left_out) <= 6, "room is made rarely, so that the beginning of a request stays the same"
    assert "records" in log.left_out[0]
    assert all(sum(len(str(turn)) for turn in request.history) < 20_000 * 4 for request in model.requests)


async def test_the_newest_failed_check_stays_word_for_word() -> None:
    failed = f"2 failed, 1 passed {LONG}"

    def result(call: ToolUse) -> str:
        return failed if call.tool == "run_tests" else LONG + str(call.args["path"])

    model = Replies(call(0, "run_tests"), *[call(number) for number in range(1, 30)], end("done"), context_size=20_000)
    await run_agent(job(model), ListTurnLog(result))
    kept = [turn.returns[0].content for turn in model.requests[-1].history if isinstance(turn, ToolTurn)]
    assert kept[0] == failed
    assert "left out" in kept[1]


async def test_what_was_written_long_ago_is_left_out_of_the_calls_too() -> None:
    model = Replies(*[call(number, content=LONG) for number in range(30)], end("done"), context_size=20_000)
    await run_agent(job(model), ListTurnLog(lambda call: "ok " + str(call.args["path"])))
    first = model.requests[-1].history[1]
    assert isinstance(first, ModelTurn)
    assert first.calls[0].args == {"path": "0", "content": "[3,000 characters left out]"}


async def test_the_same_history_is_made_again_from_the_same_replies() -> None:
    async def last_request() -> Request:
        model = Replies(*[call(number) for number in range(30)], end("done"), context_size=20_000)
        await run_agent(job(model), ListTurnLog(lambda call: f"{call.args['path']} {LONG}"))
        return model.requests[-1]

    first, second = await asyncio.gather(last_request(), last_request())
    assert first == second


def thought(number: int) -> Reply:
    """A turn that its provider wants back as it was, with a long signature."""
    use = ToolUse(id=f"c{number}", tool="read_file", args={"path": f"file{number}.py"})
    content: list[JsonObject] = [{"type": "thinking", "signature": LONG, "number": number}]
    kept = NativeTurn(provider="list", model="replies", content=content)
    return Reply(stop=Stop.TOOL_USE, calls=[use], kept=kept)


def holds_together(request: Request) -> bool:
    """Every call has its result right after it."""
    pairs = zip(request.history, [*request.history[1:], None], strict=True)
    return all(isinstance(after, ToolTurn) for turn, after in pairs if isinstance(turn, ModelTurn) and turn.calls)


async def test_turns_that_cannot_be_shortened_go_as_a_whole_with_their_results() -> None:
    model = Replies(*[thought(number) for number in range(40)], end("done"), context_size=20_000)
    log = ListTurnLog(lambda call: f"ok {call.args['path']}")
    assert await run_agent(job(model), log) == "done"
    last = model.requests[-1]
    kept = [turn.kept.content[0]["number"] for turn in last.history if isinstance(turn, ModelTurn) and turn.kept]
    assert kept == list(range(40 - len(kept), 40)), "the newest are there, as they were"
    assert len(kept) >= 3
    (note,) = [text for text in texts(last) if "left out to make room" in text]
    assert "read_file file0.py" in note
    assert f"[{40 - len(kept)} earlier exchanges" in note
    assert texts(last)[0] == "The rules. The request."
    assert all(holds_together(request) for request in model.requests)
    assert all(sum(map(turn_tokens, request.history)) <= 20_000 * 0.7 for request in model.requests)
    assert "whole exchanges" in log.left_out[0]


async def test_many_small_turns_stay_within_the_window_and_room_is_made_rarely() -> None:
    # A message of the person now and then, which stays; three hundred calls, of which each is short.
    model = Replies(*[call(number) for number in range(300)], end("done"), context_size=8_000)
    log = ListTurnLog(lambda call: f"{call.args['path']} " + "y" * 300)
    await run_agent(job(model, limit=400), log)
    assert all(sum(map(turn_tokens, request.history)) <= 8_000 * 0.7 for request in model.requests)
    assert 1 <= len(log.left_out) <= 30
    assert all(holds_together(request) for request in model.requests)


async def test_the_newest_failed_check_stays_also_when_whole_turns_go() -> None:
    def result(call: ToolUse) -> str:
        return "2 failed, 1 passed" if call.tool == "run_tests" else f"{call.args['path']} " + "y" * 300

    calls = [call(0, "run_tests"), *[call(number) for number in range(1, 200)]]
    model = Replies(*calls, end("done"), context_size=8_000)
    await run_agent(job(model, limit=400), ListTurnLog(result))
    results = [
        back.content for turn in model.requests[-1].history if isinstance(turn, ToolTurn) for back in turn.returns
    ]
    assert results[0] == "2 failed, 1 passed"


async def test_what_was_left_out_can_be_searched_by_the_agent() -> None:
    def result(call: ToolUse) -> str:
        return f"secret word of file {call.args['path']}\nand more\n{LONG}"

    wanted = Reply(stop=Stop.TOOL_USE, calls=[ToolUse(id="r", tool="recall", args={"query": "Secret file 3"})])
    listed = Reply(stop=Stop.TOOL_USE, calls=[ToolUse(id="l", tool="recall", args={"query": "nowhere to be seen"})])
    model = Replies(*[call(number) for number in range(12)], wanted, listed, end("done"), context_size=12_000)
    assert await run_agent(job(model, limit=50), ListTurnLog(result)) == "done"
    assert "recall" not in [tool.name for tool in model.requests[0].tools]
    assert [tool.name for tool in model.requests[-1].tools].count("recall") == 1
    answers = [turn.returns[0].content for turn in model.requests[-1].history[-4:] if isinstance(turn, ToolTurn)]
    assert answers[0].startswith("read_file 3:\nsecret word of file 3\nand more")
    assert "file 4" not in answers[0]
    assert "- read_file 0" in answers[1]
    assert len(answers[0]) < 4_000, "what is found does not fill the window again"


async def test_a_server_that_tells_its_size_only_when_it_is_asked_is_never_sent_more() -> None:
    class Shy(Replies):
        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            self.capabilities = Capabilities(context_tokens=4_096)
            async for part in super().stream(request):
                yield part

    model = Shy(*[call(number) for number in range(20)], end("done"))
    log = ListTurnLog(lambda call: f"{call.args['path']} {LONG}")
    assert await run_agent(job(model), log) == "done"
    assert all(sum(map(turn_tokens, request.history)) <= 4_096 * 0.7 for request in model.requests[1:])
    assert all(holds_together(request) for request in model.requests)
    newest = model.requests[-1].history[-1]
    assert isinstance(newest, ToolTurn)
    assert newest.returns[0].content.startswith("19 xxx"), "the last exchange is always there"


async def test_a_result_that_is_larger_than_the_window_loses_its_middle_and_keeps_its_end() -> None:
    model = Replies(call(0, "run_tests"), end("done"), context_size=4_096)
    await run_agent(job(model), ListTurnLog(lambda call: "begin " + LONG * 10 + " 1 failed"))
    (back,) = model.requests[1].history[-1].returns  # type: ignore[union-attr]
    assert back.content.startswith("begin ")
    assert " 1 failed\n[" in back.content
    assert len(back.content) < 4_096 * 3


async def test_a_server_that_refuses_so_much_is_sent_less_as_long_as_something_can_be_left_out() -> None:
    class Small(Replies):
        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            if sum(map(turn_tokens, request.history)) > 3_000:
                yield Reply(stop=Stop.FAILED, failure=Failure(code="context_overflow", message="too much", retry=False))
                return
            async for part in super().stream(request):
                yield part

    model = Small(*[call(number) for number in range(20)], end("done"))
    log = ListTurnLog(lambda call: f"{call.args['path']} {LONG}")
    assert await run_agent(job(model), log) == "done"
    assert log.left_out
    hopeless = Small(end("never"))
    with pytest.raises(AgentError) as error:
        await run_agent(Job(KEY, ROSTER["coder"], hopeless, [UserTurn(text="x" * 30_000)]), ListTurnLog())
    assert (error.value.code, error.value.recoverable) == ("context_overflow", True)
