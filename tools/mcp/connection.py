"""One server of one workspace: started when first needed, watched while we wait for it, restarted with back-off.

The SDK's client must be entered and left by the same task, so one task owns it. Others only send requests through it.
"""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sidecar import __version__
from sidecar.telemetry.correlation import HEADER, current_header
from tools.errors import ToolError, Unconfirmed
from tools.mcp.entry import ServerEntry
from tools.mcp.failures import describe_error, download_hint, sandbox_hint, telling_lines
from tools.mcp.listing import MAX_TOOLS, Listing, clean, make_listing
from tools.mcp.peer import SILENT_SECONDS, Liveness, Opening, Peer

if TYPE_CHECKING:
    from mcp import Client, MCPError

log = logging.getLogger(__name__)
T = TypeVar("T")

Asker = Callable[[Any], Awaitable[Any]]
State = Literal["stopped", "starting", "ready", "failed"]

#: Even one that is at work must be ready after this time.
START_SECONDS = 30.0
_LOOK_SECONDS = 0.25
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
#: After this time without a failure, the next one counts as the first again.
_STABLE_SECONDS = 30.0
_IDLE_SECONDS = 900.0
#: A listing older than this is read again before a call.
_LISTING_SECONDS = 60.0
_MAX_PAGES = 50
_REQUEST_SECONDS = 10.0


class ServerFailed(ToolError):
    """The server isn't there. Nothing was sent to it."""

    code = "mcp_server_failed"


class ServerConnection:
    """`open_transport` prepares one attempt to reach the server."""

    def __init__(self, entry: ServerEntry, open_transport: Callable[[], Awaitable[Opening]]) -> None:
        self.entry = entry
        self.state: State = "stopped"
        self.error = ""
        self.listing: Listing | None = None
        self._open_transport = open_transport
        self._client: Client | None = None
        #: The SDK's own, once it is loaded.
        self._errors: tuple[type[MCPError], ...] = ()
        self._peer: Peer | None = None
        self._owner: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._closing = asyncio.Event()
        self._stale = True
        self._listed_at = 0.0
        self._failures = 0
        self._retry_at = 0.0
        self._ready_at = 0.0
        self._used_at = 0.0
        #: Who answers the questions of the server, for each open call.
        self._askers: list[Asker] = []
        #: Counts open questions on behalf of the server; meanwhile the time limits are paused.
        self._asking = 0
        self._loading = False
        #: Why we gave it up; empty while it is in order.
        self._hung = ""
        self._idle: asyncio.TimerHandle | None = None
        self._requests: set[_Request] = set()
        self._look: asyncio.TimerHandle | None = None
        self._relisting = asyncio.Lock()

    # -- life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start it in the background, unless it runs or has just failed."""
        if (self.state in ("starting", "ready") and not self._hung) or time.monotonic() < self._retry_at:
            return
        self.state, self._closing, self._client = "starting", asyncio.Event(), None
        self._ready = asyncio.get_running_loop().create_future()
        self._ready.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._owner = asyncio.create_task(self._own(self._ready, self._owner), name=f"mcp-{self.entry.name}")

    async def connect(self) -> "Client":
        """Raises `ServerFailed` once the server has failed, or shows no sign of life."""
        if self._client is None:
            left = self._retry_at - time.monotonic()
            if self.state == "failed" and 0 < left <= SILENT_SECONDS:
                await asyncio.sleep(left)
            self.start()
            if self.state == "failed" or self._ready is None:
                pause = max(1, round(self._retry_at - time.monotonic()))
                raise self._failed(f"{self.error} It is tried again in {pause} s.")
            await self._watch(asyncio.shield(self._ready), START_SECONDS)
        if self._client is None:
            raise self._failed(self.error or "It ended.")
        return self._client

    async def close(self) -> None:
        self._closing.set()
        if self._idle is not None:
            self._idle.cancel()
        if self._owner is not None:
            await asyncio.wait((self._owner,))

    async def _own(self, ready: "asyncio.Future[None]", earlier: asyncio.Task[None] | None) -> None:
        """From the start to the end of one attempt, which waits for the end of the earlier one."""
        if earlier is not None:
            await asyncio.wait((earlier,))
        closing, over = self._closing, False
        self._hung = ""
        try:
            async with AsyncExitStack() as stack:
                client = await self._enter(stack)
                self.listing = await self._read_listing(client)
                stack.push_async_callback(self._stop_listening)
                self._listening = asyncio.create_task(self._listen(client), name=f"mcp-{self.entry.name}-changes")
                self._client, self.state, self.error, self._ready_at = client, "ready", "", time.monotonic()
                ready.set_result(None)
                self._used_at = time.monotonic()
                self._stop_if_idle()
                await self._ended(closing)
                # From here on a new attempt may begin, which this one must not disturb.
                self._client, over = None, True
                if closing.is_set() and not self._hung:
                    self.state = "stopped"
                else:
                    self._note_failure(self._hung or "It ended by itself.")
        except Exception as error:
            if not over:
                self._client = None
                self._note_failure(describe_error(error, self.entry, START_SECONDS))
        finally:
            if not ready.done():
                ready.set_exception(self._failed(self.error or "It was stopped."))

    async def _enter(self, stack: AsyncExitStack) -> "Client":
        self._loading = True
        try:
            # Importing takes a second, so not on the event loop's thread.
            make_client, self._errors, options = await asyncio.to_thread(_load)
            opening = await self._open_transport()
        finally:
            self._loading = False
        self._peer = opening.peer
        client: Client = make_client(
            opening.streams,
            cache=None,
            read_timeout_seconds=_REQUEST_SECONDS,
            message_handler=self._on_message,
            elicitation_callback=self._asked,
            list_roots_callback=self._roots,
            **options,
        )
        async with asyncio.timeout(START_SECONDS):
            await stack.enter_async_context(client)
        # The SDK would check results against a schema that the server chose, with regular expressions of its choice.
        client.session.validate_tool_result = _unchecked
        return client

    async def _ended(self, closing: asyncio.Event) -> None:
        waits = [asyncio.create_task(closing.wait())]
        if self._peer is not None:
            waits.append(asyncio.create_task(self._peer.ended.wait()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _note_failure(self, why: str) -> None:
        if closed := self._why_closed():
            why = closed
        elif self._peer is not None and (said := self._peer.error_output):
            shown = telling_lines(said)
            hint = sandbox_hint(self.entry.name, said, starting=True)
            why = " ".join(part for part in (why, f"It wrote: {shown}" if shown else "", hint) if part)
        stable = self._ready_at and time.monotonic() - self._ready_at > _STABLE_SECONDS
        self._failures = 1 if stable else self._failures + 1
        self._retry_at = time.monotonic() + min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self._failures - 1))
        self.state, self.error, self._stale = "failed", clean(why)[:1_000], True
        log.info("The MCP server %s failed: %s", self.entry.name, self.error)

    def _stop_if_idle(self) -> None:
        """Look again when it could have been idle for long enough; a timer for each call would cost more."""
        left = _IDLE_SECONDS if self._askers else self._used_at + _IDLE_SECONDS - time.monotonic()
        if left <= 0:
            self._closing.set()
            return
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(left, self._stop_if_idle)

    # -- requests ----------------------------------------------------------------------------------------------------

    @property
    def known_listing(self) -> Listing | None:
        """As `current_listing`, if there is nothing to wait for."""
        recent = not self._stale and time.monotonic() - self._listed_at <= _LISTING_SECONDS
        return self.listing if recent and self._client is not None else None

    async def current_listing(self, *, fresh: bool = False) -> Listing:
        """The tool set now: read again if asked, after the server said that it changed, and now and then."""
        client = await self.connect()
        if not fresh and (known := self.known_listing) is not None:
            return known
        asked = time.monotonic()
        async with self._relisting:
            if self.listing is None or self._stale or self._listed_at < asked:
                self.listing = await self._watch(self._read_listing(client), _REQUEST_SECONDS)
            return self.listing

    async def call(self, tool: str, args: dict[str, Any], timeout: float, progress: Any, asker: Asker) -> Any:
        """The server's `CallToolResult`. Raises `ServerFailed`, or `Unconfirmed` once the call is sent."""
        client = self._client or await self.connect()
        self._askers.append(asker)
        self._used_at = time.monotonic()
        try:
            header = current_header()
            meta = {HEADER: header} if header else None
            # `_watch` keeps the time limit: it is paused while you are asked something.
            work = client.call_tool(tool, args, read_timeout_seconds=math.inf, progress_callback=progress, meta=meta)
            return await self._watch(work, timeout, sent=True)
        except self._errors as error:
            if self._client is not client or error.error.code in _GONE_CODES:
                await asyncio.sleep(0)  # let the owner note why
                raise self._unconfirmed(self._why_closed() or "It went away during the call.") from error
            raise ToolError(f"{self.entry.name}: {clean(error.error.message)[:2_000]}", code="mcp_error") from error
        except (OSError, RuntimeError) as error:
            raise self._unconfirmed(describe_error(error, self.entry, START_SECONDS)) from error
        finally:
            self._askers.remove(asker)

    async def ask(self, request: "Callable[[Client], Awaitable[T]]") -> T:
        """The answer to a request that changes nothing. Raises `ServerFailed`, or `ToolError` for what it refuses."""
        client = await self.connect()
        self._used_at = time.monotonic()
        try:
            return await self._watch(request(client), _REQUEST_SECONDS)
        except self._errors as error:
            raise ToolError(f"{self.entry.name}: {clean(error.error.message)[:2_000]}", code="mcp_error") from error

    async def _watch(self, work: Awaitable[T], limit: float, *, sent: bool = False) -> T:
        """Await an answer while the server shows signs of life: it answers, writes, or uses the processor."""
        task = asyncio.current_task()
        assert task is not None
        request = _Request(task, limit, sent, time.monotonic(), task.cancelling())
        self._requests.add(request)
        if self._look is None:
            self._look = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look_after_requests)
        try:
            return await work
        except asyncio.CancelledError:
            if request.verdict is None or task.cancelling() - 1 > request.cancelled:
                raise
            raise request.verdict from None
        finally:
            self._requests.discard(request)
            if request.watch is not None:
                request.watch.cancel()
            if request.verdict is not None:
                task.uncancel()

    def _look_after_requests(self) -> None:
        """Begin to watch those that take long. One timer serves all: setting one for each costs every call."""
        self._look = None
        for request in self._requests:
            if request.watch is None:
                request.watch = asyncio.create_task(self._give_up_silent(request))
        if self._requests:
            self._look = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look_after_requests)

    async def _give_up_silent(self, request: "_Request") -> None:
        request.verdict = await self._await_silence(request.started, request.limit, sent=request.sent)
        request.task.cancel()

    async def _await_silence(self, started: float, limit: float, *, sent: bool) -> ToolError:
        """Return once the server hangs, with what to say about it."""
        life, deadline, before = Liveness(lambda: self._peer, started), started + limit, started
        probe: asyncio.Task[bool] | None = None
        try:
            while True:
                life.discount(time.monotonic() - before - _LOOK_SECONDS)
                if probe is not None and probe.done() and not probe.cancelled() and probe.result():
                    life.renew()
                    probe = None
                if self._asking or self._loading:
                    deadline = max(deadline, time.monotonic() + limit)
                    life.renew()
                elif time.monotonic() > deadline:
                    return self._silent(f"did not answer within {limit:g} s", sent=sent)
                else:
                    silent = await life.silent_seconds()
                    if sent and probe is None and silent > SILENT_SECONDS / 4 and self._client is not None:
                        probe = asyncio.create_task(self._probe(self._client))
                    if silent > SILENT_SECONDS and not (sent and self.entry.patient):
                        return self._silent(f"showed no sign of life for {SILENT_SECONDS:g} s", sent=sent)
                before = time.monotonic()
                if probe is not None and not probe.done():
                    await asyncio.wait((probe,), timeout=_LOOK_SECONDS)
                else:
                    await asyncio.sleep(_LOOK_SECONDS)
        finally:
            if probe is not None:
                probe.cancel()

    async def _probe(self, client: "Client") -> bool:
        """Whether the server answers at all."""
        try:
            if client.session.initialize_result is not None:
                await client.session.send_ping()
            else:
                await client.session.send_discover(client.protocol_version)
        except self._errors as error:
            return error.error.code not in _GONE_CODES
        except Exception:
            return False
        return True

    async def _read_listing(self, client: "Client") -> Listing:
        self._stale = False
        found: list[tuple[str, str, Any, bool]] = []
        problems: list[str] = []
        if client.server_capabilities.tools is not None:
            cursor: str | None = None
            for _ in range(_MAX_PAGES):
                page = await client.list_tools(cursor=cursor)
                for tool in page.tools:
                    hints = tool.annotations
                    claims = hints is not None and hints.read_only_hint is True
                    found.append((tool.name, tool.description or tool.title or "", tool.input_schema, claims))
                cursor = page.next_cursor
                if cursor is None or len(found) > MAX_TOOLS:
                    break
            else:
                problems.append(f"everything after {_MAX_PAGES} pages")
        self._listed_at = time.monotonic()
        return make_listing(self.entry.name, found, problems)

    async def _listen(self, client: "Client") -> None:
        """The newer protocol reports changes on a subscription; the older one sends them unasked."""
        if client.session.initialize_result is not None:
            return
        with suppress(Exception):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._stale = True

    async def _stop_listening(self) -> None:
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)

    # -- what the server sends ---------------------------------------------------------------------------------------

    async def _on_message(self, message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._stale = True

    async def _asked(self, context: Any, params: Any) -> Any:
        """The protocol doesn't say which call a question belongs to, so it is put to the newest."""
        from mcp_types import ElicitResult

        if not self._askers:
            return ElicitResult(action="decline")
        self._asking += 1
        try:
            return await self._askers[-1](params)
        finally:
            self._asking -= 1

    async def _roots(self, context: Any) -> Any:
        from pathlib import Path

        from mcp_types import ListRootsResult, Root

        workspace = Path(self.entry.workspace)
        return ListRootsResult(roots=[Root(uri=workspace.as_uri(), name=workspace.name)])

    # -- errors ------------------------------------------------------------------------------------------------------

    def _failed(self, why: str) -> ServerFailed:
        return ServerFailed(
            f"The MCP server {self.entry.name} is not available. {why}",
            advice="Go on without it; `brain mcp test` shows more.",
        )

    def _silent(self, what: str, *, sent: bool) -> ToolError:
        if not sent:
            return self._failed(" ".join(filter(None, (f"It {what}.", download_hint(self.entry)))))
        # Whatever it does now isn't awaited: the next call gets a new one.
        self._hung, self._client = f"It {what}.", None
        self._closing.set()
        hint = "" if self.entry.patient else " If its calls take long, give it a `timeout` in mcp.json."
        return self._unconfirmed(f"{self._hung}{hint}")

    def _why_closed(self) -> str:
        because = self._peer.closed_because if self._peer is not None else ""
        return f"We closed it: {because}." if because else ""

    def _unconfirmed(self, why: str) -> Unconfirmed:
        return Unconfirmed(f"The MCP server {self.entry.name} gave no result. {why}")


@dataclass(slots=True, eq=False)
class _Request:
    """One that waits for an answer. `verdict` says why we gave up."""

    task: asyncio.Task[Any]
    limit: float
    sent: bool
    started: float
    #: How often the task had been cancelled before.
    cancelled: int
    watch: asyncio.Task[None] | None = None
    verdict: ToolError | None = None


#: Codes of the SDK for a closed connection and a request that got no answer in time.
_GONE_CODES = frozenset({-32000, -32001})


async def _unchecked(name: str, result: Any) -> None:
    return None


def _load() -> tuple[Any, tuple[type[Any], ...], dict[str, Any]]:
    from mcp import MCPError
    from mcp_types import Implementation

    from tools.mcp.dispatcher import make_client

    return make_client, (MCPError,), {"client_info": Implementation(name="rainy-brain", version=__version__)}
