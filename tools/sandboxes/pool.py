"""One sandbox for each workspace, made for its first command and kept for the next ones."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from tools.local.root import WorkspaceRoot
from tools.sandboxes.copies import WorkspaceCopy
from tools.sandboxes.port import NetworkAccess, Sandbox, SandboxError, SandboxSession, SandboxSpec
from tools.shield import run_to_completion

log = logging.getLogger(__name__)

_MAX_SANDBOXES = 16
#: Between two commands of a workspace; then its sandbox is removed.
IDLE_SECONDS = 300.0
_PREPARE_SECONDS = 900.0
_SAID = 4_000
_CLONE = 'git clone --quiet ${2:+--branch "$2"} -- "$1" .'


def open_remote(kind: str, mark: str, secret: Callable[[str], str | None]) -> Sandbox:
    """What the setting `sandbox` names; `secret` finds a value by the name of its environment variable."""
    if kind == "e2b":
        from tools.sandboxes.e2b import E2bMachines

        return E2bMachines(mark, secret)
    from tools.sandboxes.container import Containers

    return Containers(mark, secret)


class _Place:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.copy: WorkspaceCopy | None = None
        self.preparing: asyncio.Task[WorkspaceCopy] | None = None
        self.idle: asyncio.TimerHandle | None = None
        self.opened = 0.0


class SandboxPool:
    """`spec` reads the configuration, for each new sandbox."""

    def __init__(self, sandbox: Sandbox, spec: Callable[[], SandboxSpec]) -> None:
        self.sandbox = sandbox
        self._spec = spec
        self._places: dict[str, _Place] = {}
        self._swept: asyncio.Task[Sequence[str]] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def spec(self) -> SandboxSpec:
        return self._spec()

    async def sweep(self) -> Sequence[str]:
        """Once: remove what an earlier process left. Every sandbox of ours is made after it."""
        first = self._swept is None
        if self._swept is None:
            self._swept = asyncio.create_task(self._sweep(), name="sweep-sandboxes")
        found = await asyncio.shield(self._swept)
        return found if first else []

    @asynccontextmanager
    async def use(self, root: WorkspaceRoot, network: NetworkAccess) -> AsyncIterator[WorkspaceCopy]:
        """The workspace's copy, for one command at a time. If that fails or is cancelled, the sandbox is removed."""
        place = self._places.get(root.path) or self._add(root.path)
        async with place.lock:
            if place.idle is not None:
                place.idle.cancel()
            try:
                if place.copy is not None and time.monotonic() - place.opened > self.spec.ttl / 2:
                    await self._discard(place)  # so that each command has half of `ttl` at least
                if place.copy is None:
                    place.opened = time.monotonic()
                    place.copy = await self._prepared(place, root, network)
                yield place.copy
            except BaseException:
                await run_to_completion(self._discard(place))
                raise
            place.idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._expire, root.path)

    async def fresh(self, root: WorkspaceRoot, network: NetworkAccess) -> WorkspaceCopy:
        """A sandbox of its own, for a command in the background. The caller closes its session."""
        return await self._prepare(root, network)

    async def release(self, workspace: str) -> None:
        """Remove the workspace's sandbox, unless a command runs there."""
        place = self._places.get(workspace)
        if place is not None and not place.lock.locked():
            async with place.lock:
                await run_to_completion(self._discard(place))

    async def close(self) -> None:
        for place in list(self._places.values()):
            await run_to_completion(self._discard(place))
        if self._closing:
            await asyncio.wait(self._closing)
        if self._swept is not None:
            with suppress(SandboxError, asyncio.CancelledError):
                await self._swept
        await self.sandbox.close()

    async def _sweep(self) -> Sequence[str]:
        try:
            found = await self.sandbox.sweep(self._spec())
        except SandboxError as error:
            log.warning("sandboxes that an earlier sidecar left end by themselves: %s", error.message)
            return []
        for name in found:
            log.info("removed %s, which an earlier sidecar left", name)
        return found

    def _add(self, workspace: str) -> _Place:
        if len(self._places) >= _MAX_SANDBOXES:
            free = next((name for name, each in self._places.items() if not each.lock.locked()), None)
            if free is None:
                raise SandboxError(f"{_MAX_SANDBOXES} sandboxes are at work. Try again when one of them is free.")
            self._expire(free)
        self._places[workspace] = place = _Place()
        return place

    def _expire(self, workspace: str) -> None:
        place = self._places.get(workspace)
        if place is not None and not place.lock.locked():
            del self._places[workspace]
            closing = asyncio.create_task(self._discard(place), name="close-sandbox")
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _discard(self, place: _Place) -> None:
        if place.idle is not None:
            place.idle.cancel()
        if place.preparing is not None:
            place.preparing.cancel()
            await asyncio.wait([place.preparing])
            place.preparing = None
        if place.copy is not None:
            copy, place.copy = place.copy, None
            await copy.session.close()

    async def _prepared(self, place: _Place, root: WorkspaceRoot, network: NetworkAccess) -> WorkspaceCopy:
        place.preparing = asyncio.create_task(self._prepare(root, network), name="prepare-sandbox")
        # After a cancel, `_discard` ends the preparation and waits until its sandbox is removed.
        copy = await asyncio.shield(place.preparing)
        place.preparing = None
        return copy

    async def _prepare(self, root: WorkspaceRoot, network: NetworkAccess) -> WorkspaceCopy:
        await self.sweep()
        spec = self._spec()
        session = await self.sandbox.open(spec)
        try:
            async with asyncio.timeout(_PREPARE_SECONDS):
                copy = WorkspaceCopy(root, session)
                await copy.prepare()
                if spec.repository:
                    await _clone(session, spec, brokered=self.sandbox.tier == "container")
                    await copy.adopt()
                await copy.send()
                for command in spec.preinstall:
                    # It runs programs of the workspace, so it reaches what the workspace's commands may.
                    await _install(session, command, spec, network)
                if spec.preinstall:
                    await copy.adopt()
                return copy
        except TimeoutError as error:
            await session.close()
            raise SandboxError(f"Preparing {session.name} took longer than {_PREPARE_SECONDS:g} s.") from error
        except BaseException:
            await run_to_completion(session.close())
            raise


async def _clone(session: SandboxSession, spec: SandboxSpec, *, brokered: bool) -> None:
    url = urlsplit(spec.repository)
    host = url.hostname or ""
    # The broker adds a secret to plain HTTP, and sends it on as HTTPS. Elsewhere plain HTTP would stay plain.
    named = url._replace(scheme="http").geturl() if brokered and host in spec.secrets else spec.repository
    argv = ["/bin/sh", "-c", _CLONE, "sh", named, spec.branch]
    await _must_work(session, argv, spec, NetworkAccess((host,)), f"{spec.repository} can't be cloned")


async def _install(session: SandboxSession, command: str, spec: SandboxSpec, network: NetworkAccess) -> None:
    await _must_work(session, ["/bin/sh", "-c", command], spec, network, f"`{command}` of sandbox.toml failed")


async def _must_work(
    session: SandboxSession, argv: Sequence[str], spec: SandboxSpec, network: NetworkAccess, what: str
) -> None:
    said = bytearray()

    def listen(stream: int, data: bytes) -> None:
        said.extend(data)
        del said[:-_SAID]

    code = await session.run(argv, environment=spec.environment, output=listen, network=network)
    if code:
        raise SandboxError(f"{what} (exit code {code}): {said.decode('utf-8', 'replace').strip()[-1_000:]}")
