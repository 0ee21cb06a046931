"""A model under test: the real SDK, and the server that it talks to."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidecar.config.keys import Keys
from sidecar.config.settings import Settings
from sidecar.models.catalog import Catalog
from sidecar.models.chain import Chain
from sidecar.models.port import Delta, Model, Reply, Request, Switch, ToolReturn, ToolTurn, ToolUse, Turn, UserTurn
from sidecar.offline import OFFLINE
from sidecar.wire.tasks import Models
from sidecar.wire.tools import ToolInfo
from tests.contract.servers import rules
from tests.contract.servers.anthropic import Anthropic
from tests.contract.servers.completions import Completions
from tests.contract.servers.gemini import Gemini
from tests.contract.servers.http import Answer, Server, a_server, sliced
from tests.contract.servers.speech import Speaker, Speech
from tests.faults.scale import FULL

SPEAKERS: list[Speaker] = [Anthropic(), Gemini(), Completions("groq"), Completions("openai")]
#: For tests that start a sidecar for each; all of them in `make faults`.
USUAL_SPEAKERS = SPEAKERS if FULL else (SPEAKERS[0], SPEAKERS[3])
CANARY = "canary-key-0123456789"
SAY = UserTurn(text="Say something.")


def tool(name: str = "read_file") -> ToolInfo:
    parameters: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return ToolInfo(
        name=name,
        description=f"The tool {name}.",
        parameters=parameters,
        executor="local",
        timeout=1,
        retryable=True,
        parallel=True,
        effects="none",
    )


TOOLS = (tool(), tool("list_dir"))


@dataclass
class Stage:
    """A provider's server, and models of a catalog that asks there."""

    speaker: Speaker
    server: Server
    catalog: Catalog
    environ: dict[str, str]
    scripts: Path
    switches: list[Switch] = field(default_factory=list)

    def says(self, *speeches: Speech, size: int = 4096, **more: Any) -> None:
        self.server.plays(*[Answer(sliced(self.speaker.stream(speech), size), **more) for speech in speeches])

    def model(self, *names: str) -> Model:
        chain = ",".join(names) or f"{self.speaker.provider}/{self.speaker.model}"
        return self.catalog.model_for("smart", Models(smart=chain), self.switches.append)

    def alone(self) -> Model:
        """Without the chain that would ask again."""
        chain = self.model()
        assert isinstance(chain, Chain)
        return chain.links[0].model

    async def ask(self, *history: Turn, model: Model | None = None) -> tuple[list[Delta], Reply]:
        deltas: list[Delta] = []
        request = Request("coder", "You are a test.", history or (SAY,), TOOLS)
        async for part in (model or self.model()).stream(request):
            if isinstance(part, Reply):
                return deltas, part
            deltas.append(part)
        raise AssertionError("a stream ends with a reply")

    @property
    def asked(self) -> list[tuple[str, Any]]:
        return self.speaker.asked(self.server.seen[-1].json)


def answers(calls: Sequence[ToolUse]) -> ToolTurn:
    return ToolTurn(
        returns=[
            ToolReturn(id=call.id, tool=call.tool, status="success", content=f"result of {call.tool}") for call in calls
        ]
    )


@asynccontextmanager
async def a_stage(speaker: Speaker, tmp_path: Path, **settings: Any) -> AsyncIterator[Stage]:
    with a_server() as server:
        environ = {speaker.key: CANARY, speaker.base_url: server.url + speaker.prefix()}
        catalog = Catalog(Settings(**settings), tmp_path, OFFLINE, Keys(environ, tmp_path))
        try:
            yield Stage(speaker, server, catalog, environ, tmp_path)
        finally:
            await catalog.close()
        for seen in server.seen:
            rules.check(seen.path.partition("?")[0], seen.body)
