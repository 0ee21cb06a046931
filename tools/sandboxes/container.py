"""Containers as sandboxes: without network, and with a socket to a broker of their own."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from secrets import token_hex

from tools.sandboxes.broker import Broker
from tools.sandboxes.engine import ContainerEngine, find_socket
from tools.sandboxes.port import (
    NO_NETWORK,
    NetworkAccess,
    SandboxError,
    SandboxOutput,
    SandboxSession,
    SandboxSpec,
    inside,
)
from tools.shield import run_to_completion

log = logging.getLogger(__name__)

_LABEL = "rainy-brain"
_WORKSPACE = "/workspace"
_EXCHANGE = "/brain"
_SOCKET = "/brain.socket"
_PROCESSES = 4_096
#: What package managers need; none of it reaches out of the container.
_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]
#: Everything but the first process, which only waits for the end of `ttl`.
_END_ALL = ["/bin/sh", "-c", "kill -9 -1"]
_NONE = "There is no socket of Docker or Podman. Start one of them, or name its `socket` in sandbox.toml."


class Containers:
    """`mark` tells the containers of this data directory from others."""

    tier = "container"

    def __init__(self, mark: str, secret: Callable[[str], str | None]) -> None:
        self._mark = mark
        self._secret = secret
        self._engine: ContainerEngine | None = None

    async def open(self, spec: SandboxSpec) -> SandboxSession:
        if problem := await self.check(spec):
            raise SandboxError(problem)
        engine, broker = self._connect(spec), Broker(spec.secrets, self._secret)
        await broker.start()
        session = _Container(engine, broker, f"{_LABEL}-{token_hex(6)}")
        try:
            # Not interrupted, so that `close` finds what the engine made.
            settings = self._settings(spec, broker.path)
            await run_to_completion(engine.call("POST", "/containers/create", settings, name=session.id))
            await engine.call("POST", f"/containers/{session.id}/start")
            await session.run(["/bin/mkdir", "-p", _WORKSPACE, _EXCHANGE], cwd="/", environment={}, output=_ignore)
        except BaseException:
            await session.close()
            raise
        return session

    async def check(self, spec: SandboxSpec) -> str:
        if find_socket(spec.socket) is None:
            return _NONE
        if not spec.template:
            return "Name an image as `template` in sandbox.toml."
        try:
            found = await self._connect(spec).call("GET", f"/images/{spec.template}/json", missing={})
        except SandboxError as error:
            return error.message
        return "" if found else f"The image {spec.template} isn't there. Pull it; nothing is downloaded by itself."

    async def sweep(self, spec: SandboxSpec) -> Sequence[str]:
        if find_socket(spec.socket) is None:
            return []
        engine = self._connect(spec)
        label = f'{{"label": ["{_LABEL}={self._mark}"]}}'
        found = await engine.call("GET", "/containers/json", all="true", filters=label)
        for each in found:
            with suppress(SandboxError):
                await engine.call("DELETE", f"/containers/{each['Id']}", missing={}, force="true")
        return [f"container {each['Names'][0].lstrip('/')}" for each in found]

    async def close(self) -> None:
        if self._engine is not None:
            await self._engine.close()

    def _connect(self, spec: SandboxSpec) -> ContainerEngine:
        if self._engine is None:
            socket = find_socket(spec.socket)
            if socket is None:
                raise SandboxError(_NONE)
            self._engine = ContainerEngine(socket)
        return self._engine

    def _settings(self, spec: SandboxSpec, socket: str) -> dict[str, object]:
        limits: dict[str, object] = {
            "AutoRemove": True,
            "NetworkMode": "none",
            "Binds": [f"{socket}:{_SOCKET}"],
            "CapDrop": ["ALL"],
            "CapAdd": _CAPABILITIES,
            "SecurityOpt": ["no-new-privileges"],
            "PidsLimit": _PROCESSES,
        }
        return {
            "Image": spec.template,
            "Entrypoint": ["/bin/sleep"],
            "Cmd": [str(spec.ttl)],
            "Labels": {_LABEL: self._mark},
            "HostConfig": limits,
        }


class _Container:
    workspace = _WORKSPACE
    exchange = _EXCHANGE

    def __init__(self, engine: ContainerEngine, broker: Broker, identity: str) -> None:
        self.name = f"container {identity}"
        self.id = identity
        self._engine = engine
        self._broker = broker
        self._closed = False

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        environment: Mapping[str, str],
        output: SandboxOutput,
        network: NetworkAccess = NO_NETWORK,
    ) -> int:
        place = inside(_WORKSPACE, cwd)
        if not (network.hosts or network.anywhere):
            code = await self._engine.run(self.id, argv, place, environment, output)
        else:
            proxy = self._broker.allow(network)
            async with self._relay():
                code = await self._engine.run(self.id, argv, place, {**environment, **proxy}, output)
        await self._end_all()
        return code

    @asynccontextmanager
    async def _relay(self) -> AsyncIterator[None]:
        ready, said = asyncio.Event(), bytearray()

        def listen(stream: int, data: bytes) -> None:
            said.extend(data[:500])
            ready.set()

        relay = asyncio.ensure_future(self._engine.run(self.id, self._broker.relay(_SOCKET), "/", {}, listen))
        relay.add_done_callback(lambda done: ready.set())
        try:
            await ready.wait()
            if not said.startswith(b"ready"):
                why = said.decode("utf-8", "replace").strip()
                raise SandboxError(f"To reach hosts, the image needs perl or python3. {why}")
            yield
        finally:
            relay.cancel()
            self._broker.allow(NO_NETWORK)
            await asyncio.wait([relay])

    async def _end_all(self) -> None:
        await self._engine.run(self.id, _END_ALL, "/", {}, _ignore)

    async def write(self, name: str, content: bytes) -> None:
        await self._engine.put_file(self.id, _EXCHANGE, name, content)

    async def read(self, name: str, limit: int) -> bytes:
        return await self._engine.get_file(self.id, f"{_EXCHANGE}/{name}", limit)

    async def close(self) -> None:
        if self._closed:
            return
        self._broker.close()
        try:
            await self._engine.call("DELETE", f"/containers/{self.id}", missing={}, force="true")
            self._closed = True
        except SandboxError as error:
            log.warning("%s can't be removed now; it ends by itself: %s", self.name, error.message)


def _ignore(stream: int, data: bytes) -> None:
    pass
