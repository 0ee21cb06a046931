"""One running sidecar: builds its parts, starts them in order, and stops them in reverse."""

import asyncio
import gc
import logging
import os
import secrets
import socket
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sidecar import __version__
from sidecar.api.server import open_socket
from sidecar.app.endings import Endings
from sidecar.app.launch import Launch
from sidecar.app.server import HttpServer
from sidecar.app.stores import Stores, open_stores, open_tokens
from sidecar.app.toolbox import Toolbox, build_toolbox, open_remotes
from sidecar.config.data_dir import DataDir, LockedDirectory
from sidecar.config.paths import config_file
from sidecar.config.settings import Settings
from sidecar.engine.engine import Engine
from sidecar.engine.notices import TaskNotices
from sidecar.engine.stalls import Stalls
from sidecar.engine.worktrees import Worktrees
from sidecar.fleet.crew.crew import AGENTS, CrewWork
from sidecar.fleet.schedules.runner import ScheduleRunner
from sidecar.fleet.state import ANY_POOL, Fleet, SharedFleet, SingleSidecar
from sidecar.journal.port import TaskFilter
from sidecar.models.catalog import Catalog
from sidecar.offline.registration import OFFLINE
from sidecar.wire.events import EventKind
from sidecar.wire.fleet import WorkerReady
from sidecar.wire.system import Ready
from sidecar.wire.tasks import StoredRequest
from sidecar.work.customizations import Customizations
from sidecar.work.knowledge import Knowledge
from sidecar.work.roster import ROSTER
from sidecar.work.titles import Titles
from sidecar.work.workflow import Workflow
from tools.local import temporary
from tools.local.repository.worktree import GitWorktrees

if TYPE_CHECKING:
    from sidecar.acp.foreign.agents import ForeignAgents
    from sidecar.fleet.bus import Bus
    from sidecar.fleet.node import Node
    from sidecar.telemetry.notifier import DesktopNotifier

log = logging.getLogger(__name__)

IDLE_GRACE_SECONDS = 2.0
#: On shutdown, how long a shell may take to stop its commands.
SHELL_STOP_SECONDS = 1.0


class Sidecar:
    """`await start()`, then `await run_until_stopped()`."""

    def __init__(self, launch: Launch, settings: Settings) -> None:
        self._launch = launch
        self._settings = settings
        self._data = DataDir(launch.data_dir)
        self._slots = launch.slots or settings.max_tasks
        self._stop = asyncio.Event()
        self._background: set[asyncio.Task[None]] = set()
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
        port = socket.getsockname()[1]
        await self._build(self._data.new_token(), port, self._data.path)
        if launch.runs_tasks:
            await self._engine.start()
        await self._start_fleet()
        self._serving = asyncio.create_task(self._http.server.serve([socket]), name="http")
        await self._http.server.listening.wait()
        if launch.exit_when_idle:
            self._engine.call_when_idle(self._exit_if_idle)
            self._http.streams.on_close = self._exit_if_idle
            self._titles.on_rest = self._exit_if_idle
            self._exit_if_idle()
        token_file = str(self._data.token_file)
        ready = Ready(url=launch.url(port), pid=os.getpid(), token_file=token_file, version=__version__)
        if launch.runs_tasks:
            self._data.announce(ready)
            self._warming_up = asyncio.create_task(self._warm_up(), name="warm-up")
        say_ready(ready)

    async def start_worker(self, say_ready: Callable[[WorkerReady], None]) -> None:
        """Run tasks of the database and listen nowhere. Several workers may share a data directory."""
        self._data.prepare()
        own = LockedDirectory(self._data.path, "workers")
        await self._build(secrets.token_urlsafe(32), 0, own.path)
        await self._engine.start()
        await self._start_fleet()
        self._warming_up = asyncio.create_task(self._warm_up(), name="warm-up")
        say_ready(WorkerReady(worker=self._engine.owner, pid=os.getpid()))

    async def _build(self, token: str, port: int, private: Path) -> None:
        """Everything, from the journal up to the HTTP server."""
        launch, settings = self._launch, self._settings
        self._stores = stores = await open_stores(launch, settings, self._data, private)
        self._tools = tools = build_toolbox(launch, settings, stores, token)
        scripts = Path(settings.scripts or launch.data_dir / "scripts")
        self._catalog = Catalog(settings, scripts, OFFLINE, stores.keys, choices=stores.choices)
        customizations = Customizations(
            config_file().parent,
            stores.trust.trusted,
            lambda workspace: stores.trust.change(workspace) is not None,
            settings.rules_bytes,
            AGENTS,
        )
        self._engine = self._build_engine(stores, tools, customizations)
        self._schedules = ScheduleRunner(config_file().parent, stores.journal, self._engine)
        self._follow_runs(stores, tools)
        tokens, copies = open_tokens(stores, self._data)
        if copies is not None and launch.serves:
            await copies.refresh()
            self._keep(copies.run())
        self._http = HttpServer(
            launch,
            settings,
            self._data,
            stores,
            tools,
            self._engine,
            self._schedules,
            self._fleet(stores),
            self._catalog,
            customizations,
            tokens,
            token,
            port,
        )

    def _build_engine(self, stores: Stores, tools: Toolbox, customizations: Customizations) -> Engine:
        launch, settings = self._launch, self._settings
        self._workflow = Workflow(
            stores.journal,
            self._catalog,
            tools.registry,
            tools.executor,
            customizations,
            verify_seconds=settings.verify_seconds,
            contained=tools.sandboxes.available,
            references=tools.references,
            knowledge=Knowledge(stores.memory, stores.past, stores.skills),
            foreign=self._foreign_agents,
        )
        git = GitWorktrees(self._data.path / "worktrees", self._data.path, tools.sandboxes, stores.trust.trusted)
        repositories, forget = stores.repositories, stores.memory.forget
        self._stalls = Stalls(stores.private, settings.stall_seconds)
        crew = CrewWork(self._workflow, stores.journal)
        engine = Engine(
            stores.journal,
            crew,
            tools.local.host,
            launch.workspace,
            slots=self._slots,
            max_queued=settings.max_queued,
            approvals=stores.approvals,
            permissions=stores.grants.permissions,
            redact=tools.redact,
            stalls=self._stalls,
            worktrees=lambda journal, review: Worktrees(journal, review, git, repositories, forget),
            shared=stores.shared,
            remotes=open_remotes(settings, stores, tools),
            node=None if stores.shared is None else f"{socket.gethostname()}:{stores.private}",
        )
        crew.connect(engine)
        return engine

    def _follow_runs(self, stores: Stores, tools: Toolbox) -> None:
        """Titles, notifications, and whatever else follows a run."""
        self._titles = Titles(stores.journal, self._catalog, tools.redact)
        self._notices = TaskNotices(stores.journal, self._find_notifier, self._open_task)
        self._engine.call_at_status(self._notices.take)
        endings = Endings(
            self._settings,
            stores.journal,
            self._titles,
            tools.hooks,
            tools.sandboxed,
            self._launch.workspace,
            self._schedules.task_ended,
            self._keep,
        )

        def run_ended(task_id: str, request: StoredRequest) -> None:
            if not self._stop.is_set():
                endings.take(task_id, request)

        self._engine.call_at_end(run_ended)

    def _fleet(self, stores: Stores) -> Fleet:
        if stores.shared is not None:
            return SharedFleet(stores.shared)
        return SingleSidecar(stores.journal, self._engine.owner, self._slots, lambda: self._engine.running)

    async def _start_fleet(self) -> None:
        settings, launch, shared = self._settings, self._launch, self._stores.shared
        if shared is None and launch.runs_tasks and not launch.exit_when_idle:
            self._keep(self._schedules.run())
        if shared is not None:
            from sidecar.fleet.membership import Member
            from sidecar.fleet.node import Node

            slots = self._slots if launch.runs_tasks else 0
            member = Member(self._engine.owner, launch.pool or ANY_POOL, slots, launch.runs_tasks)
            duties = (self._schedules.run,) if launch.runs_tasks else ()
            self._node = Node(shared, self._engine, member, settings.redis_url, self.stop, duties)
            await self._node.start()
        elif settings.redis_url and launch.runs_tasks:
            from sidecar.fleet.bus import Bus

            self._bus = Bus(self._stores.journal, settings.redis_url)
            self._bus.start()

    async def _warm_up(self) -> None:
        """After the ready line: load what the first task needs, prune old tasks, sweep temporary directories."""
        journal, sandboxed = self._stores.journal, self._tools.sandboxed
        await self._workflow.load()
        await asyncio.to_thread(_load_rules)
        await asyncio.to_thread(self._tools.plugins.load)
        for kind in get_args(EventKind):
            kind.model_rebuild()
            await asyncio.sleep(0)
        await self._tools.registry.load(ROSTER["coder"].tools)
        await self._catalog.warm()
        # Everything loaded so far lives forever; keep the garbage collector out of it.
        gc.freeze()
        await journal.prune()
        # Indexes what was said since the last search, so that the next search needn't.
        await journal.tasks(TaskFilter(words="a"), limit=1)
        if sandboxed is not None:
            await sandboxed.pool.sweep()
        await asyncio.to_thread(self._data.keep_reserve)
        await asyncio.to_thread(temporary.sweep)
        await asyncio.to_thread(temporary.sweep_traces, self._launch.data_dir, self._settings.keep_days)

    async def run_until_stopped(self) -> None:
        await self._stop.wait()
        if self._launch.runs_tasks:
            self._warming_up.cancel()
        self._tools.bridge.hurry(SHELL_STOP_SECONDS)
        if self._bus is not None:
            await self._bus.close()
        await self._engine.stop()
        if self._node is not None:
            await self._node.close()
        for task in self._background:
            task.cancel()
        await self._notices.close()
        await self._titles.close()
        self._stalls.close()
        await self._http.mcp.close()
        if self._launch.serves:
            self._http.server.stop()
            await self._serving
        await self._stores.memory.close()
        await self._tools.executor.close()
        await self._tools.mcp.close()
        await self._catalog.close()
        await self._http.metrics.totals.close()
        await self._stores.journal.close()
        if self._launch.serves:
            self._data.withdraw()

    def _foreign_agents(self) -> "ForeignAgents":
        """Imported when an agent of others works for the first time."""
        from sidecar.acp.foreign.agents import ForeignAgents
        from sidecar.acp.foreign.process import AgentProcesses

        private = (str(self._data.path), str(config_file().parent))
        return ForeignAgents(self._tools.executor, AgentProcesses(self._data.path, self._tools.sandboxes, private))

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
        command = [sys.executable, "-m", "sidecar", "open", task_id, "--data-dir", str(self._launch.data_dir)]
        silent = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*command, stdin=silent, stdout=silent, stderr=silent)
        await process.wait()

    def _exit_if_idle(self) -> None:
        def stop_if_idle() -> None:
            if not (self._engine.busy or self._http.streams.open or self._titles.busy):
                self.stop()

        # A client that just started a task, or read the end of one, may send another request.
        asyncio.get_running_loop().call_later(IDLE_GRACE_SECONDS, stop_if_idle)


def _load_rules() -> None:
    from sidecar.work.router import route
    from tools.policy.programs import load_table

    route("")
    load_table(None)
