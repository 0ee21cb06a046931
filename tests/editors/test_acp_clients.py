"""`brain acp`, driven by the official client libraries."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import PROJECT
from tests.editors.editor import COMMAND, SDK

SECONDS = 240
TYPED = "# typed, not saved"


async def test_the_official_python_client_runs_a_whole_story(environ: Mapping[str, str], workspace: Path) -> None:
    acp = pytest.importorskip("acp")
    seen: list[Any] = []
    place = workspace / "greeting.py"
    buffers = {str(place): f"{place.read_text()}{TYPED}\n"}

    class Client(acp.Client):  # type: ignore[misc, name-defined]
        async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
            seen.append(update)

        async def request_permission(self, options: Any, session_id: str, tool_call: Any, **_: Any) -> Any:
            chosen = acp.schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
            return acp.schema.RequestPermissionResponse(outcome=chosen)

        async def read_text_file(self, path: str, session_id: str, **_: Any) -> Any:
            return acp.schema.ReadTextFileResponse(content=buffers.get(path) or Path(path).read_text())

        async def write_text_file(self, content: str, path: str, session_id: str, **_: Any) -> Any:
            buffers.pop(path, None)
            Path(path).write_text(content)
            return acp.schema.WriteTextFileResponse()

    environment = {**environ, "PYTHONPATH": str(PROJECT)}
    async with acp.spawn_agent_process(Client(), *COMMAND, env=environment) as (connection, _):
        files = acp.schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
        able = acp.schema.ClientCapabilities(fs=files)
        await connection.initialize(protocol_version=1, client_capabilities=able)
        session = await connection.new_session(cwd=str(workspace), mcp_servers=[])
        words = [acp.text_block("run the command touch made.txt")]
        done = await asyncio.wait_for(connection.prompt(session_id=session.session_id, prompt=words), SECONDS)
        assert done.stop_reason == "end_turn"
        assert (workspace / "made.txt").exists()
        words = [acp.text_block("rename greet to welcome")]
        await asyncio.wait_for(connection.prompt(session_id=session.session_id, prompt=words), SECONDS)
        assert buffers == {} and _renamed(place)
        kinds = {update.session_update for update in seen}
        assert {"tool_call", "tool_call_update", "agent_message_chunk"} <= kinds


def test_the_official_typescript_client_runs_a_whole_story(environ: Mapping[str, str], workspace: Path) -> None:
    if shutil.which("node") is None or not SDK.exists():
        pytest.skip("Node or the ACP client library isn't installed (npm ci in frontend)")
    story = Path(__file__).with_name("acp_story.mjs")
    done = subprocess.run(
        ["node", str(story), str(SDK), str(workspace), TYPED, *COMMAND],
        env={**environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["first"] == "end_turn"
    assert report["second"] == "cancelled"
    assert report["asked"] >= 1
    assert "tool_call" in report["kinds"]
    assert (workspace / "made.txt").exists()
    assert _renamed(workspace / "greeting.py")


def _renamed(place: Path) -> bool:
    """And what was typed before the agent's change is kept."""
    text = place.read_text()
    return "def welcome" in text and text.endswith(f"{TYPED}\n")
