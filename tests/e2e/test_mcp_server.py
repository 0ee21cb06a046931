"""The sidecar as an MCP server, driven by the official Python client: both eras, both transports."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.e2e.support import PROJECT, RunningSidecar
from tests.support.mcp import packages
from tests.waiting import wait_until

mcp = pytest.importorskip("mcp", reason="the package mcp is not installed")
httpx2 = pytest.importorskip("httpx2", reason="the package httpx2 is not installed")

TOOLS = {
    "run_task",
    "task_status",
    "wait_for_task",
    "cancel_task",
    "message_task",
    "approve",
    "find_code",
    "impact",
    "review_changes",
    "undo",
}


@asynccontextmanager
async def connected(sidecar: RunningSidecar, how: str) -> AsyncIterator[Any]:
    if how.startswith("stdio"):
        arguments = ["-m", "sidecar", "mcp", "--data-dir", str(sidecar.data_dir), "--workspace", str(sidecar.workspace)]
        server: Any = mcp.StdioServerParameters(
            command=sys.executable, args=arguments, env=sidecar.environ, cwd=str(PROJECT)
        )
        async with mcp.Client(server, mode=how.partition(" ")[2]) as client:
            yield client
        return
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {sidecar.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        server = streamable_http_client(f"{sidecar.url}/mcp", http_client=http)
        async with mcp.Client(server, mode=how.partition(" ")[2]) as client:
            yield client


async def call(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = json.loads(result.content[0].text)
    return found


@pytest.mark.parametrize("how", ["http legacy", "http 2026-07-28", "stdio legacy", "stdio 2026-07-28"])
async def test_a_client_hands_over_a_task_watches_it_and_reads_its_story(sidecar: RunningSidecar, how: str) -> None:
    reported = asyncio.Event()

    async def report(done: float, total: float | None, message: str | None) -> None:
        if message:
            reported.set()

    (sidecar.workspace / "notes.py").write_text("def water_the_plants():\n    return True\n")
    async with connected(sidecar, how) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        # The library reports progress beside the result, and drops what it had no time for until then.
        for _ in range(10):
            asked = {"task": "list the files", "wait_seconds": 60}
            result = await client.call_tool("run_task", asked, progress_callback=report)
            task = json.loads(result.content[0].text)
            assert (task["status"], "notes.py" in task["summary"]) == ("completed", True)
            if reported.is_set():
                break
        assert reported.is_set()
        transcript = await client.read_resource(f"brain://tasks/{task['taskId']}/transcript")
        events = [json.loads(line) for line in transcript.contents[0].text.splitlines()]
        assert events[-1]["type"] in ("status", "complete")
        hits = (await call(client, "find_code", query="water the plants"))["hits"]
        assert hits[0]["path"] == "notes.py"
        assert "hits" in await call(client, "impact", path="notes.py")
    assert sidecar.task(task["taskId"])["status"] == "completed"


def script_a_file(sidecar: RunningSidecar) -> None:
    """Every task asks to make a file."""
    write = {"calls": [{"tool": "run_command", "args": {"command": "echo new > made.txt && true"}}]}
    sidecar.script("work", [write, {"text": "done"}])
    names = dict.fromkeys(("BRAIN_MODEL_FAST", "BRAIN_MODEL_SMART", "BRAIN_MODEL_INSTANT"), "scripted/work")
    sidecar.environ |= names
    sidecar.restart()


async def test_what_a_task_asks_is_shown_decided_and_undone(sidecar: RunningSidecar) -> None:
    script_a_file(sidecar)
    async with connected(sidecar, "http 2026-07-28") as client:
        asked = await call(client, "run_task", task="/run make the file", wait_seconds=60)
        assert asked["status"] == "waiting"
        [approval] = asked["approvals"]
        assert "echo new > made.txt" in " ".join(approval["argv"])
        refused = await client.call_tool("approve", {"task_id": asked["taskId"], "id": "no", "decision": "allow"})
        assert refused.is_error
        await call(client, "approve", task_id=asked["taskId"], id=approval["approvalId"], decision="allow")
        ended = await call(client, "wait_for_task", task_id=asked["taskId"], seconds=60)
        assert ended["status"] == "completed", ended
        diff = await client.read_resource(f"brain://tasks/{asked['taskId']}/diff")
        assert "+new" in diff.contents[0].text
        undone = await call(client, "undo", task_id=asked["taskId"])
        assert [file["path"] for file in undone["files"]] == ["made.txt"]
    assert not (sidecar.workspace / "made.txt").exists()


@pytest.mark.parametrize(("version", "how"), [(1, "http"), (2, "http"), (2, "stdio")])
def test_the_official_typescript_client_goes_through_the_whole_story(
    sidecar: RunningSidecar, version: int, how: str
) -> None:
    package = "@modelcontextprotocol/sdk@1.32.2" if version == 1 else "@modelcontextprotocol/client@2.4.0"
    script_a_file(sidecar)
    given: dict[str, Any] = {"modules": str(packages.npm(package)), "version": version}
    if how == "http":
        given |= {"url": f"{sidecar.url}/mcp", "token": sidecar.token}
    else:
        arguments = ["-m", "sidecar", "mcp", "--data-dir", str(sidecar.data_dir), "--workspace", str(sidecar.workspace)]
        given |= {"command": sys.executable, "args": arguments, "env": {**sidecar.environ, "PYTHONPATH": str(PROJECT)}}
    story = [packages.node("24"), str(PROJECT / "tests" / "support" / "mcp" / "story.mjs"), json.dumps(given)]
    ran = subprocess.run(story, capture_output=True, text=True, timeout=240, cwd=PROJECT)
    assert ran.returncode == 0, ran.stderr[-4_000:]
    told = json.loads(ran.stdout)
    assert set(told["tools"]) == TOOLS
    assert (told["asked"], told["ended"], told["cancelled"]) == ("waiting", "completed", "cancelled")
    assert "echo new > made.txt" in " ".join(told["argv"])
    assert "+new" in told["diff"]
    assert told["undone"] == ["made.txt"]
    assert any("run_command" in line for line in told["progress"])
    assert not (sidecar.workspace / "made.txt").exists()


def test_a_client_that_knows_mcp_tasks_gets_a_handle_answers_and_reads_the_result(sidecar: RunningSidecar) -> None:
    script_a_file(sidecar)
    knows = {"extensions": {"io.modelcontextprotocol/tasks": {}}}

    def ask(method: str, params: dict[str, Any], capabilities: Any = knows) -> dict[str, Any]:
        era = "2026-07-28"
        prefix = "io.modelcontextprotocol/"
        meta = {f"{prefix}protocolVersion": era, f"{prefix}clientCapabilities": capabilities}
        meta[f"{prefix}clientInfo"] = {"name": "story", "version": "1"}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": era, "Mcp-Method": method}
        headers["Mcp-Name"] = str(params.get("name") or params.get("taskId"))
        answered = sidecar.post("/mcp", body, headers=headers)
        text = answered.body.decode()
        text = text.partition("data: ")[2] if text.startswith(("event:", "data:", ":")) else text
        found: dict[str, Any] = json.loads(text)
        return found.get("result") or found["error"]

    call = {"name": "run_task", "arguments": {"task": "/run make the file"}}
    plain = ask("tools/call", call, {})
    assert plain["resultType"] == "complete"
    made = ask("tools/call", call)
    assert (made["resultType"], made["ttlMs"]) == ("task", None)
    task = {"taskId": made["taskId"]}
    wait_until(lambda: ask("tasks/get", task)["status"] == "input_required", what="the approval")
    [(asked, request)] = ask("tasks/get", task)["inputRequests"].items()
    assert "echo new > made.txt" in request["params"]["message"]
    assert request["params"]["requestedSchema"]["properties"]["decision"]["enum"] == ["allow", "deny"]
    answer = {"inputResponses": {asked: {"action": "accept", "content": {"decision": "allow"}}}}
    assert ask("tasks/update", {**task, **answer})["resultType"] == "complete"
    wait_until(lambda: ask("tasks/get", task)["status"] == "completed", what="the end")
    result = ask("tasks/get", task)["result"]
    assert not result["isError"]
    assert json.loads(result["content"][0]["text"])["filesModified"] == ["made.txt"]
    other = {"taskId": json.loads(plain["content"][0]["text"])["taskId"]}
    assert ask("tasks/cancel", other)["resultType"] == "complete"
    wait_until(lambda: ask("tasks/get", other)["status"] == "cancelled", what="the cancel")
    assert ask("tasks/get", {"taskId": "t_nobody"})["code"] == -32602
    assert ask("tasks/get", task, {})["code"] == -32021
    assert ask("tasks/list", {})["code"] == -32601


async def test_a_running_task_is_cancelled(sidecar: RunningSidecar) -> None:
    wait = {"calls": [{"tool": "run_command", "args": {"command": "sleep 600"}}]}
    models = sidecar.script("wait", [wait, {"text": "done"}])
    task = sidecar.execute("x", models=models, approvals="auto", agentType="terminal", intent="run_command")
    sidecar.wait_for_event(task, lambda event: event["type"] == "tool" and event["status"] == "running")
    async with connected(sidecar, "http legacy") as client:
        ended = await call(client, "cancel_task", task_id=task)
        assert ended["status"] in ("cancelling", "cancelled")
    assert sidecar.wait_for_end(task)["status"] == "cancelled"


def test_the_endpoint_takes_no_stranger(sidecar: RunningSidecar) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert sidecar.post("/mcp", body, authenticated=False).status == 401
    assert sidecar.get("/mcp", authenticated=False).status == 401
    assert sidecar.request("DELETE", "/mcp", authenticated=False).status == 401
    evil = {"Origin": "https://evil.example"}
    assert sidecar.post("/mcp", body, headers=evil).status == 403
    assert sidecar.post("/mcp", body, headers={"Host": "evil.example"}).status == 400
    assert sidecar.request("POST", "/mcp", b"{}", {"Content-Type": "text/plain"}).status == 415
    assert sidecar.request("POST", "/mcp", b"{", {"Content-Type": "application/json"}).status in (400, 406)


async def test_a_path_in_the_place_of_a_task_leads_nowhere(sidecar: RunningSidecar) -> None:
    async with connected(sidecar, "http 2026-07-28") as client:
        for name in ("../../api/brain/keys", "..%2f..%2fstatus", "t_1/../../status?x=", "t\n1"):
            result = await client.call_tool("task_status", {"task_id": name})
            assert result.is_error
            assert "providers" not in result.content[0].text
        with pytest.raises(mcp.MCPError):
            await client.read_resource("brain://tasks/..%2f..%2f..%2fetc%2fpasswd/diff")


def test_a_sidecar_that_no_one_asks_does_not_load_the_sdk(sidecar: RunningSidecar) -> None:
    sidecar.get("/api/brain/mcp")
    sidecar.get("/api/brain/status")
    maps = f"/proc/{sidecar.pid}/maps"
    try:
        with open(maps) as file:  # noqa: PTH123
            loaded = file.read()
    except OSError:
        pytest.skip("no /proc here")
    assert "cryptography/hazmat" not in loaded
