"""Where a call is carried out: in this process, or in a desktop shell. The executor chooses; the call does not know."""

from collections.abc import Sequence
from typing import Protocol, TypeGuard

from sidecar.wire.base import JsonObject
from tools.host import Host, Killed
from tools.spec import AnyTool, Call, Output, ToolResult


class Backend(Protocol):
    """`run` carries out a call that is validated, allowed and recorded, and raises `ToolError` where it cannot.

    A call's id is its idempotency key: a backend that is asked again for an id that it has carried out answers from its
    log. `remembers` says whether it can, which is how a call that a crash left open is settled on a remote backend.
    """

    name: str

    def offers(self, tool: str, workspace: str) -> bool: ...

    def remembers(self, call_id: str) -> bool: ...

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult: ...


class HostBackend(Backend, Protocol):
    """A backend that hands out its host: the executor then plans, records and applies a file change itself."""

    def host(self, workspace: str) -> Host: ...

    async def close(self) -> None:
        """Ends everything that still runs there."""


class RemoteBackend(Backend, Protocol):
    """A backend that comes and goes by itself."""

    async def returned(self, call_id: str, tool: str, workspace: str) -> bool:
        """Waits a moment for whoever was sent this call before a restart; whether they are back, and remember it."""

    async def stop(self, command_id: str, workspace: str) -> Sequence[Killed]:
        """Ends a command in the background there."""


def is_remote(backend: Backend) -> TypeGuard[RemoteBackend]:
    return hasattr(backend, "returned")


def has_host(backend: Backend) -> TypeGuard[HostBackend]:
    # A protocol's own check looks at every member, which is felt where it is asked several times a call.
    return hasattr(backend, "host")
