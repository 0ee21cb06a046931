"""An answer from half an index says so, even if the index becomes whole while it is given."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from sidecar.memory import answers, tools
from sidecar.memory.builder import refresh
from sidecar.memory.local import LocalMemory, WorkspaceIndex
from sidecar.memory.port import Hit, SearchRequest
from sidecar.memory.store import open_store, set_meta
from tests.waiting import SECONDS
from tools.local.backend import LocalBackend
from tools.spec import Call


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "price.py").write_text("def price():\n    return 1\n")
    return root


async def test_a_build_that_ends_during_an_answer_did_not_give_it(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = WorkspaceIndex(str(workspace), tmp_path, "off").path
    builder = open_store(path)
    refresh(builder, str(workspace), ["price.py"])
    answer = answers.answer_search

    def end_build_meanwhile(
        store: sqlite3.Connection, workspace: str, search: SearchRequest, *, vectors: bool = False
    ) -> tuple[list[Hit], list[str]]:
        found = answer(store, workspace, search, vectors=vectors)
        set_meta(builder, "state", "ready")
        return found

    monkeypatch.setattr(answers, "answer_search", end_build_meanwhile)
    monkeypatch.setattr(WorkspaceIndex, "build", lambda index, *, urgent: None)  # the builder above is at work
    memory = LocalMemory(tmp_path, "off")
    try:
        found = await memory.search(str(workspace), SearchRequest("price"))
        assert [hit.path for hit in found.hits] == ["price.py"]
        assert found.state != "ready"
        assert (await memory.state(str(workspace))).state == "ready"
    finally:
        await memory.close()
        builder.close()


async def test_a_map_is_drawn_while_a_built_index_takes_in_changes(workspace: Path, tmp_path: Path) -> None:
    builder = open_store(WorkspaceIndex(str(workspace), tmp_path, "off").path)
    refresh(builder, str(workspace), ["price.py"])
    memory = LocalMemory(tmp_path, "off")
    try:
        assert await memory.repository_map(str(workspace), 1_000) == "", "the first build hasn't ended"
        set_meta(builder, "built", 1)
        (workspace / "price.py").write_text("def price():\n    return 22\n")
        refresh(builder, str(workspace), ["price.py"])
        assert (await memory.state(str(workspace))).state != "ready"
        assert "price" in await memory.repository_map(str(workspace), 1_000)
    finally:
        await memory.close()
        builder.close()


async def test_a_call_that_waits_for_the_index_reports_how_far_it_is(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = WorkspaceIndex(str(workspace), tmp_path, "off").path
    store = open_store(path)
    set_meta(store, "done", 1_200)
    set_meta(store, "total", 50_000)
    reported = asyncio.Event()

    def build_until_reported(index: WorkspaceIndex, *, urgent: bool) -> None:
        index._building = asyncio.create_task(reported.wait())  # type: ignore[arg-type]

    said: list[tuple[str, str]] = []

    def hear(stream: str, text: str) -> None:
        said.append((stream, text))
        reported.set()

    monkeypatch.setattr(WorkspaceIndex, "build", build_until_reported)
    monkeypatch.setattr(tools, "_REPORT_SECONDS", 0.01)
    memory, backend = LocalMemory(tmp_path, "off"), LocalBackend((), tmp_path)
    try:
        async with asyncio.timeout(SECONDS):
            call, host = Call("c_1", str(workspace), 4 * SECONDS), backend.host(str(workspace))
            await tools.ImpactTool(memory).run(tools.ImpactArguments(symbol="price"), host, call, hear)
        assert said[0] == ("progress", "Indexing: 1,200 of 50,000 files\n")
    finally:
        await memory.close()
        await backend.close()
        store.close()
