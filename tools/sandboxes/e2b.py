"""Machines of E2B as sandboxes, by its SDK. Its own proxy adds secrets to requests, outside of the machine."""

import logging
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tools.host import EnoughOutput
from tools.sandboxes.broker import fill_in
from tools.sandboxes.port import (
    NO_NETWORK,
    NetworkAccess,
    SandboxError,
    SandboxOutput,
    SandboxSession,
    SandboxSpec,
    SecretRule,
    inside,
    too_long,
)
from tools.shield import run_to_completion

if TYPE_CHECKING:
    from e2b import AsyncSandbox

log = logging.getLogger(__name__)

_LABEL = "rainy-brain"
_HOME = "/home/user"
_EVERYWHERE = "0.0.0.0/0"
_KEY = "E2B_API_KEY"
#: All processes of the machine's user; the daemon that runs commands is another's.
_END_ALL = "exec /bin/sh -c 'kill -9 -1'"


class E2bMachines:
    tier = "e2b"

    def __init__(self, mark: str, secret: Callable[[str], str | None]) -> None:
        self._mark = mark
        self._secret = secret

    async def open(self, spec: SandboxSpec) -> SandboxSession:
        if problem := await self.check(spec):
            raise SandboxError(problem)
        from e2b import AsyncSandbox

        with _Errors():
            # Not interrupted, so that no forgotten machine is left running.
            made = await run_to_completion(
                AsyncSandbox.create(
                    template=spec.template or None,
                    timeout=spec.ttl,
                    metadata={_LABEL: self._mark},
                    network={"deny_out": [_EVERYWHERE]},
                    api_key=self._secret(_KEY),
                )
            )
        session = _Machine(made, spec.secrets, self._secret)
        try:
            places = [session.workspace, session.exchange]
            await session.run(["/bin/mkdir", "-p", *places], cwd="/", environment={}, output=lambda stream, data: None)
        except BaseException:
            await session.close()
            raise
        return session

    async def check(self, spec: SandboxSpec) -> str:
        if find_spec("e2b") is None:
            return "E2B needs a package: pip install 'rainy-brain[e2b]'"
        return "" if self._secret(_KEY) else "Store the key of E2B: brain keys set e2b"

    async def sweep(self, spec: SandboxSpec) -> Sequence[str]:
        key = self._secret(_KEY)
        if find_spec("e2b") is None or not key:
            return []
        from e2b import AsyncSandbox, SandboxQuery

        removed: list[str] = []
        with _Errors():
            pages = AsyncSandbox.list(query=SandboxQuery(metadata={_LABEL: self._mark}), api_key=key)
            while pages.has_next:
                for each in await pages.next_items():
                    await AsyncSandbox.kill(each.sandbox_id, api_key=key)
                    removed.append(f"machine {each.sandbox_id} of E2B")
        return removed

    async def close(self) -> None:
        pass


class _Machine:
    workspace = f"{_HOME}/workspace"
    exchange = f"{_HOME}/.brain"

    def __init__(
        self, machine: "AsyncSandbox", rules: Mapping[str, SecretRule], secret: Callable[[str], str | None]
    ) -> None:
        self.name = f"machine {machine.sandbox_id} of E2B"
        self._machine = machine
        self._rules = rules
        self._secret = secret
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
        from e2b import CommandExitException

        place = inside(self.workspace, cwd)
        reaches = bool(network.hosts or network.anywhere)
        with _Errors():
            if reaches:
                await self._machine.update_network(self._egress(network))
            try:
                done = await self._machine.commands.run(
                    f"exec {shlex.join(argv)}",
                    envs=dict(environment),
                    cwd=place,
                    on_stdout=lambda text: output(1, text.encode()),
                    on_stderr=lambda text: output(2, text.encode()),
                    timeout=0,
                    retain_output=False,
                )
                code = done.exit_code
            except CommandExitException as error:
                code = error.exit_code
            if reaches:
                await self._machine.update_network({"deny_out": [_EVERYWHERE]})
            with suppress(CommandExitException):
                await self._machine.commands.run(_END_ALL, timeout=30)
        return int(code)

    async def write(self, name: str, content: bytes) -> None:
        with _Errors():
            await self._machine.files.write(f"{self.exchange}/{name}", content)

    async def read(self, name: str, limit: int) -> bytes:
        with _Errors():
            place = f"{self.exchange}/{name}"
            if (await self._machine.files.get_info(place)).size > limit:
                raise too_long(limit)
            return bytes(await self._machine.files.read(place, format="bytes"))

    async def close(self) -> None:
        # Twice: a cancelled command can break the connection that the first request takes.
        for attempt in range(2):
            if self._closed:
                return
            try:
                with _Errors():
                    await self._machine.kill()
                    self._closed = True
            except SandboxError as error:
                if attempt:
                    log.warning("%s can't be removed now; it ends by itself: %s", self.name, error.message)

    def _egress(self, network: NetworkAccess) -> Any:
        reached = [_EVERYWHERE] if network.anywhere else list(network.hosts)
        rules = {
            name: [{"transform": {"headers": {rule.header: fill_in(rule.value, self._secret)}}}]
            for name, rule in self._rules.items()
            if network.anywhere or name in network.hosts
        }
        denied = {} if network.anywhere else {"deny_out": [_EVERYWHERE]}
        return {"allow_out": reached, "rules": rules, **denied}


class _Errors:
    """Everything that the SDK raises becomes a `SandboxError`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, SandboxError | EnoughOutput):
            raise SandboxError(f"E2B: {type(error).__name__}: {str(error)[:500]}") from error
