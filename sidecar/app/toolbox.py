"""What carries out tool calls: the memory, the registry and its sources, the backends, the policy, the executor."""

import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from bridge.bridge import Bridge
from sidecar.app.launch import Launch, split
from sidecar.app.stores import Stores
from sidecar.cache import Caches
from sidecar.cache.watcher import Watcher
from sidecar.config.paths import config_file, policy_file
from sidecar.config.repositories import Repositories
from sidecar.config.settings import Settings
from sidecar.memory.local import LocalMemory
from sidecar.memory.notes import Notes
from sidecar.memory.past import Past
from sidecar.memory.registration import IndexStarter, memory_tools
from sidecar.memory.skills import Skills
from sidecar.telemetry.redaction import Redactor
from tools.backend import Backend
from tools.executor.binding import ApprovedTexts
from tools.executor.executor import Executor
from tools.executor.hooks import FILE as HOOKS_FILE
from tools.executor.hooks import Hooks
from tools.executor.registry import Registry, default_registry, parse_parallel
from tools.local.backend import LocalBackend
from tools.local.confinement import CommandLimits
from tools.local.environment import sidecar_mark
from tools.local.sandbox.probe import Sandboxes
from tools.mcp.backend import McpBackend
from tools.mcp.configuration import Configuration, Inputs
from tools.mcp.references import McpReferences
from tools.mcp.servers import McpServers
from tools.plugins import FOLDER as TOOLS_FOLDER
from tools.plugins import Plugins
from tools.policy.policy import Policy

if TYPE_CHECKING:
    from sidecar.engine.remotes import RemoteWorkspaces
    from sidecar.memory.shared_vectors import SharedVectors
    from tools.sandboxes.host import SandboxedBackend

log = logging.getLogger(__name__)


class Memories(NamedTuple):
    code: LocalMemory
    past: Past
    notes: Notes
    skills: Skills


def open_memories(launch: Launch, settings: Settings, stores: Stores, watcher: Watcher) -> Memories:
    notes = _open_notes(launch, settings, stores.repositories)
    return Memories(
        code=_open_code(settings, stores, watcher),
        past=Past(stores.journal, notes, _open_past_vectors(settings, stores)),
        notes=notes,
        skills=Skills(config_file().parent, stores.trust.trusted),
    )


def _open_code(settings: Settings, stores: Stores, watcher: Watcher) -> LocalMemory:
    private = stores.private
    if settings.memory == "r2r":
        from sidecar.memory.r2r import R2RMemory
        from sidecar.memory.r2r_client import R2RClient, R2RError

        try:
            client = R2RClient(settings.r2r_url, os.environ.get("R2R_API_KEY", ""))
            return R2RMemory(client, private, settings.sandbox, watcher.subscribe, vectors=settings.memory_vectors)
        except R2RError as error:
            log.warning("Only the local index answers: %s", error)
    shared = None
    if stores.shared is not None:
        from sidecar.memory.shared_indexes import SharedIndexes

        shared = SharedIndexes(stores.shared, stores.repositories.origin)
    return LocalMemory(private, settings.sandbox, watcher.subscribe, shared=shared, vectors=settings.memory_vectors)


def _open_past_vectors(settings: Settings, stores: Stores) -> "SharedVectors | None":
    """Of a fleet, whose past can be long; on one machine the words find enough."""
    if stores.shared is None or not settings.memory_vectors:
        return None
    from sidecar.memory.shared_vectors import SharedVectors

    return SharedVectors(stores.shared)


def _open_notes(launch: Launch, settings: Settings, repositories: Repositories) -> Notes:
    if not settings.database_url:
        return Notes(launch.data_dir, repositories.home)
    from sidecar.memory.shared_notes import SharedNotes

    return SharedNotes(settings.database_url, place=repositories.home)


class Toolbox(NamedTuple):
    memories: Memories
    registry: Registry
    executor: Executor
    policy: Policy
    sandboxes: Sandboxes
    limits: CommandLimits
    local: LocalBackend
    #: The local backend, if its commands run on copies of the workspace.
    sandboxed: "SandboxedBackend | None"
    bridge: Bridge
    servers: McpServers
    mcp: McpBackend
    references: McpReferences
    plugins: Plugins
    hooks: Hooks

    async def close(self) -> None:
        await self.memories.code.close()
        await self.executor.close()
        await self.mcp.close()


def build_toolbox(launch: Launch, settings: Settings, stores: Stores, redact: Redactor) -> Toolbox:
    caches, own = Caches(), config_file().parent
    with suppress(OSError):
        # Else a command in your home directory could create it: only what exists can be hidden.
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
    memories = open_memories(launch, settings, stores, caches.watcher)
    registry = default_registry(memory_tools(memories.code, memories.past, memories.notes, memories.skills))
    sandboxes = Sandboxes(settings.sandbox)
    limits = CommandLimits(settings.command_file_bytes, settings.command_processes, settings.command_memory_bytes)
    policy = Policy(
        stores.trust.trusted,
        sandboxes.available,
        policy_file(),
        stores.approvals.allows,
        stores.grants.permissions,
        stores.trust.change,
        sandboxes.reaches_hosts,
    )
    bridge = Bridge(
        reconnect_seconds=settings.bridge_reconnect_seconds,
        heartbeat_seconds=settings.bridge_heartbeat_seconds,
        changed=caches.changed,
    )
    given: dict[str, Any] = {
        "sandboxes": sandboxes,
        "limits": limits,
        "trusted": stores.trust.trusted,
        "private": [own],
    }
    sandboxed = _open_sandboxed(launch, settings, stores, registry, given)
    local = sandboxed or LocalBackend(registry, launch.data_dir, **given)
    inputs = Inputs(launch.data_dir / "mcp-inputs.json")
    configuration = Configuration(own, stores.trust.trusted, inputs)
    servers = McpServers(configuration, launch.data_dir, sandboxes, (own,))
    mcp = McpBackend(servers)
    plugins = Plugins(config_file().with_name(TOOLS_FOLDER), split(settings.plugins))
    registry.sources += [bridge, mcp, plugins, IndexStarter(memories.code)]
    registry.parallel = parse_parallel(split(settings.parallel_tools))
    backends: list[Backend] = [bridge, local, mcp, plugins]
    _add_codegen(stores, registry, backends)
    hooks = Hooks(config_file().with_name(HOOKS_FILE))
    approved = ApprovedTexts(launch.data_dir / "approved")
    executor = Executor(registry, backends, policy, caches, redact, approved, hooks)
    return Toolbox(
        memories=memories,
        registry=registry,
        executor=executor,
        policy=policy,
        sandboxes=sandboxes,
        limits=limits,
        local=local,
        sandboxed=sandboxed,
        bridge=bridge,
        servers=servers,
        mcp=mcp,
        references=McpReferences(servers),
        plugins=plugins,
        hooks=hooks,
    )


def _open_sandboxed(
    launch: Launch, settings: Settings, stores: Stores, registry: Registry, given: dict[str, Any]
) -> "SandboxedBackend | None":
    if settings.sandbox in ("auto", "off"):
        return None
    from tools.sandboxes.host import SandboxedBackend

    mark, place = sidecar_mark(stores.private), config_file().parent
    return SandboxedBackend(settings.sandbox, place, mark, stores.keys.variable, registry, launch.data_dir, **given)


def _add_codegen(stores: Stores, registry: Registry, backends: list[Backend]) -> None:
    if not (config_file().parent / "sandbox.toml").exists():
        return
    from tools.sandboxes.codegen import codegen_source

    if (codegen := codegen_source(config_file().parent, stores.keys.variable)) is not None:
        registry.sources.append(codegen)
        backends.append(codegen)


def open_remotes(settings: Settings, stores: Stores, tools: Toolbox) -> "RemoteWorkspaces | None":
    """Clones of Git remotes to work in, if the settings allow any."""
    if not settings.remotes:
        return None
    from sidecar.engine.remotes import RemoteWorkspaces
    from tools.local.repository.clones import GitClones
    from tools.local.repository.mirror import Mirrors

    mirrors = Mirrors(
        stores.private / "mirrors",
        tools.local.processes,
        tools.sandboxes,
        lambda remote: stores.git_tokens.get(f"git-{remote.host}"),
        tools.limits,
    )
    clones = GitClones(stores.private / "clones", mirrors, split(settings.remotes))
    return RemoteWorkspaces(stores.journal, clones, stores.repositories, tools.memories.code.forget)
