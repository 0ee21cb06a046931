"""The draft of ACP version 2: the stories of version 1 again, with every message checked against its schema."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.support import RunningSidecar
from tests.editors.editor import Editor, Json, editor

INFO = {"name": "strict", "version": "1"}


async def start(zed: Editor, workspace: Path, **capabilities: Any) -> str:
    answer = await zed.request("initialize", protocolVersion=2, info=INFO, capabilities=capabilities)
    assert answer["protocolVersion"] == 2
    new = await zed.request("session/new", cwd=str(workspace), mcpServers=[])
    assert {option["configId"] for option in new["configOptions"]} == {"mode", "model", "effort"}
    return str(new["sessionId"])


async def prompt(zed: Editor, session: str, text: str) -> tuple[str, str]:
    """The message's id, and the stop reason."""
    idle = len(states(zed, "idle"))
    content = [{"type": "text", "text": text}]
    inserted = await zed.request("session/prompt", sessionId=session, prompt=content)
    await zed.until(lambda: len(states(zed, "idle")) > idle)
    return inserted["messageId"], states(zed, "idle")[-1]["stopReason"]


def states(zed: Editor, state: str) -> list[Json]:
    return [each for each in zed.updates if each["sessionUpdate"] == "state_update" and each["state"] == state]


def allow(_: Json) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": "allow"}}


async def test_a_prompt_is_inserted_echoed_and_ends_idle(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ, 2) as zed:
        session = await start(zed, workspace)
        message, reason = await prompt(zed, session, "rename greet to welcome")
        assert reason == "end_turn"
        (echo,) = [each for each in zed.updates if each["sessionUpdate"] == "user_message"]
        assert (echo["messageId"], echo["content"][0]["text"]) == (message, "rename greet to welcome")
        diffs = [block for each in zed.updates for block in each.get("content") or () if _is_diff(block)]
        path = str(workspace / "greeting.py")
        assert diffs[0]["changes"] == [{"operation": "modify", "path": path}]
        assert f"--- {path}" in diffs[0]["patch"]["text"]
        assert "+def welcome" in diffs[0]["patch"]["text"]


async def test_a_permission_needs_action_until_it_is_given(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ, 2) as zed:
        session = await start(zed, workspace)
        zed.decide = allow
        assert (await prompt(zed, session, "run the command touch made.txt"))[1] == "end_turn"
        assert (workspace / "made.txt").exists()
        (asked,) = [each["params"] for each in zed.asked if each["method"] == "session/request_permission"]
        assert "touch made.txt" in str(asked["subject"])
        order = [each["state"] for each in zed.updates if each["sessionUpdate"] == "state_update"]
        assert order[-3:] == ["requires_action", "running", "idle"]


async def test_a_cancel_ends_idle_as_cancelled(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ, 2) as zed:
        session = await start(zed, workspace)
        zed.decide = allow
        content = [{"type": "text", "text": "run `sleep 600`"}]
        await zed.request("session/prompt", sessionId=session, prompt=content)
        await zed.until(lambda: any(each.get("status") == "in_progress" for each in zed.updates))
        zed.notify("session/cancel", sessionId=session)
        await zed.until(lambda: states(zed, "idle"))
        assert states(zed, "idle")[-1]["stopReason"] == "cancelled"


async def test_a_resumed_session_replays_with_the_same_ids_and_says_its_state(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    async with editor(environ, 2) as zed:
        session = await start(zed, workspace)
        message, _ = await prompt(zed, session, "list the files")
    async with editor(environ, 2) as zed:
        await zed.request("initialize", protocolVersion=2, info=INFO)
        where = {"sessionId": session, "cwd": str(workspace)}
        await zed.request("session/resume", **where, replayFrom={"type": "start"})
        echoed = [each["messageId"] for each in zed.updates if each["sessionUpdate"] == "user_message"]
        assert echoed == [message]
        assert len(states(zed, "idle")) == 1
        wrong = await zed.answer("session/resume", **where, replayFrom={"type": "yesterday"})
        assert wrong["error"]["code"] == -32602


async def test_what_version_1_only_has_is_refused(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ, 2) as zed:
        session = await start(zed, workspace)
        for method in ("session/load", "session/set_mode"):
            answer = await zed.answer(method, sessionId=session, cwd=str(workspace), modeId="ask")
            assert answer["error"]["code"] == -32601
        option = {"sessionId": session, "configId": "effort"}
        changed = await zed.request("session/set_config_option", **option, type="id", value="high")
        assert changed["configOptions"][-1]["currentValue"] == "high"
        wrong = await zed.answer("session/set_config_option", **option, type="boolean", value=True)
        assert wrong["error"]["code"] == -32602


def _is_diff(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == "diff"
