"""The backend port: where a tool call runs (this process, a desktop shell, an MCP server). The executor chooses."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeGuard, cast

from sidecar.wire.base import JsonObject
from tools.host import Host, Killed
from tools.spec import AnyTool, Call, CallReview, Output, Tool, ToolResult


class Backend(Protocol):
    """`run` carries out a call that is validated, allowed and recorded; it raises `ToolError` on failure.

    The call id is the idempotency key: a backend answers a repeated id from its log. `remembers` says whether it
    can, which is how a call that a crash left open is resolved on a remote backend.
    """

    name: str

    def offers(self, tool: str, workspace: str) -> bool: ...

    def remembers(self, call_id: str) -> bool: ...

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult: ...


class OwnTools(ABC):
    """Tools that this process runs itself and that ask nothing of a host: their source, and their backend."""

    name = "local"

    @abstractmethod
    def load(self) -> Mapping[str, Tool[Any]]: ...

    # -- as a source of tools ----------------------------------------------------------------------------------------

    def find(self, name: str, workspace: str, conversation: str = "") -> AnyTool | None:
        return self.load().get(name)

    def tools(self, workspace: str, conversation: str = "") -> Sequence[AnyTool]:
        return list(self.load().values())

    async def prepare(self, name: str, workspace: str, conversation: str = "") -> None:
        return None

    def start(self, workspace: str) -> None:
        return None

    # -- as a backend ------------------------------------------------------------------------------------------------

    def offers(self, tool: str, workspace: str) -> bool:
        return tool in self.load()

    def remembers(self, call_id: str) -> bool:
        return False

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        own, no_host = cast("Tool[Any]", tool), cast("Host", None)
        return await own.run(tool.spec.arguments.model_validate(args), no_host, call, output)


class HostBackend(Backend, Protocol):
    """A backend that exposes its host, so that the executor plans, records and applies file changes itself."""

    def host(self, workspace: str) -> Host: ...

    async def close(self) -> None:
        """End everything that still runs there."""


class RemoteBackend(Backend, Protocol):
    """A backend that connects and disconnects on its own."""

    def session(self, tool: str, workspace: str) -> str | None:
        """The session of the shell that this call would go to."""

    async def returned(self, call_id: str, tool: str, workspace: str, session: str | None) -> bool:
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
