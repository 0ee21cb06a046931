"""The composition root: builds every object and connects them. The only module that knows them all."""

import asyncio
import gc
import json
import logging
import os
import secrets
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bridge.bridge import Bridge
from sidecar import __version__
from sidecar.api import application
from sidecar.api.fleet import FleetRoutes
from sidecar.api.grants import GrantRoutes
from sidecar.api.identity import KnownTokens, bearer
from sidecar.api.limits import ConnectionLimits
from sidecar.api.mcp import McpRoutes
from sidecar.api.memory import MemoryRoutes
from sidecar.api.metrics import MetricsRoutes
from sidecar.api.models import KeyRoutes, ModelRoutes
from sidecar.api.projects import ProjectRoutes
from sidecar.api.schedules import ScheduleRoutes
from sidecar.api.server import Certificate, QuietServer, open_socket
from sidecar.api.session import SessionRoutes
from sidecar.api.streams import Streams
from sidecar.api.system import DoctorRoutes, SystemRoutes
from sidecar.api.table import TABLE
from sidecar.api.table.route import bind
from sidecar.api.tasks import ReviewRoutes, TaskRoutes, WorktreeRoutes
from sidecar.api.tools import ToolRoutes, TrustRoutes
from sidecar.cache import Caches
from sidecar.cache.watcher import Watcher
from sidecar.config.approvals import StandingApprovals
from sidecar.config.data_dir import DataDir, LockedDirectory, RenewalKeys
from sidecar.config.grants import Grants
from sidecar.config.keys import NAMES, Keys
from sidecar.config.paths import config_file, policy_file
from sidecar.config.repositories import Repositories
from sidecar.config.settings import ModelSettings, Settings
from sidecar.config.tokens import Tokens
from sidecar.config.trust import Trust
from sidecar.engine.engine import Engine
from sidecar.engine.notices import TaskNotices
from sidecar.engine.stalls import Stalls
from sidecar.engine.worktrees import Worktrees
from sidecar.fleet.crew.crew import AGENTS, CrewWork
from sidecar.fleet.schedules.runner import ScheduleRunner
from sidecar.fleet.state import ANY_POOL, Fleet, SharedFleet, SingleSidecar
from sidecar.journal.port import Journal, Retention
from sidecar.journal.sqlite import SqliteJournal
from sidecar.mcp.endpoint import McpEndpoint
from sidecar.memory.local import LocalMemory
from sidecar.memory.notes import Notes
from sidecar.memory.past import Past
from sidecar.memory.registration import IndexStarter, memory_tools
from sidecar.memory.skills import Skills
from sidecar.models.catalog import Catalog
from sidecar.models.selection import Selection
from sidecar.offline.registration import OFFLINE
from sidecar.telemetry.redaction import Redactor, environment_secrets
from sidecar.wire.events import EventKind
from sidecar.wire.fleet import WorkerReady
from sidecar.wire.system import Ready
from sidecar.wire.tasks import ENDED, StoredRequest
from sidecar.work.customizations import Customizations
from sidecar.work.knowledge import Knowledge
from sidecar.work.roster import ROSTER
from sidecar.work.titles import Titles
from sidecar.work.workflow import Workflow
from tools.backend import Backend
from tools.executor.approved_texts import ApprovedTexts
from tools.executor.executor import Executor
from tools.executor.hooks import FILE as HOOKS_FILE
from tools.executor.hooks import Hooks
from tools.executor.registry import default_registry, parse_parallel
from tools.local import temporary
from tools.local.backend import LocalBackend
from tools.local.confinement import CommandLimits
from tools.local.environment import sidecar_mark
from tools.local.repository.worktree import GitWorktrees
from tools.local.sandbox.probe import Sandboxes
from tools.mcp.backend import McpBackend
from tools.mcp.configuration import Configuration, Inputs
from tools.mcp.references import McpReferences
from tools.mcp.servers import McpServers
from tools.plugins import FOLDER as TOOLS_FOLDER
from tools.plugins import Plugins
from tools.policy.policy import Policy

if TYPE_CHECKING:
    from sidecar.acp.foreign.agents import ForeignAgents
    from sidecar.engine.remotes import RemoteWorkspaces
    from sidecar.fleet.bus import Bus
    from sidecar.fleet.node import Node
    from sidecar.journal.postgres.journal import PostgresJournal
    from sidecar.telemetry.notifier import DesktopNotifier
    from tools.sandboxes.host import SandboxedBackend

log = logging.getLogger(__name__)

LOOPBACK = ("127.0.0.1", "localhost", "::1")
IDLE_GRACE_SECONDS = 2.0
#: Connections with the token beyond those of the streams.
MORE_CONNECTIONS = 1_024
#: On shutdown, how long a shell may take to stop its commands.
SHELL_STOP_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Launch:
    """The arguments of `brain serve`."""

    workspace: Path
    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 3847
    exit_when_idle: bool = False
    #: Otherwise it answers requests and accepts operations, but runs no task and isn't announced to other commands.
    runs_tasks: bool = True
    #: What other machines see: a certificate, and the name in it.
    certificate: Certificate | None = None
    public_name: str = ""
    #: Otherwise it is a worker: it runs tasks and listens nowhere.
    serves: bool = True
    #: The pool whose tasks it runs; none for all. Only with a database.
    pool: str | None = None
    #: How many tasks run at once; the setting unless told.
    slots: int | None = None

    @property
    def scheme(self) -> str:
        return "http" if self.certificate is None else "https"


class Sidecar:
    """One running sidecar: `await start()`, then `await run_until_stopped()`."""

    def __init__(self, launch: Launch, settings: Settings) -> None:
        self._launch = launch
        self._settings = settings
        self._data = DataDir(launch.data_dir)
        self._stop = asyncio.Event()
        self._hook_calls: set[asyncio.Task[None]] = set()
        #: The journal, if other processes use it too.
        self._shared: PostgresJournal | None = None
        self._node: Node | None = None
        self._bus: Bus | None = None
        #: The local backend, if its commands run on copies of the workspace.
        self._sandboxed: SandboxedBackend | None = None

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
        self._private = self._data.path
        socket = open_socket(launch.host, launch.port)
        port = socket.getsockname()[1]
        self._server = await self._build(self._data.new_token(), port)
        if launch.runs_tasks:
            await self._engine.start()
        await self._start_fleet()
        self._serving = asyncio.create_task(self._server.serve([socket]), name="http")
        await self._server.listening.wait()
        if launch.exit_when_idle:
            self._engine.call_when_idle(self._exit_if_idle)
            self._streams.on_close = self._exit_if_idle
            self._titles.on_rest = self._exit_if_idle
            self._exit_if_idle()
        ready = Ready(
            url=f"{launch.scheme}://{_authority(launch.public_name or launch.host, port)}",
            pid=os.getpid(),
            token_file=str(self._data.token_file),
            version=__version__,
        )
        if launch.runs_tasks:
            self._data.announce(ready)
            self._warming_up = asyncio.create_task(self._warm_up(), name="warm-up")
        say_ready(ready)

    async def start_worker(self, say_ready: Callable[[WorkerReady], None]) -> None:
        """Run tasks of the database and listen nowhere. Several workers may share a data directory."""
        self._data.prepare()
        own = LockedDirectory(self._data.path, "workers")
        self._private = own.path
        await self._build(secrets.token_urlsafe(32), 0)
        await self._engine.start()
        await self._start_fleet()
        self._warming_up = asyncio.create_task(self._warm_up(), name="warm-up")
        say_ready(WorkerReady(worker=self._engine.owner, pid=os.getpid()))

    async def _open_journal(self) -> Journal:
        launch, settings = self._launch, self._settings
        retention = Retention(settings.keep_days, settings.keep_bytes, settings.keep_undo_bytes)
        if not settings.database_url:
            return await SqliteJournal.open(self._data.journal, retention)
        from sidecar.journal.postgres.journal import PostgresJournal

        pools = None if launch.pool is None else [launch.pool]
        self._shared = await PostgresJournal.open(settings.database_url, retention, pools=pools, claims_expired=False)
        return self._shared

    async def _start_fleet(self) -> None:
        settings, launch = self._settings, self._launch
        if self._shared is None and launch.runs_tasks and not launch.exit_when_idle:
            self._keep(asyncio.create_task(self._schedules.run(), name="schedules"))
        if self._shared is not None:
            from sidecar.fleet.membership import Member
            from sidecar.fleet.node import Node

            slots = self._slots if launch.runs_tasks else 0
            member = Member(self._engine.owner, launch.pool or ANY_POOL, slots, launch.runs_tasks)
            duties = (self._schedules.run,) if launch.runs_tasks else ()
            self._node = Node(self._shared, self._engine, member, settings.redis_url, self.stop, duties)
            await self._node.start()
        elif settings.redis_url and launch.runs_tasks:
            from sidecar.fleet.bus import Bus

            self._bus = Bus(self._journal, settings.redis_url)
            self._bus.start()

    def _open_memory(self, watcher: Watcher) -> LocalMemory:
        settings = self._settings
        if settings.memory == "r2r":
            from sidecar.memory.r2r import R2RMemory
            from sidecar.memory.r2r_client import R2RClient, R2RError

            try:
                client = R2RClient(settings.r2r_url, os.environ.get("R2R_API_KEY", ""))
                return R2RMemory(client, self._private, settings.sandbox, watcher.subscribe)
            except R2RError as error:
                log.warning("Only the local index answers: %s", error)
        return LocalMemory(self._private, settings.sandbox, watcher.subscribe)

    def _open_notes(self) -> Notes:
        if not self._settings.database_url:
            return Notes(self._launch.data_dir)
        from sidecar.memory.shared_notes import SharedNotes

        return SharedNotes(self._settings.database_url)

    async def _open_tokens(self) -> KnownTokens:
        """A fleet has them in its database; a node that serves reads them again all the time."""
        if self._shared is None:
            return Tokens(self._data.path)
        from sidecar.fleet.tokens import TokenCopies

        copies = TokenCopies(self._shared)
        if self._launch.serves:
            await copies.refresh()
            self._keep(asyncio.create_task(copies.run(), name="tokens"))
        return copies

    def _open_remotes(
        self,
        local: LocalBackend,
        sandboxes: Sandboxes,
        limits: CommandLimits,
        repositories: Repositories,
        tokens: Mapping[str, str],
    ) -> "RemoteWorkspaces | None":
        if not self._settings.remotes:
            return None
        from sidecar.engine.remotes import RemoteWorkspaces
        from tools.local.repository.clones import GitClones
        from tools.local.repository.mirror import Mirrors

        place = self._private
        mirrors = Mirrors(
            place / "mirrors", local.processes, sandboxes, lambda remote: tokens.get(f"git-{remote.host}"), limits
        )
        clones = GitClones(place / "clones", mirrors, _split(self._settings.remotes))
        return RemoteWorkspaces(self._journal, clones, repositories, self._memory.forget)

    def _open_local(
        self,
        sandboxes: Sandboxes,
        limits: CommandLimits,
        trusted: Callable[[str], bool],
        secret: Callable[[str], str | None],
    ) -> LocalBackend:
        given: dict[str, Any] = {"sandboxes": sandboxes, "limits": limits, "trusted": trusted}
        if self._settings.sandbox in ("auto", "off"):
            return LocalBackend(self._registry, self._launch.data_dir, **given)
        from tools.sandboxes.host import SandboxedBackend

        kind, mark = self._settings.sandbox, sidecar_mark(self._private)
        place = config_file().parent
        self._sandboxed = SandboxedBackend(kind, place, mark, secret, self._registry, self._launch.data_dir, **given)
        return self._sandboxed

    async def _build(self, token: str, port: int) -> QuietServer:
        """Everything, from the journal up to the HTTP server."""
        launch, settings = self._launch, self._settings
        self._journal = await self._open_journal()
        self._slots = launch.slots or settings.max_tasks
        caches = Caches()
        self._memory = self._open_memory(caches.watcher)
        notes = self._open_notes()
        past = Past(self._journal, notes)
        repositories = Repositories(self._data.path)
        trust = Trust(self._data, repositories)
        skills = Skills(config_file().parent, trust.trusted)
        self._registry = default_registry(memory_tools(self._memory, past, notes, skills))
        sandboxes = Sandboxes(settings.sandbox)
        approvals, grants = StandingApprovals(self._data), Grants(self._data.path, repositories)
        policy = Policy(
            trust.trusted,
            sandboxes.available,
            policy_file(),
            approvals.allows,
            grants.permissions,
            trust.change,
            sandboxes.reaches_hosts,
        )
        self._bridge = Bridge(
            reconnect_seconds=settings.bridge_reconnect_seconds,
            heartbeat_seconds=settings.bridge_heartbeat_seconds,
            changed=caches.changed,
        )
        limits = CommandLimits(settings.command_file_bytes, settings.command_processes, settings.command_memory_bytes)
        local = self._open_local(sandboxes, limits, trust.trusted, lambda name: keys.variable(name))
        configuration = Configuration(config_file().parent, trust.trusted, Inputs(launch.data_dir / "mcp-inputs.json"))
        servers = McpServers(configuration, launch.data_dir, sandboxes, (config_file().parent,))
        self._mcp, references = McpBackend(servers), McpReferences(servers)
        self._plugins = Plugins(config_file().with_name(TOOLS_FOLDER), _split(settings.plugins))
        self._registry.sources += [self._bridge, self._mcp, self._plugins, IndexStarter(self._memory)]
        self._registry.parallel = parse_parallel(_split(settings.parallel_tools))
        backends: list[Backend] = [self._bridge, local, self._mcp, self._plugins]
        if (config_file().parent / "sandbox.toml").exists():
            from tools.sandboxes.codegen import codegen_source

            if (codegen := codegen_source(config_file().parent, lambda name: keys.variable(name))) is not None:
                self._registry.sources.append(codegen)
                backends.append(codegen)
        choices = ModelSettings(settings, config_file(), os.environ)
        keys = Keys(os.environ, launch.data_dir, choices.served_at)
        git_tokens = _git_tokens(os.environ.get("BRAIN_GIT_TOKENS", ""))
        redact = Redactor(
            lambda: {**_secrets(keys, token), **servers.secrets(), **git_tokens},
            _split(settings.let_through),
            lambda: (keys.stamp(), servers.generation),
        )
        self._hooks = Hooks(config_file().with_name(HOOKS_FILE))
        self._executor = Executor(
            self._registry,
            backends,
            policy,
            caches,
            redact,
            ApprovedTexts(launch.data_dir / "approved"),
            self._hooks,
        )
        scripts = Path(settings.scripts or launch.data_dir / "scripts")
        catalog = self._catalog = Catalog(settings, scripts, OFFLINE, keys, choices=choices)
        customizations = Customizations(
            config_file().parent,
            trust.trusted,
            lambda workspace: trust.change(workspace) is not None,
            settings.rules_bytes,
            AGENTS,
        )
        workflow = self._workflow = Workflow(
            self._journal,
            catalog,
            self._registry,
            self._executor,
            customizations,
            verify_seconds=settings.verify_seconds,
            contained=sandboxes.available,
            references=references,
            knowledge=Knowledge(self._memory, past, skills),
            foreign=lambda: self._foreign_agents(sandboxes),
        )
        git = GitWorktrees(self._data.path / "worktrees", self._data.path, sandboxes, trust.trusted)
        self._stalls = Stalls(self._private, settings.stall_seconds)
        crew = CrewWork(workflow, self._journal)
        self._engine = Engine(
            self._journal,
            crew,
            local.host,
            launch.workspace,
            slots=self._slots,
            max_queued=settings.max_queued,
            approvals=approvals,
            permissions=grants.permissions,
            redact=redact,
            stalls=self._stalls,
            worktrees=lambda journal, review: Worktrees(journal, review, git, repositories, self._memory.forget),
            shared=self._shared,
            remotes=self._open_remotes(local, sandboxes, limits, repositories, git_tokens),
        )
        crew.connect(self._engine)
        assert self._engine.worktrees is not None
        self._schedules = ScheduleRunner(config_file().parent, self._journal, self._engine)
        self._titles = Titles(self._journal, catalog, redact)
        self._engine.call_at_end(self._run_ended)
        self._notices = TaskNotices(self._journal, self._find_notifier, self._open_task)
        self._engine.call_at_status(self._notices.take)
        self._streams = Streams(settings.max_streams, settings.slow_reader_seconds)
        session = SessionRoutes(token, RenewalKeys(self._data), launch.data_dir, _authority(launch.host, port))
        session.sweep()
        fleet: Fleet = (
            SharedFleet(self._shared)
            if self._shared is not None
            else SingleSidecar(self._journal, self._engine.owner, self._slots, lambda: self._engine.running)
        )
        self._metrics = MetricsRoutes(
            self._journal,
            self._streams,
            launch.data_dir,
            self._registry.names,
            catalog.has_price,
            fleet,
        )
        handlers = (
            self._metrics,
            TaskRoutes(self._engine, self._journal, self._streams, choices.notice),
            ProjectRoutes(self._engine, self._journal),
            ReviewRoutes(self._engine.review),
            WorktreeRoutes(self._engine.worktrees),
            ToolRoutes(self._registry, self._executor, policy, self._engine.checked_workspace),
            TrustRoutes(trust, approvals, launch.workspace, self._engine),
            GrantRoutes(grants, launch.data_dir, self._engine.checked_workspace),
            McpRoutes(servers, references, self._engine.checked_workspace),
            FleetRoutes(fleet),
            ScheduleRoutes(self._schedules),
            ModelRoutes(catalog, Selection(catalog, choices)),
            KeyRoutes(keys),
            MemoryRoutes(self._memory, past, notes, self._engine.checked_workspace),
            DoctorRoutes(launch.data_dir, launch.workspace, self._journal, servers, self._plugins),
            SystemRoutes(
                self._journal,
                customizations,
                self._streams,
                self._bridge.shells,
                sandboxes,
                launch.workspace,
                _openapi_document,
                choices.notice,
            ),
            session,
        )
        self._mcp_endpoint = McpEndpoint(
            f"{launch.scheme}://{_authority(launch.public_name or launch.host, port)}", settings.max_body_bytes
        )
        authenticate = bearer(token, await self._open_tokens())
        app = application.build(
            bind(TABLE, handlers),
            self._bridge,
            self._mcp_endpoint,
            authenticate=authenticate,
            redeem_ticket=session.tickets.redeem,
            hosts=_hosts(launch, port),
            scheme=launch.scheme,
            origins=_split(settings.allowed_origins),
            max_body=settings.max_body_bytes,
        )
        peers = ConnectionLimits(authenticate, connections=settings.max_streams + MORE_CONNECTIONS)
        return QuietServer(app, self._streams, settings.bridge_heartbeat_seconds, peers, launch.certificate)

    async def _warm_up(self) -> None:
        """After the ready line: load what the first task needs, prune old tasks, sweep temporary directories."""
        await self._workflow.load()
        await asyncio.to_thread(_load_rules)
        await asyncio.to_thread(self._plugins.load)
        for kind in get_args(EventKind):
            kind.model_rebuild()
            await asyncio.sleep(0)
        await self._registry.load(ROSTER["coder"].tools)
        await self._catalog.warm()
        # Everything loaded so far lives forever; keep the garbage collector out of it.
        gc.freeze()
        await self._journal.prune()
        # Indexes what was said since the last search, so that the next search needn't.
        await self._journal.tasks(words="a", limit=1)
        if self._sandboxed is not None:
            await self._sandboxed.pool.sweep()
        await asyncio.to_thread(self._data.keep_reserve)
        await asyncio.to_thread(temporary.sweep)
        await asyncio.to_thread(temporary.sweep_traces, self._launch.data_dir, self._settings.keep_days)

    async def run_until_stopped(self) -> None:
        await self._stop.wait()
        if self._launch.runs_tasks:
            self._warming_up.cancel()
        self._bridge.hurry(SHELL_STOP_SECONDS)
        if self._bus is not None:
            await self._bus.close()
        await self._engine.stop()
        if self._node is not None:
            await self._node.close()
        for task in self._hook_calls:
            task.cancel()
        await self._notices.close()
        await self._titles.close()
        self._stalls.close()
        await self._mcp_endpoint.close()
        if self._launch.serves:
            self._server.stop()
            await self._serving
        await self._memory.close()
        await self._executor.close()
        await self._mcp.close()
        await self._catalog.close()
        await self._metrics.totals.close()
        await self._journal.close()
        if self._launch.serves:
            self._data.withdraw()

    def _foreign_agents(self, sandboxes: Sandboxes) -> "ForeignAgents":
        """Imported when an agent of others works for the first time."""
        from sidecar.acp.foreign.agents import ForeignAgents
        from sidecar.acp.foreign.process import AgentProcesses

        private = (str(self._data.path), str(config_file().parent))
        return ForeignAgents(self._executor, AgentProcesses(self._data.path, sandboxes, private))

    def _run_ended(self, task_id: str, request: StoredRequest) -> None:
        if self._stop.is_set():
            return
        self._schedules.task_ended()
        if self._sandboxed is not None:
            self._keep(asyncio.create_task(self._release_sandbox(task_id, self._sandboxed)))
        if self._settings.titles == "model":
            self._titles.take(task_id, request)
        if self._settings.trace_endpoint:
            self._keep(asyncio.create_task(self._export_trace(task_id)))
        if self._hooks.wants_ends():
            self._keep(asyncio.create_task(self._task_ended(task_id)))

    async def _task_ended(self, task_id: str) -> None:
        task = await self._journal.task(task_id)
        if task.status in ENDED:
            names = {"id", "status", "task", "workspace", "result", "error", "verified"}
            told = task.model_dump(mode="json", by_alias=True, include=names)
            # A task on a remote has no directory any more.
            place = task.workspace if task.workspace.startswith("/") else str(self._launch.workspace)
            await self._hooks.task_ended({"taskId": told.pop("id"), **told}, place)

    async def _release_sandbox(self, task_id: str, sandboxed: "SandboxedBackend") -> None:
        """Of a cancelled task nothing runs on; the next task of another may use its sandbox."""
        task = await self._journal.task(task_id)
        if task.status == "cancelled" and task.workspace:
            await sandboxed.pool.release(task.workspace)

    async def _export_trace(self, task_id: str) -> None:
        from sidecar.telemetry.otlp import NotExported, export
        from sidecar.telemetry.traces import TaskSpans

        task, after = await self._journal.task(task_id), 0
        spans = TaskSpans(task.model_dump(mode="json", by_alias=True, exclude={"task", "result"}))
        while (page := await self._journal.events(task_id, after)).events:
            for event in page.events:
                spans.fold(json.loads(event.data))
            after = page.events[-1].seq or 0
        try:
            await asyncio.to_thread(export, spans.to_json(), self._settings.trace_endpoint)
        except NotExported as error:
            log.warning("The trace of task %s was not sent; `brain trace %s` writes it: %s", task_id, task_id, error)

    def _keep(self, task: "asyncio.Task[None]") -> None:
        self._hook_calls.add(task)
        task.add_done_callback(self._hook_calls.discard)

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
            if not (self._engine.busy or self._streams.open or self._titles.busy):
                self.stop()

        # A client that just started a task, or read the end of one, may send another request.
        asyncio.get_running_loop().call_later(IDLE_GRACE_SECONDS, stop_if_idle)


def _load_rules() -> None:
    from sidecar.work.router import route
    from tools.policy.programs import load_table

    route("")
    load_table(None)


def _secrets(keys: Keys, token: str) -> dict[str, str]:
    """Values to redact everywhere."""
    stored = {f"{name}-key": key for name in NAMES if (key := keys.find(name))}
    return {**environment_secrets(os.environ), **stored, "sidecar-token": token}


def _git_tokens(text: str) -> dict[str, str]:
    """By `git-HOST`, from `host=TOKEN,other=TOKEN`."""
    pairs = (entry.partition("=") for entry in _split(text))
    return {f"git-{host.strip().lower()}": token.strip() for host, _, token in pairs if token.strip()}


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _openapi_document() -> dict[str, Any]:
    from sidecar.api.openapi import document

    return document()


def _hosts(launch: Launch, port: int) -> Collection[str]:
    """A public name also without our port: a proxy or the default port of HTTPS leaves it out."""
    names = {*LOOPBACK, launch.host}
    public = {launch.public_name.lower(), f"{launch.public_name.lower()}:{port}"} if launch.public_name else set()
    return {f"{_url_host(name)}:{port}" for name in names} | public


def _authority(host: str, port: int) -> str:
    return f"{_url_host(host)}:{port}"


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
