"""MCP servers that an editor hands over with a session."""

from collections.abc import Mapping
from pathlib import Path

from tests.e2e.support import RunningSidecar
from tests.editors.editor import editor
from tests.support.mcp.bench import scripted


def names(sidecar: RunningSidecar) -> set[str]:
    return {each["name"] for each in sidecar.get("/api/brain/mcp").json["servers"]}


async def test_the_editors_servers_are_there_while_its_session_is_open(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    entry = scripted()
    server = {
        "name": "lent",
        "command": entry["command"],
        "args": entry["args"],
        "env": [{"name": "A", "value": "${B}"}],
    }
    async with editor(environ) as zed:
        await zed.request("initialize", protocolVersion=1)
        new = await zed.request("session/new", cwd=str(workspace), mcpServers=[server])
        assert names(sidecar) == {"lent"}
        tested = sidecar.post("/api/brain/mcp/test", {"name": "lent", "workspace": str(workspace)})
        assert "lent__echo" in [tool["name"] for tool in tested.json["tools"]]
        assert tested.json["server"]["pinned"] is False  # you have not accepted them
        await zed.request("session/close", sessionId=new["sessionId"])
        assert names(sidecar) == set()


async def test_a_server_without_a_command_is_refused_and_no_session_begins(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    async with editor(environ) as zed:
        await zed.request("initialize", protocolVersion=1)
        wrong = await zed.answer(
            "session/new", cwd=str(workspace), mcpServers=[{"name": "x", "type": "sse", "url": "u"}]
        )
        assert wrong["error"]["code"] == -32602
        assert names(sidecar) == set()
