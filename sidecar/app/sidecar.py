"""One running sidecar: builds its parts, starts them in order, and stops them in reverse."""

import asyncio
import gc
import logging
import os
import secrets
from collections.abc import Callable, Coroutine
from functools import cached_property
from importlib import import_module
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, get_args

from sidecar import __version__
from sidecar.api.server import open_socket
from sidecar.app.launch import Launch, NotLoaded, split
from sidecar.app.server import HttpServer
from sidecar.app.stores import open_stores, open_tokens
from sidecar.config.data_dir import DataDir, LockedDirectory
from sidecar.config.settings import Settings
from sidecar.engine.engine import Engine
from sidecar.engine.errors import lacks_handles
from sidecar.engine.notices import TaskNotices
from sidecar.engine.port import LateWork, Work
from sidecar.engine.stalls import Stalls
from sidecar.journal.errors import JournalClosed
from sidecar.journal.port import Journal, TaskFilter
from sidecar.telemetry.redaction import Redactor
from sidecar.wire.events import EventKind
from sidecar.wire.health import Ready
from sidecar.wire.tasks import ExecuteRequest, Options, StoredRequest, Task

if TYPE_CHECKING:
    from sidecar.app.parts import Parts
    from sidecar.app.toolbox import Toolbox
    from sidecar.engine.remotes import RemoteWorkspaces
    from sidecar.engine.review import Review
    from sidecar.engine.worktrees import Worktrees
    from sidecar.fleet.bus import Bus
    from sidecar.fleet.membership import Node
    from sidecar.fleet.state import Fleet
    from sidecar.telemetry.notifier import DesktopNotifier
    from sidecar.wire.fleet import WorkerReady
    from tools.host import Host

log = logging.getLogger(__name__)

IDLE_GRACE_SECONDS = 2.0
#: On shutdown, how long a shell may take to stop its commands.
SHELL_STOP_SECONDS = 1.0
#: Until what could not be loaded for a lack of file handles is tried again.
_RETRY_SECONDS = 5.0


class Sidecar:
    """`await start()`, then `await run_until_stopped()`.

    Before the ready line it opens the journal, takes operations, and serves tasks, sessions and the panel. What carries
    out tasks, and every other route, is loaded right after it (`_load`). A request or task that needs it earlier waits.
    """

    def __init__(self, launch: Launch, settings: Settings) -> None:
        self._launch = launch
        self._settings = settings
        self._data = DataDir(launch.data_dir)
        self._slots = launch.slots or settings.max_tasks
        self._stop = asyncio.Event()
        self._background: set[asyncio.Task[None]] = set()
        self._port = 0
        self._parts: Parts | None = None
        self._failure: NotLoaded | None = None
        self._importing: asyncio.Task[None] | None = None
        self._loading: asyncio.Task[None] | None = None
        self._runs_schedules = False
        self._node: Node | None = None
        self._bus: Bus | None = None

    def stop(self) -> None:
        self._stop.set()

    def drain(self) -> None:
        """Finish the running tasks, then stop."""
        if self._node is not None:
            self._node.drain()

    async def start(self, say_ready: Callable[[Ready], None]) -> None:
        launch = self._launch
        self._data.prepare()
        self._data.lock()
        if self._data.use_reserve():
            log.warning(
                "The disk of the data directory %s is full. Tasks can be read; new and unfinished ones wait until "
                "there is room again. Free some space there.",
                self._data.path,
            )
        socket = open_socket(launch.host, launch.port)
        self._port = socket.getsockname()[1]
        await self._build(self._data.new_token(), self._data.path)
        if launch.runs_tasks:
            await self._engine.start()
        await self._start_fleet()
        self._serving = asyncio.create_task(self._http.server.serve([socket]), name="http")
        await self._http.server.listening.wait()
        if launch.exit_when_idle:
            self._engine.call_when_idle(self._exit_if_idle)
            self._http.streams.on_close = self._exit_if_idle
        token_file = str(self._data.token_file)
        ready = Ready(url=launch.url(self._port), pid=os.getpid(), token_file=token_file, version=__version__)
        if self._has_workers:
            certificate = None if launch.certificate is None else str(launch.certificate.file.absolute())
            local = {"url": launch.local_url(self._port), "certificate": certificate}
            self._data.announce(ready.model_copy(update=local))
        say_ready(ready)
        self._warming_up = asyncio.create_task(self._warm_up(), name="warm-up")

    async def start_worker(self, say_ready: "Callable[[WorkerReady], None]") -> None:
        """Run tasks of the database and listen nowhere. Several workers may share a data directory."""
        from sidecar.wire.fleet import WorkerReady

        self._data.prepare()
        own = LockedDirectory(self._data.path, "workers")
        await self._build(secrets.token_urlsafe(32), own.path)
        await self._engine.start()
        await self._start_fleet()
        say_ready(WorkerReady(worker=self._engine.owner, pid=os.getpid()))
        self._warming_up = asyncio.create_task(self._warm_up(), name="warm-up")

    async def _build(self, token: str, private: Path) -> None:
        """The journal, the engine, and the HTTP server with its first routes."""
        launch, settings = self._launch, self._settings
        self._stores = stores = await open_stores(launch, settings, self._data, private)
        self._redact = Redactor(
            lambda: {**stores.secrets(token), **self._server_secrets()},
            split(settings.let_through),
            lambda: (stores.keys.stamp(), self._parts and self._tools.servers.generation),
        )
        self._stalls = Stalls(stores.private, settings.stall_seconds)
        self._engine = Engine(
            stores.journal,
            LateWork(self._load_work),
            self._host,
            launch.workspace,
            slots=self._slots,
            max_queued=settings.max_queued,
            approvals=stores.approvals,
            permissions=stores.grants.permissions,
            redact=self._redact,
            stalls=self._stalls,
            worktrees=self._open_worktrees,
            remotes=self._open_remotes(),
            private=self._data.path,
            node=None if stores.shared is None else f"{gethostname()}:{stores.private}",
        )
        self._notices = TaskNotices(stores.journal, self._find_notifier, self._open_task)
        self._engine.call_at_status(self._notices.take)
        self._engine.call_at_end(self._run_ended)
        if not launch.serves:
            return
        tokens, copies = open_tokens(stores, self._data)
        if copies is not None:
            await copies.refresh()
            self._keep(copies.run())
        self._http = HttpServer(
            launch,
            settings,
            self._data,
            stores,
            self._engine,
            tokens,
            token,
            self._port,
            self._fleet_problem,
            self._load,
        )

    # -- what is loaded after the ready line -------------------------------------------------------------------------

    async def _load(self) -> None:
        """In a thread: it takes longer than the loop may block."""
        self._importing = _unless_failed(self._importing) or asyncio.create_task(
            asyncio.to_thread(_import_parts), name="import"
        )
        await _finished(self._importing)
        self._complete()

    async def _load_work(self) -> Work:
        """With everything that a first task would load on the loop."""
        await _finished(self._begin_loading())
        if self._failure is not None:
            raise self._failure
        return self._complete().work

    def _begin_loading(self) -> "asyncio.Task[None]":
        self._loading = _unless_failed(self._loading) or asyncio.create_task(self._load_all(), name="loading")
        return self._loading

    @cached_property
    def _tools(self) -> "Toolbox":
        from sidecar.app.toolbox import build_toolbox

        return build_toolbox(self._launch, self._settings, self._stores, self._redact)

    def _complete(self) -> "Parts":
        if self._parts is None:
            from sidecar.app.parts import Parts

            launch, settings = self._launch, self._settings
            parts = Parts(
                launch, settings, self._data, self._stores, self._tools, self._engine, self._redact, self._keep
            )
            if launch.serves:
                parts.serve(self._http, self._fleet, settings, self._port)
            if launch.exit_when_idle:
                parts.titles.on_rest = self._exit_if_idle
            self._parts = parts
        return self._parts

    def _host(self, workspace: str) -> "Host":
        return self._tools.local.host(workspace)

    def _server_secrets(self) -> dict[str, str]:
        """No MCP server is in use before the parts are loaded."""
        return {} if self._parts is None else self._tools.servers.secrets()

    def _open_worktrees(self, journal: Journal, review: "Review") -> "Worktrees":
        from sidecar.engine.worktrees import Worktrees
        from tools.local.repository.worktree import GitWorktrees

        tools, stores = self._tools, self._stores
        git = GitWorktrees(self._data.path / "worktrees", self._data.path, tools.sandboxes, stores.trust.trusted)
        return Worktrees(journal, review, git, stores.repositories, tools.memories.code.forget)

    def _open_remotes(self) -> "RemoteWorkspaces | None":
        if not self._settings.remotes:
            return None
        from sidecar.app.toolbox import open_remotes

        return open_remotes(self._settings, self._stores, self._tools)

    def _run_ended(self, task_id: str, request: StoredRequest) -> None:
        if not self._stop.is_set():
            self._complete().endings.take(task_id, request)

    # -- the fleet ---------------------------------------------------------------------------------------------------

    @cached_property
    def _fleet(self) -> "Fleet":
        from sidecar.fleet.state import SharedFleet, SingleSidecar

        stores = self._stores
        if stores.shared is not None:
            return SharedFleet(stores.shared)
        return SingleSidecar(stores.journal, self._engine.owner, self._slots, lambda: self._engine.running)

    async def _fleet_problem(self) -> str:
        return "" if self._stores.shared is None else await self._fleet.problem()

    @property
    def _has_workers(self) -> bool:
        """Whether the tasks that it takes are run, here or elsewhere."""
        return self._launch.runs_tasks or (self._stores.shared is not None and self._launch.stays)

    async def _start_fleet(self) -> None:
        settings, launch, shared = self._settings, self._launch, self._stores.shared
        if shared is not None:
            from sidecar.fleet.membership import Member, Node
            from sidecar.fleet.state import ANY_POOL

            slots = self._slots if launch.runs_tasks else 0
            member = Member(self._engine.owner, launch.pool or ANY_POOL, slots, launch.runs_tasks)
            duties = (self._complete().schedules.run,) if self._has_workers else None
            self._node = Node(shared, self._engine, member, settings.redis_url, self.stop, duties, launch.alive_file)
            await self._node.start()
        elif settings.redis_url and launch.runs_tasks:
            from sidecar.fleet.bus import Bus

            self._bus = Bus(self._stores.journal, settings.redis_url)
            self._bus.start()

    async def _warm_up(self) -> None:
        """After the ready line: load what tasks need, prune old tasks, sweep temporary directories."""
        try:
            await self._load_patiently()
        finally:
            # Everything loaded so far lives forever; keep the garbage collector out of it.
            gc.freeze()
            gc.enable()
        if self._launch.exit_when_idle:
            self._exit_if_idle()
        if not self._launch.runs_tasks or self._failure is not None:
            return
        launch, tools, journal = self._launch, self._tools, self._stores.journal
        await journal.prune()
        # Indexes what was said since the last search, so that the next search needn't.
        await journal.tasks(TaskFilter(words="a"), limit=1)
        if tools.sandboxed is not None:
            await tools.sandboxed.pool.sweep()
        await asyncio.to_thread(self._data.keep_reserve)
        await asyncio.to_thread(_sweep, launch.data_dir, self._settings.keep_days)

    async def _load_patiently(self) -> None:
        while True:
            try:
                await asyncio.shield(self._begin_loading())
                return
            except Exception as error:
                if not lacks_handles(error):
                    raise
            await asyncio.sleep(_RETRY_SECONDS)

    async def _load_all(self) -> None:
        for kind in (Options, ExecuteRequest, StoredRequest, Task, *get_args(EventKind)):
            kind.model_rebuild()
            await asyncio.sleep(0)
        try:
            await self._load()
        except Exception as error:
            if lacks_handles(error):
                raise
            log.exception("What carries out tasks can't be loaded.")
            self._failure = NotLoaded(
                f"The sidecar stopped, because a part of it can't be loaded: {error}. Your tasks are kept. "
                "Install it again, and start it."
            )
            self.stop()
            return
        if not self._launch.runs_tasks:
            return
        parts = self._complete()
        if self._stores.shared is None and not self._launch.exit_when_idle and not self._runs_schedules:
            self._runs_schedules = True
            self._keep(parts.schedules.run())
        await asyncio.to_thread(_load_rules)
        await asyncio.to_thread(self._tools.plugins.load)
        await parts.warm_up()

    async def run_until_stopped(self) -> None:
        await self._stop.wait()
        for late in (self._warming_up, self._loading, self._importing):
            if late is not None:
                late.cancel()
        tools: Toolbox | None = vars(self).get("_tools")
        if tools is not None:
            tools.bridge.limit_ending(SHELL_STOP_SECONDS)
        if self._bus is not None:
            await self._bus.close()
        if self._node is not None:
            # First: it would get back the tasks that the engine hands on.
            await self._node.close()
        await self._engine.stop()
        for task in self._background:
            task.cancel()
        await self._notices.close()
        self._stalls.close()
        if self._parts is not None:
            await self._parts.close_routes()
        if self._launch.serves:
            self._http.server.stop()
            await self._serving
        if tools is not None:
            await tools.close()
        if self._parts is not None:
            await self._parts.close()
        await self._stores.journal.close()
        if self._launch.serves:
            self._data.withdraw()
        if self._failure is not None:
            raise self._failure

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it beside the rest until it ends or the sidecar stops."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _find_notifier(self) -> "DesktopNotifier | None":
        from sidecar.telemetry.notifier import find_notifier

        return find_notifier(self._settings.notify)

    async def _open_task(self, task_id: str) -> None:
        """You clicked a notification: `brain open` shows its task in the panel."""
        from sidecar.client.sidecars import PROGRAM

        command = [*PROGRAM, "open", task_id, "--data-dir", str(self._launch.data_dir)]
        silent = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*command, stdin=silent, stdout=silent, stderr=silent)
        await process.wait()

    def _exit_if_idle(self) -> None:
        def stop_if_idle() -> None:
            # Requests may wait for what is being loaded. The warm-up calls this again.
            if self._loading is None or not self._loading.done():
                return
            titles = self._parts is not None and self._parts.titles.busy
            if not (self._engine.busy or self._http.streams.open or titles):
                self.stop()

        # A client that just started a task, or read the end of one, may send another request.
        asyncio.get_running_loop().call_later(IDLE_GRACE_SECONDS, stop_if_idle)


def _unless_failed(task: "asyncio.Task[None] | None") -> "asyncio.Task[None] | None":
    """None, too, if it failed by something that passes, such as a lack of file handles."""
    failed = task is not None and task.done() and not task.cancelled() and task.exception() is not None
    return None if failed else task


async def _finished(task: "asyncio.Task[None]") -> None:
    """Wait for it without ending it. Raises `JournalClosed` if the sidecar stops first."""
    await asyncio.wait({task})
    if task.cancelled():
        raise JournalClosed
    task.result()


def _import_parts() -> None:
    """With what they import only when it is first used: on the loop that would take too long."""
    for name in (
        "sidecar.app.parts",
        "sidecar.engine.fork",
        "sidecar.engine.worktrees",
        "sidecar.fleet.state",
        "tools.local.repository.worktree",
    ):
        import_module(name)


def _load_rules() -> None:
    from sidecar.work.router import route
    from tools.policy.programs import load_table

    route("")
    load_table(None)


def _sweep(data_dir: Path, days: float) -> None:
    from tools.local import temporary

    temporary.sweep()
    temporary.sweep_traces(data_dir, days)
