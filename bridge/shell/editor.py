"""The calls of a shell whose editor is asked for its files: they read what isn't saved yet, and save it."""

import asyncio
import logging
from collections.abc import Sequence

from bridge.shell.backend import CallAnswer, CallRunner
from bridge.shell.buffers import Buffers
from bridge.shell.open_files import NotSaved, OpenFiles
from sidecar.wire.base import ErrorBody, JsonObject
from sidecar.wire.bridge import OpenCall, ResultBody
from tools.builtin.read_file import ReadFile
from tools.builtin.read_files import ReadFiles
from tools.executor.registry import Registry

log = logging.getLogger(__name__)

TOOLS = ("read_file", "read_files", "save_file", "unsaved_files")
#: Files that the editor is asked for at the same time.
_TOGETHER = 8
#: By then the editor has reloaded a file that an agent changed.
_AFTER_CHANGE_SECONDS = 3.0


def editor_registry() -> Registry:
    return Registry([ReadFile(), ReadFiles()])


class EditorCallRunner:
    """In front of the shell's own runner, whose tools it gives the editor's text."""

    def __init__(self, reads: CallRunner, files: OpenFiles, buffers: Buffers) -> None:
        self._reads = reads
        self._files = files
        self._buffers = buffers
        self._limit = asyncio.Semaphore(_TOGETHER)
        self._reading = asyncio.Lock()
        self._later: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        for task in self._later:
            task.cancel()
        self._files.close()

    async def run(self, wanted: OpenCall) -> CallAnswer:
        try:
            async with asyncio.timeout(max(0.001, wanted.timeout_ms / 1000)):
                return await self._run(wanted)
        except NotSaved as error:
            return _failed("not_saved", f"{error}.")
        except TimeoutError:
            return _failed("timed_out", f"{wanted.tool} took too long in the editor.")
        except asyncio.CancelledError:
            return _failed("cancelled", "The call was cancelled.")
        except Exception:
            log.exception("%s failed", wanted.tool)
            return _failed("tool_failed", f"{wanted.tool} failed in the editor's shell.")

    async def _run(self, wanted: OpenCall) -> CallAnswer:
        paths = _paths(wanted.args)
        if wanted.tool == "save_file":
            await self._files.save(paths[0])
            return CallAnswer(ResultBody(content="Saved."), None, [])
        texts = await self._unsaved(paths)
        if wanted.tool == "unsaved_files":
            if wanted.args.get("change") is True:
                later = asyncio.create_task(self._look_later(paths))
                self._later.add(later)
                later.add_done_callback(self._later.discard)
            return CallAnswer(ResultBody(content="", details={"unsaved": [*texts]}), None, [])
        if not texts:
            return _failed("not_open", f"{', '.join(paths)} has no unsaved changes any more.")
        return await self._read(wanted, paths, texts)

    async def _unsaved(self, paths: Sequence[str]) -> dict[str, str]:
        async def ask(path: str) -> str | None:
            async with self._limit:
                return await self._files.unsaved(path)

        found = await asyncio.gather(*map(ask, paths))
        return {path: text for path, text in zip(paths, found, strict=True) if text is not None}

    async def _read(self, wanted: OpenCall, paths: Sequence[str], texts: dict[str, str]) -> CallAnswer:
        places = {path: path if path.startswith("/") else f"{wanted.workspace}/{path}" for path in paths}
        async with self._reading:  # each call sees what the editor has now
            for path, text in texts.items():
                self._buffers.put(places[path], text.encode("utf-8", "replace"))
            try:
                answer = await self._reads.run(wanted)
            finally:
                for path in texts:
                    self._buffers.drop(places[path])
        if answer.result is None:
            return answer
        note = f"({', '.join(texts)}: not saved yet; this is the text in the editor.)"
        result = answer.result
        details = {**(result.details if isinstance(result.details, dict) else {}), "unsaved": True}
        update = {
            "content": f"{result.content}\n{note}",
            "details": details,
            "summary": f"{result.summary}, not saved yet",
        }
        return answer._replace(result=result.model_copy(update=update))

    async def _look_later(self, paths: Sequence[str]) -> None:
        """After the change: once the editor has shown it, what you type on top of it can be saved."""
        await asyncio.sleep(_AFTER_CHANGE_SECONDS)
        await self._unsaved(paths)


def _paths(args: JsonObject) -> list[str]:
    path, paths = args.get("path"), args.get("paths")
    if isinstance(path, str):
        return [path]
    return [each for each in paths if isinstance(each, str)] if isinstance(paths, list) else []


def _failed(code: str, message: str) -> CallAnswer:
    return CallAnswer(None, ErrorBody(code=code, message=message), [])
