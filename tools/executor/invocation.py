"""Runs a tool on a backend: bounded in time, retried where that is safe, cached while nothing changed."""

import asyncio
import random
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from sidecar.cache import Caches, Stamp
from sidecar.telemetry.redaction import Redactor
from sidecar.wire.events import ToolOutputEvent
from tools.backend import Backend
from tools.errors import TimedOut, ToolError
from tools.executor.context import CallContext
from tools.lease import check_lease
from tools.ledger import Ledger
from tools.spec import ToolResult

T = TypeVar("T")

_ATTEMPTS = 3
_PAUSE = 0.05
#: Extra seconds for a tool that keeps its own time limit to answer before it is cut off.
_MARGIN = 5.0


_INTERVAL = 1 / 30
_SIZE = 8 * 1024


class LiveOutput:
    def __init__(self, ledger: Ledger, call_id: str, redact: Redactor | None = None) -> None:
        self._ledger = ledger
        self._call_id = call_id
        self._redact = redact or Redactor()
        self._texts: dict[str, list[str]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, stream: str, text: str) -> None:
        parts = self._texts.setdefault(stream, [])
        parts.append(text[-_SIZE:])
        if len(parts) > 64:
            parts[:] = ["".join(parts)[-_SIZE:]]
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._tick)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flush(last=True)

    def _tick(self) -> None:
        self._timer = None
        if self._texts:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._tick)

    def _flush(self, *, last: bool = False) -> None:
        texts, self._texts = self._texts, {}
        for stream, parts in texts.items():
            text = "".join(parts)[-_SIZE:]
            end = len(text) if last else self._redact.open_end(text)
            if end < len(text):
                self._texts[stream] = [text[end:]]  # it may be the start of a secret, so wait for the rest
            if end:
                shown = self._redact(text[:end])
                self._ledger.live(
                    ToolOutputEvent(
                        call_id=self._call_id, stream="stderr" if stream == "stderr" else "stdout", text=shown
                    )
                )


@dataclass(slots=True, eq=False)
class _Limit:
    task: asyncio.Task[Any]
    until: float
    #: How often the task had been cancelled before the limit was set.
    cancelled: int
    overdue: bool = False


class Deadlines:
    """Time limits for many short pieces of work with a single timer.

    `asyncio.timeout` sets and cancels a timer for each, which costs more than most reads.
    """

    def __init__(self) -> None:
        self._limits: set[_Limit] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def within(self, seconds: float, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`; raise `TimeoutError` if it takes longer. A cancel from outside stays a cancel."""
        limit = self._limit(seconds)
        try:
            return await work
        except asyncio.CancelledError:
            if limit.overdue and limit.task.cancelling() - 1 <= limit.cancelled:
                raise TimeoutError from None
            raise
        finally:
            self._limits.discard(limit)
            if limit.overdue:
                limit.task.uncancel()

    def _limit(self, seconds: float) -> _Limit:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        limit = _Limit(task, loop.time() + seconds, task.cancelling())
        self._limits.add(limit)
        if self._timer is None or limit.until < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(limit.until, self._expire)
        return limit

    def _expire(self) -> None:
        loop = asyncio.get_running_loop()
        open_limits = [limit for limit in self._limits if not limit.overdue]
        for limit in open_limits:
            if limit.until <= loop.time():
                limit.overdue = True
                limit.task.cancel()
        later = [limit.until for limit in open_limits if not limit.overdue]
        self._timer = loop.call_at(min(later), self._expire) if later else None


class Invoker:
    def __init__(self, caches: Caches | None) -> None:
        self._caches = caches
        self._deadlines = Deadlines()

    async def bounded(self, context: CallContext, work: Coroutine[Any, Any, T]) -> T:
        """Await a tool's work within the call's time limit; every failure becomes a `ToolError`."""
        limit = context.time_limit
        try:
            return await self._deadlines.within(limit + _MARGIN, work)
        except TimeoutError as error:
            message = f"{context.spec.name} took longer than {limit:g} s and was stopped."
            raise TimedOut(message, advice="Ask for less, or allow more time.") from error
        except (ToolError, asyncio.CancelledError):
            raise
        except Exception as error:
            message = f"{context.spec.name} failed unexpectedly: {error!r}."
            raise ToolError(message, advice="Try something else.", code="internal_error") from error

    async def run(self, context: CallContext, backend: Backend) -> ToolResult:
        """Run the tool; retry transient failures of tools that allow it."""
        attempt = 1
        while True:
            output = LiveOutput(context.ledger, context.call.id, context.redact)
            try:
                if context.spec.effects != "none":
                    check_lease()
                work = backend.run(context.tool, context.call.args, context.tool_call(), output)
                return await self.bounded(context, work)
            except ToolError as error:
                if not (context.spec.retryable and error.transient) or attempt == _ATTEMPTS:
                    raise
            finally:
                output.close()
            await asyncio.sleep(_PAUSE * 4 ** (attempt - 1) * random.uniform(0.5, 1.0))  # noqa: S311 not a secret
            attempt += 1

    def cached(self, context: CallContext, backend: Backend) -> ToolResult | None:
        """An earlier result of the same call, if every file it was read from is unchanged."""
        if self._caches is None or context.spec.cache is None or backend.name != "local":
            return None
        result = self._caches.get(context.spec.cache, _key(context))
        return result if isinstance(result, ToolResult) else None

    def store(self, context: CallContext, backend: Backend, result: ToolResult) -> None:
        if self._caches is None or context.spec.cache is None or backend.name != "local" or not result.sources:
            return
        size = len(result.content) + sum(len(source.content or b"") for source in result.sources)
        stamps = []
        for info, _ in result.sources:
            path = info.path if info.path.startswith("/") else f"{context.workspace}/{info.path}"
            stamps.append((path, Stamp(info.size, info.mtime_ns, info.inode, info.ctime_ns)))
        self._caches.put(context.spec.cache, _key(context), result, size, stamps)


def _key(context: CallContext) -> tuple[str, str, str]:
    return context.workspace, context.spec.name, context.args.model_dump_json()
