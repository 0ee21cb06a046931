"""Unsaved text in an editor that speaks ACP: tools read it, and an agent's change goes on top of it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.support import RunningSidecar
from tests.editors.editor import Editor, Json, editor

SAVED = 'def greet(name):\n    return f"hi {name}"\n'
TYPED = f"{SAVED}# typed, not saved\n"
FILES = {"readTextFile": True, "writeTextFile": True}


class OpenBuffers:
    """The part of an editor that answers for its files."""

    def __init__(self, zed: Editor) -> None:
        self.texts: dict[str, str] = {}
        self.calls: list[str] = []
        zed.decide = self._answer

    def _answer(self, message: Json) -> Json | None:
        params = message["params"]
        match message["method"]:
            case "fs/read_text_file":
                self.calls.append("read")
                return {"content": self.texts.get(params["path"]) or Path(params["path"]).read_text()}
            case "fs/write_text_file":
                self.calls.append("write")
                Path(params["path"]).write_text(params["content"])
                self.texts.pop(params["path"], None)
                return {}
        return {"outcome": {"outcome": "selected", "optionId": "allow"}}


def call(sidecar: RunningSidecar, tool: str, **args: Any) -> Json:
    body = {"workspace": str(sidecar.workspace), "approvals": "auto", "calls": [{"tool": tool, "args": args}]}
    found: Json = sidecar.post("/api/brain/tools/batch", body).json["results"][0]
    return found


async def test_tools_read_what_is_typed_and_edits_go_on_top_of_it(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    place = workspace / "greeting.py"
    async with editor(environ) as zed:
        session = await zed.session(workspace, fs=FILES)
        buffers = OpenBuffers(zed)
        saved = await calling(sidecar, "read_file", path="greeting.py")
        assert saved["executor"] == "local" and "typed" not in saved["content"]
        buffers.texts[str(place)] = TYPED
        read = await calling(sidecar, "read_file", path="greeting.py")
        assert read["executor"] == "shell"
        assert "3 # typed, not saved" in read["content"] and "not saved yet" in read["content"]
        both = await calling(sidecar, "read_files", paths=["greeting.py", "missing.py"])
        assert "3 # typed, not saved" in both["content"] and "missing.py" in both["content"]
        # The rename finds the file by itself; only then the editor is asked to save it.
        assert await zed.prompt(session, "rename greet to welcome") == "end_turn"
        assert place.read_text() == TYPED.replace("greet(", "welcome(")
        assert buffers.calls.count("write") == 1 and buffers.texts == {}
        task = sidecar.get("/api/brain/tasks").json["tasks"][0]["id"]
        undone = sidecar.post(f"/api/brain/tasks/{task}/rewind", {"seq": 0}).json
        assert [each["path"] for each in undone["files"]] == ["greeting.py"]
        assert place.read_text() == TYPED  # what you typed is yours


async def test_an_editor_that_can_not_save_keeps_its_text_and_the_edit_is_refused(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    async with editor(environ) as zed:
        await zed.session(workspace, fs={"readTextFile": True})
        buffers = OpenBuffers(zed)
        buffers.texts[str(workspace / "greeting.py")] = TYPED
        refused = await calling(sidecar, "edit_file", path="greeting.py", oldText="hi", newText="hello")
        assert refused["error"]["code"] == "unsaved_changes"
        assert "it doesn't let agents save files" in refused["error"]["message"]
        assert (workspace / "greeting.py").read_text() == SAVED


async def test_an_editor_without_files_or_with_a_closed_session_is_not_asked(
    environ: Mapping[str, str], workspace: Path, sidecar: RunningSidecar
) -> None:
    async with editor(environ) as zed:
        await zed.session(workspace)
        buffers = OpenBuffers(zed)
        assert "hi" in (await calling(sidecar, "read_file", path="greeting.py"))["content"]
        assert sidecar.get("/api/brain/status").json["shells"] == []
    async with editor(environ) as zed:
        session = await zed.session(workspace, fs=FILES)
        buffers = OpenBuffers(zed)
        await zed.request("session/close", sessionId=session)
        buffers.texts[str(workspace / "greeting.py")] = TYPED
        assert "typed" not in (await calling(sidecar, "read_file", path="greeting.py"))["content"]
        assert buffers.calls == []


async def calling(sidecar: RunningSidecar, tool: str, **args: Any) -> Json:
    """In a thread, while the editor answers here."""
    return await asyncio.to_thread(lambda: call(sidecar, tool, **args))
