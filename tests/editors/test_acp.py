"""`brain acp`, driven by an editor that validates every message."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from tests.e2e.support import RunningSidecar
from tests.editors.editor import Json, editor, normalized
from tests.waiting import wait_until

SLOW = "run `sleep 600`"


async def test_a_prompt_becomes_a_task_with_its_calls_and_diffs(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        assert await zed.prompt(session, "rename greet to welcome") == "end_turn"
        assert "welcome" in (workspace / "greeting.py").read_text()
        calls = [each for each in zed.updates if each["sessionUpdate"] == "tool_call"]
        assert "rename_symbol" in [call["name"] for call in calls]
        diffs = [block for each in zed.updates for block in each.get("content") or () if block in _diffs(each)]
        assert diffs[0]["path"] == str(workspace / "greeting.py")
        assert "def greet" in diffs[0]["oldText"] and "def welcome" in diffs[0]["newText"]
        assert "Renamed" in zed.text()


async def test_loading_a_session_shows_what_was_streamed(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        await zed.prompt(session, "rename greet to welcome")
        await zed.prompt(session, "list the files")
        streamed = zed.updates
    async with editor(environ) as zed:
        await zed.request("initialize", protocolVersion=1)
        listed = await zed.request("session/list", cwd=str(workspace))
        assert [each["title"] for each in listed["sessions"]] == ["rename greet to welcome"]
        await zed.request("session/load", sessionId=session, cwd=str(workspace), mcpServers=[])
        shown = [each for each in normalized(zed.updates) if each.get("kind") != "user_message_chunk"]
        assert shown == normalized(streamed)
        assert zed.text("user_message_chunk") == "rename greet to welcomelist the files"


async def test_a_prompt_right_after_the_last_answer_is_a_task_of_its_own(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        for _ in range(12):
            assert await zed.prompt(session, "list the files") == "end_turn"
        assert len(sidecar.get("/api/brain/tasks").json["tasks"]) == 12


async def test_a_denied_permission_stops_the_command(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        await zed.prompt(session, "run the command touch made.txt")
        asked = [each["params"] for each in zed.asked if each["method"] == "session/request_permission"]
        shown = str(asked[0]["toolCall"]["content"])
        assert "touch made.txt" in shown and str(workspace) in shown
        assert [option["kind"] for option in asked[0]["options"]] == [
            "allow_once",
            "allow_always",
            "allow_always",
            "reject_once",
        ]
        assert not (workspace / "made.txt").exists()


async def test_an_allowed_command_runs(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        zed.decide = _allow
        assert await zed.prompt(session, "run the command touch made.txt") == "end_turn"
        assert (workspace / "made.txt").exists()


async def test_an_approval_that_is_answered_elsewhere_closes_the_dialog(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        zed.decide = lambda _: None
        prompt = zed.start("session/prompt", sessionId=session, prompt=[_text("run the command touch made.txt")])
        await zed.until(lambda: zed.asked)
        task = sidecar.get("/api/brain/tasks").json["tasks"][0]["id"]
        approval = sidecar.wait_for_event(task, lambda event: event["type"] == "approval")["approvalId"]
        sidecar.post(f"/api/brain/tasks/{task}/approvals/{approval}", {"decision": "allow"})
        assert (await prompt)["result"] == {"stopReason": "end_turn"}
        assert zed.withdrawn == [zed.asked[0]["id"]]


async def test_a_cancel_is_answered_within_a_second_and_nothing_follows(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        zed.decide = _allow
        prompt = zed.start("session/prompt", sessionId=session, prompt=[_text(SLOW)])
        await zed.until(lambda: any(each.get("status") == "in_progress" for each in zed.updates))
        zed.notify("session/cancel", sessionId=session)
        assert (await prompt)["result"] == {"stopReason": "cancelled"}
        seen = len(zed.updates)
        task = sidecar.get("/api/brain/tasks").json["tasks"][0]["id"]
        assert (await asyncio.to_thread(sidecar.wait_for_status, task, "cancelled"))["status"] == "cancelled"
        await zed.request("session/list")  # a round trip: what was sent before it has arrived
        assert len(zed.updates) == seen


async def test_a_killed_agent_loses_nothing_and_load_goes_on_watching(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        zed.decide = lambda _: None
        zed.start("session/prompt", sessionId=session, prompt=[_text("run the command touch made.txt")])
        await zed.until(lambda: zed.asked)
        zed.process.kill()
        await zed.process.wait()
    async with editor(environ) as zed:
        await zed.request("initialize", protocolVersion=1)
        zed.decide = _allow
        await zed.request("session/load", sessionId=session, cwd=str(workspace), mcpServers=[])
        await zed.until(lambda: any(each.get("status") == "completed" for each in zed.updates))
        await asyncio.to_thread(wait_until, (workspace / "made.txt").exists)
        calls = [each for each in zed.updates if each["sessionUpdate"] == "tool_call"]
        assert len(calls) == len({call["toolCallId"] for call in calls})


async def test_modes_and_models_apply_to_the_next_prompt(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        await zed.request("session/set_mode", sessionId=session, modeId="ask")
        await zed.prompt(session, "rename greet to welcome")
        assert "def greet" in (workspace / "greeting.py").read_text()
        changed = await zed.request(
            "session/set_config_option", sessionId=session, configId="model", value="offline/basic"
        )
        assert [option["currentValue"] for option in changed["configOptions"]] == ["ask", "offline/basic", "auto"]
        wrong = await zed.answer("session/set_config_option", sessionId=session, configId="model", value="no/model")
        assert wrong["error"]["code"] == -32602


async def test_a_forked_session_leaves_the_first_alone(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ) as zed:
        first = await zed.session(workspace)
        await zed.prompt(first, "list the files")
        forked = await zed.request("session/fork", sessionId=first, cwd=str(workspace), mcpServers=[])
        assert await zed.prompt(forked["sessionId"], "count the lines of greeting.py") == "end_turn"
        listed = await zed.request("session/list", cwd=str(workspace))
        assert {each["sessionId"] for each in listed["sessions"]} == {first, forked["sessionId"]}


async def test_bad_input_gets_an_error_and_the_agent_goes_on(environ: Mapping[str, str], workspace: Path) -> None:
    async with editor(environ) as zed:
        session = await zed.session(workspace)
        assert zed.process.stdin is not None
        zed.process.stdin.write(b"not json\n[]\n")
        codes = {
            "session/unknown": -32601,
            "session/prompt": -32602,
            "session/load": -32002,
        }
        for method, code in codes.items():
            known = {"sessionId": "c_missing" if method == "session/load" else session}
            answer = await zed.answer(method, **known, cwd=str(workspace), mcpServers=[], prompt=[])
            assert answer["error"]["code"] == code, method
        relative = await zed.answer("session/new", cwd="relative", mcpServers=[])
        assert relative["error"]["code"] == -32602
        assert await zed.prompt(session, "list the files") == "end_turn"


def _allow(_: Json) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": "allow"}}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _diffs(update: Json) -> list[Json]:
    return [block for block in update.get("content") or () if isinstance(block, dict) and block.get("type") == "diff"]
