"""Codegen's agent runs behind the port of sandboxes, against a server that follows its published API."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.codegen_server import KEY, CodegenServer
from tests.waiting import SECONDS
from tools.sandboxes.codegen import CodegenRun, CodegenRuns
from tools.sandboxes.port import SandboxError, SandboxSpec


@pytest.fixture
async def server() -> AsyncIterator[CodegenServer]:
    server = CodegenServer()
    runner = await server.start()
    yield server
    await runner.cleanup()


async def opened(server: CodegenServer, key: str = KEY) -> CodegenRun:
    table = {"organization": 7, "repository": 3, "url": server.url}
    return await CodegenRuns({"CODEGEN_API_KEY": key}.get, pause=0.001).open(
        SandboxSpec.model_validate({"codegen": table})
    )


async def run(session: CodegenRun) -> tuple[int, str, str]:
    said = {1: bytearray(), 2: bytearray()}
    try:
        code = await session.run(
            ["sort the users"], environment={"callId": "c1"}, output=lambda n, data: said[n].extend(data)
        )
    finally:
        await session.close()
    return code, said[1].decode(), said[2].decode()


async def test_a_run_is_asked_for_once_followed_and_reported(server: CodegenServer) -> None:
    server.refusals = []
    code, result, log = await run(await opened(server))
    assert server.asked == [{"prompt": "sort the users", "repo_id": 3, "metadata": {"callId": "c1"}}]
    assert code == 0
    assert "It sorts now." in result and "Pull request: https://x/pull/9" in result
    assert log.count("look 1") == log.count("look 2") == 1
    assert KEY not in result + log


async def test_a_busy_server_is_asked_again_but_never_to_start_again(server: CodegenServer) -> None:
    session = await opened(server)
    server.refusals = [503]
    with pytest.raises(SandboxError, match="503"):
        await run(session)
    assert server.asked == []
    working = asyncio.ensure_future(run(await opened(server)))
    server.looked.clear()
    await asyncio.wait_for(server.looked.wait(), SECONDS)
    server.refusals = [429, 500]
    assert (await working)[0] == 0
    assert len(server.asked) == 1


async def test_a_failed_run_is_a_failure(server: CodegenServer) -> None:
    server.statuses = ["ACTIVE", "ERROR"]
    code, result, _ = await run(await opened(server))
    assert (code, result) == (1, "Status: error\n")


async def test_a_wrong_key_and_a_missing_one_are_named(server: CodegenServer) -> None:
    with pytest.raises(SandboxError, match="403"):
        await run(await opened(server, "wrong"))
    with pytest.raises(SandboxError, match="brain keys set codegen"):
        await opened(server, "")


async def test_a_cancel_says_that_the_run_goes_on(server: CodegenServer) -> None:
    server.statuses = ["ACTIVE"]
    session, said = await opened(server), bytearray()
    work = asyncio.ensure_future(session.run(["x"], environment={}, output=lambda n, data: said.extend(data)))
    await asyncio.wait_for(server.looked.wait(), SECONDS)
    work.cancel()
    await asyncio.wait([work])
    await session.close()
    assert work.cancelled()
    assert b"it goes on: https://codegen.test/41" in said


async def test_files_are_not_exchanged(server: CodegenServer) -> None:
    session = await opened(server)
    with pytest.raises(SandboxError, match="its own clone"):
        await session.write("x", b"")
    with pytest.raises(SandboxError, match="its own clone"):
        await session.read("x", 1)
    await session.close()
