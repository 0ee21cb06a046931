"""Whatever the tools did to files, a rewind to the beginning gives back the very same bytes."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidecar.wire.tasks import Status
from tests.faults.scale import scaled
from tests.support.engine import engine_harness

NAMES = ("a.txt", "b.py", "sub/c.md", "new.txt", "sub/deep/d.txt")
CONTENT = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [b"", b"one\ntwo\n", b"one\r\ntwo\r\n", b"\xef\xbb\xbfone\n", b"no end", "ümlaut\n".encode("latin-1")]
    ),
)
START = st.dictionaries(st.sampled_from(NAMES), CONTENT, max_size=4)
CALL = st.one_of(
    st.builds(
        lambda path, text: _call("write_file", path=path, content=text), st.sampled_from(NAMES), st.text(max_size=30)
    ),
    st.builds(
        lambda path, text: _call("create_file", path=path, content=text), st.sampled_from(NAMES), st.text(max_size=30)
    ),
    st.builds(
        lambda path, new: _call("edit_file", path=path, oldText="one", newText=new, replaceAll=True),
        st.sampled_from(NAMES),
        st.text(max_size=10),
    ),
    st.builds(lambda path: _call("delete_file", path=path), st.sampled_from(NAMES)),
    st.builds(lambda source, to: _call("move_file", **{"from": source, "to": to}), *[st.sampled_from(NAMES)] * 2),
)


def _call(tool: str, **args: object) -> dict[str, Any]:
    return {"tool": tool, "args": args}


def _files(workspace: Path) -> dict[str, bytes]:
    return {str(path.relative_to(workspace)): path.read_bytes() for path in workspace.rglob("*") if path.is_file()}


async def _edit_and_rewind(start: dict[str, bytes], calls: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        async with engine_harness(Path(directory)) as harness:
            for name, data in start.items():
                path = harness.workspace / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            before = _files(harness.workspace)
            replies = [{"calls": [call]} for call in calls]
            models = harness.script("edit", [*replies, {"text": "done"}])
            task_id = await harness.execute(
                "x",
                models=models,
                intent="edit_code",
                agentType="coder",
                approvals="auto",
                maxIterations=50,
                verify="off",
            )
            assert (await harness.ended(task_id)).status in (Status.COMPLETED, Status.FAILED)
            answer = await harness.engine.review.rewind(task_id, 0)
            assert [file for file in answer.files if file.change == "conflict"] == []
            assert _files(harness.workspace) == before
        await harness.journal.close()


@settings(max_examples=scaled(25, 1_000), deadline=None, suppress_health_check=list(HealthCheck))
@given(START, st.lists(CALL, max_size=8))
def test_edit_then_undo_gives_the_same_bytes(start: dict[str, bytes], calls: list[dict[str, Any]]) -> None:
    asyncio.run(_edit_and_rewind(start, calls))


async def test_a_deleted_and_a_moved_file_come_back_with_their_mode(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        for name in ("a.txt", "b.py"):
            (harness.workspace / name).write_text("x\n")
            (harness.workspace / name).chmod(0o755)
        gone = {"calls": [_call("delete_file", path="a.txt"), _call("move_file", **{"from": "b.py", "to": "c.py"})]}
        models = harness.script("edit", [gone, {"text": "done"}])
        task_id = await harness.execute("x", models=models, intent="edit_code", agentType="coder", approvals="auto")
        await harness.ended(task_id)
        assert not (harness.workspace / "a.txt").exists()
        await harness.engine.review.rewind(task_id, 0)
        assert [(harness.workspace / name).stat().st_mode & 0o777 for name in ("a.txt", "b.py")] == [0o755, 0o755]
