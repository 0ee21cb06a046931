"""The backend port: where a tool call runs (this process, a desktop shell, an MCP server). The executor chooses."""

from collections.abc import Sequence
from typing import Protocol, TypeGuard

from sidecar.wire.base import JsonObject
from tools.host import Host, Killed
from tools.spec import AnyTool, Call, CallReview, Output, ToolResult


class Backend(Protocol):
    """`run` carries out a call that is validated, allowed and recorded; it raises `ToolError` on failure.

    The call id is the idempotency key: a backend answers a repeated id from its log. `remembers` says whether it
    can, which is how a call that a crash left open is resolved on a remote backend.
    """

    name: str

    def offers(self, tool: str, workspace: str) -> bool: ...

    def remembers(self, call_id: str) -> bool: ...

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult: ...


class HostBackend(Backend, Protocol):
    """A backend that exposes its host, so that the executor plans, records and applies file changes itself."""

    def host(self, workspace: str) -> Host: ...

    async def close(self) -> None:
        """End everything that still runs there."""


class RemoteBackend(Backend, Protocol):
    """A backend that connects and disconnects on its own."""

    async def returned(self, call_id: str, tool: str, workspace: str) -> bool:
        """Wait briefly for the shell that had this call before a restart; true if it is back and remembers it."""

    def covers(self, tool: str, workspace: str, paths: Sequence[str]) -> bool:
        """Whether an offered call is for the shell; reads of files without unsaved changes may not be."""

    async def refresh(self, tool: str, workspace: str, paths: Sequence[str]) -> None:
        """Before `covers`: ask an editor that doesn't report its unsaved changes about the files of a read."""

    async def save(self, workspace: str, paths: Sequence[str]) -> bool:
        """Have unsaved changes in these files saved, before a change of them is prepared; no paths: in all files.

        Whether there were any.
        """

    async def stop(self, command_id: str, workspace: str) -> Sequence[Killed]:
        """End a background command there."""


class ReviewingBackend(Backend, Protocol):
    """A backend whose tools may have changed since you accepted them."""

    async def review(self, tool: AnyTool, workspace: str, *, binding: bool = False) -> CallReview:
        """With `binding`, some time after the tool was found, and with a `subject`."""


# `isinstance` on a protocol checks every member, which is too slow for something asked several times a call.
def is_remote(backend: Backend) -> TypeGuard[RemoteBackend]:
    return hasattr(backend, "returned")


def reviews(backend: Backend) -> TypeGuard[ReviewingBackend]:
    return hasattr(backend, "review")


def has_host(backend: Backend) -> TypeGuard[HostBackend]:
    return hasattr(backend, "host")
