"""Decides when an agent should finish, and stops it if it repeats itself or makes no progress."""

import json
from collections import deque
from collections.abc import Sequence

from sidecar.engine.errors import AgentError
from sidecar.models.port import Reply, Stop, ToolReturn, ToolUse
from sidecar.wire.text import plural
from sidecar.work.roster import Agent

#: While it makes progress, an agent may take this many times its limit.
STRETCH = 5
#: The same calls with the same results: the agent gets a warning, then it is stopped.
_WARN_AFTER, _STOP_AFTER = 3, 5
_REMEMBERED_CALLS = 20
#: Empty or cut-off replies in a row that are answered with "go on".
_MAX_INCOMPLETE = 2


class TurnLimits:
    def __init__(self, agent: Agent, max_iterations: int | None) -> None:
        self._agent = agent
        self.limit = max_iterations or agent.max_iterations * STRETCH
        self._wrap_up = min(agent.max_iterations, self.limit) if max_iterations is None else self.limit - 1
        self._recent: deque[int] = deque(maxlen=_REMEMBERED_CALLS)
        self._known: set[int] = set()
        self._idle = 0
        self._incomplete = 0
        self._turns = 0

    def reset(self) -> None:
        """You sent a message or resumed the agent, so earlier turns no longer count."""
        self._turns = self._idle = self._incomplete = 0
        self._recent.clear()

    def after_calls(self, calls: Sequence[ToolUse], returns: Sequence[ToolReturn]) -> str | AgentError | None:
        """A note for the agent's next turn, or the reason why it gets none."""
        self._incomplete = 0
        self._turns += 1
        signature = _signature(calls, returns)
        self._recent.append(signature)
        times = self._recent.count(signature)
        if times >= _STOP_AFTER:
            tools = ", ".join(dict.fromkeys(call.tool for call in calls))
            return AgentError(
                "repetition",
                f"The {self._agent.name} made the same call ({tools}) {times} times with the same result each time, so "
                "it was stopped. Its work is kept; send it a message that says how to go on, or resume it.",
                retry=False,
            )
        new = signature not in self._known and any(back.status == "success" for back in returns)
        self._known.add(signature)
        self._idle = 0 if new else self._idle + 1
        done = self._turns
        if done >= self.limit or (done > self._wrap_up and self._idle >= max(self._wrap_up, 3)):
            return self._limit_reached()
        if times == _WARN_AFTER:
            return f"You have made this same call {times} times with the same result. Do something else, or finish."
        if done == self._wrap_up:
            return (
                f"You have used {plural(done, 'turn')}. Finish now if you can: check what you did and give your answer."
                " If work remains, say what it is and go on with the most important part."
            )
        return None

    def after_incomplete(self, reply: Reply) -> str | AgentError:
        """The reply was empty or cut off."""
        self._incomplete += 1
        self._turns += 1
        cut_off = reply.stop is Stop.LENGTH
        if self._incomplete > _MAX_INCOMPLETE:
            code, problem = ("reply_too_long", "cut off at its length limit") if cut_off else ("empty_reply", "empty")
            message = (
                f"The model's reply was {problem} {self._incomplete} times in a row. All work is kept; resume the "
                "task, or choose another model."
            )
            return AgentError(code, message, retry=False)
        if self._turns >= self.limit:
            return self._limit_reached()
        if cut_off:
            return "Your reply was cut off at its length limit. Go on in smaller pieces; no cut-off call was run."
        return "Your reply was empty. Go on with the task, or say what you found."

    def _limit_reached(self) -> AgentError:
        return AgentError(
            "iteration_limit",
            f"The {self._agent.name} was not done after {plural(self._turns, 'turn')}. Its work is kept; resume it to "
            "allow as many again, or send it a message that says how to go on.",
            retry=False,
        )


def _signature(calls: Sequence[ToolUse], returns: Sequence[ToolReturn]) -> int:
    asked = json.dumps([[call.tool, call.args] for call in calls], sort_keys=True, default=str)
    return hash((asked, *(back.content for back in returns)))
