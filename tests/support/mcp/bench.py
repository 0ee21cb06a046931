"""MCP servers behind the real executor, policy and sandbox, without a sidecar around them."""

import itertools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.ledger import ListLedger, Outcome
from tools.local.backend import LocalBackend
from tools.local.sandbox.probe import Sandboxes
from tools.mcp.backend import McpBackend
from tools.mcp.configuration import Configuration
from tools.mcp.servers import McpServers, ServerStatus
from tools.policy.policy import Policy

SERVER = str(Path(__file__).with_name("server.py"))


def scripted(*arguments: str, **more: Any) -> dict[str, Any]:
    """The entry of our own misbehaving server."""
    return {"command": sys.executable, "args": [SERVER, *arguments], **more}


class McpBench:
    def __init__(self, place: Path, servers: Mapping[str, Any], *, trusted: bool = False) -> None:
        self.workspace, self.config, self.data = (place / name for name in ("workspace", "config", "data"))
        for each in (self.workspace, self.config, self.data):
            each.mkdir(exist_ok=True)
        self.write(servers)
        self.sandboxes = Sandboxes()
        self.ledger = ListLedger(answer="allow")
        self._approved: set[str] = set()
        self._numbers = itertools.count()
        self._trusted = trusted
        #: Whose task calls.
        self.conversation = ""
        self.open()

    def open(self) -> None:
        """Everything anew on the same files, as after a restart."""
        configuration = Configuration(self.config, lambda workspace: self._trusted)
        self.servers = McpServers(configuration, self.data, self.sandboxes, (self.config,))
        self.backend, self.registry = McpBackend(self.servers), default_registry()
        self.registry.sources.append(self.backend)
        local = LocalBackend(self.registry, self.data, sandboxes=self.sandboxes)
        policy = Policy(
            contained=self.sandboxes.available, approved=lambda workspace, binding: binding in self._approved
        )
        self.executor = Executor(self.registry, [local, self.backend], policy)

    def write(self, servers: Mapping[str, Any]) -> None:
        (self.config / "mcp.json").write_text(json.dumps({"mcpServers": servers}))

    async def call(self, tool: str, approvals: Any = "ask", **args: Any) -> Outcome:
        call = ToolCall(f"c{next(self._numbers)}", tool, args)
        return (await self.executor.batch([call], self._context(approvals)))[0]

    async def batch(self, *calls: tuple[str, dict[str, Any]]) -> list[Outcome]:
        made = [ToolCall(f"c{next(self._numbers)}", tool, args) for tool, args in calls]
        return await self.executor.batch(made, self._context("ask"))

    def _context(self, approvals: Any) -> BatchContext:
        return BatchContext(str(self.workspace), approvals, self.ledger, conversation=self.conversation)

    def approve_for_workspace(self) -> None:
        """As an answer with scope `workspace` to the last prompt would."""
        self._approved.add(self.ledger.questions[-1].binding)

    def status(self, name: str) -> ServerStatus:
        return next(each for each in self.servers.statuses(str(self.workspace)) if each.name == name)

    async def close(self) -> None:
        await self.executor.close()
        await self.backend.close()
