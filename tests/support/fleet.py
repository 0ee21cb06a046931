"""A fleet of real processes on one database: API nodes that only serve, and workers."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.e2e.support import RunningSidecar, clean_environ


class RunningWorker(RunningSidecar):
    command = ("worker",)

    @property
    def id(self) -> str:
        name: str = self.ready["worker"]
        return name

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)


class RunningFleet:
    """All workers share the data directory of the first node."""

    def __init__(self, tmp_path: Path, database: str, **env: str) -> None:
        self._stack = ExitStack()
        self._tmp_path = tmp_path
        self._environ = clean_environ(tmp_path, BRAIN_DATABASE_URL=database, **env)
        self.workspace = tmp_path / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.nodes: list[RunningSidecar] = []
        self.workers: list[RunningWorker] = []

    def node(self, *arguments: str) -> RunningSidecar:
        name = f"data{len(self.nodes) or ''}"
        node = RunningSidecar(self._tmp_path / name, self.workspace, ("--no-work", *arguments), self._environ)
        self._stack.callback(node.close)
        self.nodes.append(node)
        return node.start()

    def worker(self, *arguments: str, data: str = "data", launcher: Sequence[str] = ()) -> RunningWorker:
        """One with another `data` directory knows nothing but the database, as on another machine."""
        environ = {**self._environ, "BRAIN_SCRIPTS": str(self._tmp_path / "data/scripts")}
        worker = RunningWorker(self._tmp_path / data, self.workspace, arguments, environ)
        worker.launcher = launcher or worker.launcher
        worker.log_file = self._tmp_path / f"worker{len(self.workers)}.log"
        self._stack.callback(worker.close)
        self.workers.append(worker)
        worker.start()
        return worker

    def close(self) -> None:
        for worker in self.workers:
            if worker.process is not None and worker.process.poll() is None:
                worker.go_on()
        self._stack.close()


@contextmanager
def running_fleet(tmp_path: Path, database: str, **env: str) -> Iterator[RunningFleet]:
    fleet = RunningFleet(tmp_path, database, **env)
    try:
        yield fleet
    finally:
        fleet.close()
