"""An agent with the official SDK: it reads and writes through its client, writes by itself, and asks."""

import asyncio
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, Agent, InitializeResponse, NewSessionResponse, PromptResponse, run_agent
from acp.helpers import text_block, update_agent_message
from acp.schema import PermissionOption, ToolCallUpdate


class Polite(Agent):
    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **more: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **more: Any) -> NewSessionResponse:
        self.cwd = cwd
        return NewSessionResponse(session_id="s1")

    async def prompt(self, prompt: list[Any], session_id: str, **more: Any) -> PromptResponse:
        found = await self.client.read_text_file(path=f"{self.cwd}/notes.txt", session_id=session_id)
        await self.client.write_text_file(
            content=found.content.upper(), path=f"{self.cwd}/loud.txt", session_id=session_id
        )
        Path(self.cwd, "own.txt").write_text("written by itself\n")
        asked = await self.client.request_permission(
            options=[
                PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
                PermissionOption(option_id="no", name="Reject", kind="reject_once"),
            ],
            session_id=session_id,
            tool_call=ToolCallUpdate(tool_call_id="c1", title="make world", kind="execute"),
        )
        chosen = getattr(asked.outcome, "option_id", "cancelled")
        await self.client.session_update(
            session_id=session_id,
            update=update_agent_message(text_block(f"Permission: {chosen}. It is now 3x faster.")),
        )
        return PromptResponse(stop_reason="end_turn")


asyncio.run(run_agent(Polite()))
