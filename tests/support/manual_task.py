"""A task whose calls a test makes itself, one by one, with the user's own edits in between. Everything is real."""

import itertools
import os
import subprocess
from pathlib import Path

from sidecar.engine.approvals import Slots
from sidecar.engine.engine import Engine
from sidecar.engine.run import TaskRun
from sidecar.journal.port import Journal, NewTask
from sidecar.wire.base import JsonObject
from sidecar.wire.events import StatusEvent
from sidecar.wire.tasks import Context, Options, Status, StoredRequest
from tests.support.engine import EngineHarness
from tests.support.scratch_journal import ScratchJournal
from tools.executor.context import BatchContext, ToolCall
from tools.ledger import Outcome


class ManualTask:
    def __init__(self, root: Path, journal: Journal | None = None, node: str | None = None) -> None:
        self._own = ScratchJournal() if journal is None else None
        self.journal: Journal = self._own or journal
        self.harness = EngineHarness(root, self.journal, node=node)
        self.workspace = self.harness.workspace
        self._numbers = itertools.count(1)

    @property
    def engine(self) -> Engine:
        return self.harness.engine

    async def open(self, task_id: str = "t_1") -> None:
        request = StoredRequest(
            task="x", workspace=str(self.workspace), conversation_id="c", context=Context(), options=Options()
        )
        await self.journal.create(NewTask(task_id, request, [StatusEvent(status=Status.QUEUED)]))
        await self.journal.append(task_id, [StatusEvent(status=Status.CANCELLED)])

    async def close(self) -> None:
        await self.harness.executor.close()
        if self._own is not None:
            await self._own.close()

    async def call(self, tool: str, args: JsonObject, task_id: str = "t_1") -> Outcome:
        """As an agent at work would make it; afterwards the task is still again."""
        await self.journal.append(task_id, [StatusEvent(status=Status.QUEUED)])
        claim = await self.journal.claim("test", 0.0, 60.0)
        assert claim is not None and claim.task_id == task_id
        run = TaskRun(claim, self.journal, Slots(1, lambda: None))
        context = BatchContext(str(self.workspace), "auto", run.ledger)
        (outcome,) = await self.harness.executor.batch([ToolCall(f"c{next(self._numbers)}", tool, args)], context)
        await self.journal.append(task_id, [StatusEvent(status=Status.CANCELLED)])
        return outcome

    async def command(self, text: str, task_id: str = "t_1") -> Outcome:
        return await self.call("run_command", {"command": text}, task_id)

    async def seq(self, task_id: str = "t_1") -> int:
        return (await self.journal.task(task_id)).last_seq

    async def rewind(self, seq: int, *, conversation: bool = True, task_id: str = "t_1") -> list[str]:
        """The files that were left alone."""
        answer = await self.engine.review.rewind(task_id, seq, conversation=conversation)
        return [file.path for file in (*answer.conflicts, *answer.not_restored)]

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Everything in the workspace: of links where they lead, and no mode."""
        found: dict[str, tuple[bytes, int]] = {}
        for folder, folders, names in os.walk(self.workspace):
            if "/.git" in folder:
                continue
            for name in (*folders, *names):
                path = Path(folder, name)
                place = str(path.relative_to(self.workspace))
                if path.is_symlink():
                    found[place] = (os.fsencode(path.readlink()), 0)
                elif path.is_file():
                    found[place] = (path.read_bytes(), path.stat().st_mode & 0o777)
        return found

    def git(self, *words: str) -> bytes:
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", *words]
        return subprocess.run(command, cwd=self.workspace, check=True, capture_output=True).stdout

    def commit_all(self) -> None:
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "as it was", "--allow-empty")
