"""The start: a sidecar is ready before what carries out tasks is loaded, and early requests don't notice."""

import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import TimeoutExpired, run

import pytest

from sidecar.app.sidecar import IDLE_GRACE_SECONDS
from tests.e2e.bridge import raw_shell
from tests.e2e.support import PROJECT, RunningSidecar, clean_environ
from tests.waiting import SECONDS, wait_until

#: Loads `sidecar.app.parts` once the file `go` is there, and notes in `asked` that it was to be loaded.
_SLOWLY = """
import sys, threading
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
class Slowly(SourceFileLoader):
    def exec_module(self, module):
        assert threading.current_thread() is not threading.main_thread(), "the loop must not wait for an import"
        Path({place!r}, "asked").touch()
        while not Path({place!r}, "go").exists():
            threading.Event().wait(0.01)
        if Path({place!r}, "break").exists():
            raise ImportError("a file of the installation is missing")
        super().exec_module(module)
class Finder(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "sidecar.app.parts":
            spec = PathFinder.find_spec(name, path)
            spec.loader = Slowly(spec.loader.name, spec.loader.path)
            return spec
sys.meta_path.insert(0, Finder())
from sidecar.cli import main
sys.exit(main())
"""


@contextmanager
def loading(tmp_path: Path, *arguments: str) -> Iterator[RunningSidecar]:
    """A sidecar that said it is ready, and whose parts are not loaded before `go` is there."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    sidecar = RunningSidecar(tmp_path / "data", workspace, arguments, clean_environ(tmp_path))
    sidecar.launcher = (sys.executable, "-c", _SLOWLY.format(place=str(tmp_path)))
    try:
        sidecar.start()
        wait_until((tmp_path / "asked").exists, what="the loading to begin")
        yield sidecar
    finally:
        sidecar.close()


@contextmanager
def asking() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def _still_waits(answer: "Future[object]") -> bool:
    with pytest.raises(TimeoutError):
        answer.result(0.05)
    return not answer.done()


def test_tasks_are_taken_and_read_before_the_rest_is_loaded(tmp_path: Path) -> None:
    with loading(tmp_path) as sidecar:
        (sidecar.workspace / "notes.txt").write_text("a needle\n")
        assert sidecar.get("/health").status == 200
        assert sidecar.get("/ready").status == 200
        task_id = sidecar.execute("search for needle")
        assert sidecar.task(task_id)["status"] in ("queued", "running")
        assert [each["id"] for each in sidecar.get("/api/brain/tasks").json["tasks"]] == [task_id]
        (tmp_path / "go").touch()
        assert "notes.txt" in sidecar.wait_for_end(task_id)["result"]["summary"]


def test_every_other_request_waits_for_its_route(tmp_path: Path) -> None:
    with loading(tmp_path) as sidecar, asking() as pool:
        early = {
            path: pool.submit(sidecar.get, path)
            for path in ("/api/brain/models", "/api/brain/doctor", "/api/brain/no-such-thing", "/openapi.json")
        }
        wrong = pool.submit(sidecar.get, "/api/brain/execute")
        assert all(_still_waits(answer) for answer in (*early.values(), wrong))
        (tmp_path / "go").touch()
        statuses = {path: answer.result(SECONDS).status for path, answer in early.items()}
        assert statuses == {
            "/api/brain/models": 200,
            "/api/brain/doctor": 200,
            "/api/brain/no-such-thing": 404,
            "/openapi.json": 200,
        }
        assert wrong.result(SECONDS).status == 405


def test_a_request_without_the_token_is_refused_at_once(tmp_path: Path) -> None:
    with loading(tmp_path) as sidecar:
        for path in ("/api/brain/models", "/api/brain/tasks", "/api/brain/no-such-thing"):
            assert sidecar.get(path, authenticated=False).status == 401, path


def test_a_shell_that_connects_early_is_welcomed(tmp_path: Path) -> None:
    with loading(tmp_path) as sidecar, asking() as pool:

        def connect() -> str:
            with raw_shell(sidecar) as shell:
                return str(shell.hello("read_file")["type"])

        hello = pool.submit(connect)
        assert _still_waits(hello)
        (tmp_path / "go").touch()
        assert hello.result(SECONDS) == "welcome"


def test_a_task_that_waits_for_the_rest_is_cancelled_at_once_and_for_good(tmp_path: Path) -> None:
    with loading(tmp_path) as sidecar:
        task_id = sidecar.execute("list the files")
        sidecar.post(f"/api/brain/tasks/{task_id}/cancel")
        (tmp_path / "go").touch()
        task = sidecar.wait_for_end(task_id)
        assert task["status"] == "cancelled"
        assert not [event for event in sidecar.events(task_id) if event["type"] == "tool"]


def test_a_sidecar_that_is_stopped_while_it_loads_resumes_its_task_at_the_next_start(tmp_path: Path) -> None:
    with loading(tmp_path) as sidecar:
        task_id = sidecar.execute("list the files")
        wait_until(lambda: sidecar.task(task_id)["status"] == "running", what="the task to run")
        assert sidecar.process is not None
        sidecar.process.terminate()
        (tmp_path / "go").touch()
        assert sidecar.process.wait(SECONDS) == 0
        sidecar.restart()
        assert sidecar.wait_for_end(task_id)["status"] == "completed"


def test_a_request_that_waits_when_the_sidecar_stops_is_refused_so_that_it_can_be_sent_again(tmp_path: Path) -> None:
    with loading(tmp_path) as sidecar, asking() as pool:
        early = [
            pool.submit(sidecar.post, "/api/brain/execute", {"task": "/ask what is it?"}),
            pool.submit(sidecar.get, "/api/brain/models"),
        ]
        assert all(map(_still_waits, early))
        assert sidecar.process is not None
        sidecar.process.terminate()
        refusals = [answer.result(SECONDS) for answer in early]
        (tmp_path / "go").touch()
        assert [(each.status, each.json["code"]) for each in refusals] == [(503, "stopping")] * 2


def test_a_sidecar_that_stops_when_idle_loads_everything_first(tmp_path: Path) -> None:
    with loading(tmp_path, "--exit-when-idle") as sidecar, asking() as pool:
        early = pool.submit(sidecar.post, "/api/brain/execute", {"task": "/ask what is it?"})
        assert sidecar.process is not None
        with pytest.raises(TimeoutExpired):
            sidecar.process.wait(IDLE_GRACE_SECONDS + 0.5)
        (tmp_path / "go").touch()
        assert early.result(SECONDS).status == 202
        assert sidecar.process.wait(SECONDS) == 0


def test_an_installation_that_lacks_a_file_says_so_and_ends(tmp_path: Path) -> None:
    with loading(tmp_path) as sidecar:
        (tmp_path / "break").touch()
        (tmp_path / "go").touch()
        assert sidecar.process is not None
        assert sidecar.process.wait(SECONDS) != 0
        said = sidecar.log_file.read_text()
        assert "a file of the installation is missing" in said and "Install it again" in said


def test_models_are_offered_tools_that_are_loaded_at_their_first_call() -> None:
    code = """
import asyncio, sys
from tools.executor.registry import default_registry
async def main():
    registry = default_registry()
    await registry.describe(registry.names())
    assert [each.name for each in registry.offers(registry.names())] == registry.names()
    assert not [name for name in sys.modules if name.startswith(("tools.code", "tools.builtin."))]
    offered, = registry.offers({"rename_symbol"})
    assert (await registry.prepare("rename_symbol", "")).spec.offer() == offered
    await registry.prepare("grep", "")
    assert "tools.builtin.search_code" in sys.modules and "tools.builtin.move_symbol" not in sys.modules
asyncio.run(main())
"""
    done = run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
