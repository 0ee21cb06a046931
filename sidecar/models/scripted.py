"""A model that plays a list of replies, for demos and tests.

`scripted/NAME` plays `NAME.json` of the scripts directory: a list of replies, or an object with a list for each agent
(`"*"` for all others). A reply has `text`, `calls` (`[{"tool": …, "args": …}]`), `delayMs` before it starts and
`deltaMs` between its words. Each step of an agent plays its list from the beginning, and the history determines the
next reply, so a resumed task goes on where it was.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from itertools import count
from pathlib import Path

from pydantic import Field, ValidationError

from sidecar.models.errors import Failure
from sidecar.models.port import Capabilities, Delta, ModelTurn, Reply, Request, Stop, ToolUse
from sidecar.wire.base import JsonObject, Wire
from sidecar.wire.tasks import Usage


class ScriptedCall(Wire):
    tool: str
    args: JsonObject = {}


class ScriptedReply(Wire):
    text: str = ""
    thinking: str = ""
    calls: list[ScriptedCall] = []
    failure: Failure | None = None
    usage: Usage = Field(default_factory=Usage)
    delay_ms: float = Field(0, ge=0)
    delta_ms: float = Field(0, ge=0)


Script = dict[str, list[ScriptedReply]]


class BadScript(Exception):
    pass


class Scripted:
    provider = "scripted"
    capabilities = Capabilities(in_process=True)

    def __init__(self, name: str, script: Script) -> None:
        self.name = name
        self._script = script

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        replies = self._script.get(request.agent, self._script.get("*", []))
        turns = [turn for turn in request.history if isinstance(turn, ModelTurn)]
        played = len(turns) if request.replies is None else request.replies
        if played >= len(replies):
            message = f"The script {self.name} has no reply {played + 1} for the agent {request.agent}."
            yield Reply(stop=Stop.FAILED, failure=Failure(code="script_ended", message=message, recoverable=False))
            return
        reply = replies[played]
        await asyncio.sleep(reply.delay_ms / 1000)
        if reply.thinking:
            yield Delta(reply.thinking, "thinking")
        for word in re.findall(r"\S+\s*", reply.text):
            yield Delta(word)
            if reply.delta_ms:
                await asyncio.sleep(reply.delta_ms / 1000)
        used = {call.id for turn in turns for call in turn.calls}
        calls = [
            ToolUse(id=_unused(f"{played}-{number}", used), tool=call.tool, args=call.args)
            for number, call in enumerate(reply.calls)
        ]
        stop = Stop.FAILED if reply.failure else Stop.TOOL_USE if calls else Stop.END
        yield Reply(
            text=reply.text, thinking=reply.thinking, calls=calls, stop=stop, usage=reply.usage, failure=reply.failure
        )


def _unused(call_id: str, used: set[str]) -> str:
    """Agents share a conversation, in which an id may occur only once."""
    return next(name for number in count() if (name := f"{call_id}.{number}" if number else call_id) not in used)


def load(name: str, directory: Path) -> Scripted:
    if not re.fullmatch(r"[\w-]+", name):
        raise BadScript(f"{name!r} is not a script name: use only letters, digits, - and _.")
    file = directory / f"{name}.json"
    try:
        given = json.loads(file.read_text(encoding="utf-8"))
        return Scripted(name, parse(given))
    except (OSError, ValueError, ValidationError) as error:
        raise BadScript(f"The script {file} can't be loaded: {error}") from error


def parse(given: Sequence[object] | dict[str, Sequence[object]]) -> Script:
    by_agent = given if isinstance(given, dict) else {"*": given}
    return {agent: [ScriptedReply.model_validate(reply) for reply in replies] for agent, replies in by_agent.items()}
