"""When an agent should come to an end: it is told to wrap up, and stopped when it repeats itself or gets nowhere."""

import json
from collections import deque
from collections.abc import Sequence

from sidecar.engine.errors import AgentError
from sidecar.models.port import Reply, Stop, ToolReturn, ToolUse
from sidecar.work.roster import Agent

#: An agent may go on to so many times its limit while it makes progress.
STRETCH = 5
#: The same calls with the same results: after so many it is told, after so many it is stopped.
TOLD, STOPPED = 3, 5
_REMEMBERED = 20
#: How often an empty reply, or one that was cut off, is answered with “go on”.
_PATIENCE = 2


class TurnLimits:
    def __init__(self, agent: Agent, max_iterations: int | None) -> None:
        self._agent = agent
        self.limit = max_iterations or agent.max_iterations * STRETCH
        self._wrap_up = min(agent.max_iterations, self.limit) if max_iterations is None else self.limit - 1
        self._seen: deque[int] = deque(maxlen=_REMEMBERED)
        self._known: set[int] = set()
        self._idle = 0
        self._fruitless = 0
        self._turns = 0

    def afresh(self) -> None:
        """The person said how to go on, or to go on: what came before no longer counts."""
        self._turns = self._idle = self._fruitless = 0
        self._seen.clear()

    def after_calls(self, calls: Sequence[ToolUse], returns: Sequence[ToolReturn]) -> str | AgentError | None:
        """What the agent is to be told before its next turn, or why it must not have one."""
        self._fruitless = 0
        self._turns += 1
        act = _signature(calls, returns)
        self._seen.append(act)
        times = self._seen.count(act)
        if times >= STOPPED:
            what = ", ".join(dict.fromkeys(call.tool for call in calls))
            return AgentError(
                "repetition",
                f"The {self._agent.name} made the same call ({what}) {times} times and got the same answer each time, "
                "so it was stopped. What it did is kept; send it a message that says how to go on, or resume it.",
                retry=False,
            )
        new = act not in self._known and any(back.status == "success" for back in returns)
        self._known.add(act)
        self._idle = 0 if new else self._idle + 1
        done = self._turns
        if done >= self.limit or (done > self._wrap_up and self._idle >= max(self._wrap_up, 3)):
            return self._too_many()
        if times == TOLD:
            return f"You have made this same call {times} times with the same result. Do something else, or finish."
        if done == self._wrap_up:
            return (
                f"You have used {_turns(done)}. Finish now if you can: check what you did and give your answer. If "
                "work remains, say what it is and go on with the most important part."
            )
        return None

    def after_words(self, reply: Reply) -> str | AgentError:
        """The reply was no last word: it was empty, or cut off."""
        self._fruitless += 1
        self._turns += 1
        cut_off = reply.stop is Stop.LENGTH
        if self._fruitless > _PATIENCE:
            return self._in_vain(cut_off)
        if self._turns >= self.limit:
            return self._too_many()
        if cut_off:
            return "Your reply was cut off at its length limit. Go on in smaller pieces; no cut call was carried out."
        return "Your reply was empty. Go on with the task, or say what you found."

    def _in_vain(self, cut_off: bool) -> AgentError:
        code, what = (
            ("reply_too_long", "replies were cut off at their length limit again and again")
            if cut_off
            else ("empty_reply", "replies were empty again and again")
        )
        message = f"The model's {what}. What was done is kept; resume the task, or choose another model."
        return AgentError(code, message, retry=False)

    def _too_many(self) -> AgentError:
        return AgentError(
            "iteration_limit",
            f"The {self._agent.name} was not done after {_turns(self._turns)}. What it did is kept; resume it to grant "
            "as many again, or send it a message that says how to go on.",
            retry=False,
        )


def _turns(number: int) -> str:
    return f"{number} turn{'' if number == 1 else 's'}"


def _signature(calls: Sequence[ToolUse], returns: Sequence[ToolReturn]) -> int:
    asked = json.dumps([[call.tool, call.args] for call in calls], sort_keys=True, default=str)
    return hash((asked, *(back.content for back in returns)))
