"""What one task's calls know of each other: which files were read, as they were then, and which commands still run."""

from collections import OrderedDict
from dataclasses import dataclass, field

from pydantic import JsonValue

from tools.executor.command_changes import ChangeWindow
from tools.ledger import digest
from tools.spec import ToolResult

_FILES = 2_000
_BYTES = 16 * 1024 * 1024
_SHOWN_LINES = 60


@dataclass(slots=True)
class Session:
    """One for each ledger; bounded, so that a long task does not grow it."""

    #: Commands in the background, each with its workspace.
    commands: dict[str, str] = field(default_factory=dict)
    #: Those of them whose effect on files is still to be seen.
    windows: dict[str, ChangeWindow] = field(default_factory=dict)
    #: Contents that the ledger keeps already, and the last list of files that names them.
    kept: set[str] = field(default_factory=set)
    scan: str | None = None
    _hashes: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _contents: OrderedDict[str, bytes] = field(default_factory=OrderedDict)
    _size: int = 0

    def saw(self, path: str, content: bytes | None) -> None:
        """The agent knows this content of a file; `None` is that there is none."""
        if content is None:
            self._hashes.pop(path, None)
            return
        name = digest(content)
        self._remember(path, name)
        if name not in self._contents and len(content) <= _BYTES // 8:
            self._contents[name] = content
            self._size += len(content)
        while self._size > _BYTES:
            self._size -= len(self._contents.popitem(last=False)[1])

    def learn(self, result: ToolResult, workspace: str) -> None:
        for source in result.sources:
            if source.content is not None:
                self.saw(source.info.path, source.content)
        if not result.sources:
            self.recall(result.details)
        if isinstance(result.details, dict) and isinstance(command_id := result.details.get("commandId"), str):
            self.commands[command_id] = workspace

    def recall(self, details: JsonValue) -> None:
        """From a result of another backend, or of an earlier process: the hashes that it names."""
        if not isinstance(details, dict):
            return
        files = details.get("files")
        for entry in (details, *(files if isinstance(files, list) else ())):
            if isinstance(entry, dict):
                path, name = entry.get("path"), entry.get("hash")
                if isinstance(path, str) and isinstance(name, str):
                    self._remember(path, name)

    def unseen(self, path: str, now: bytes | None) -> str | None:
        """What changed in a file since the agent read it, in words and lines; nothing if it may be overwritten."""
        known = self._hashes.get(path)
        if known is None or (now is not None and digest(now) == known):
            return None
        if now is None:
            return f"{path} was deleted since you read it."
        old = self._contents.get(known)
        if old is None:
            return f"{path} changed since you read it."
        import difflib

        lines = difflib.unified_diff(_lines(old), _lines(now), "as you read it", "as it is now", n=1, lineterm="")
        shown = [line for _, line in zip(range(_SHOWN_LINES), lines, strict=False)]
        return "\n".join([f"{path} changed since you read it:", *shown])

    def _remember(self, path: str, name: str) -> None:
        self._hashes[path] = name
        self._hashes.move_to_end(path)
        while len(self._hashes) > _FILES:
            self._hashes.popitem(last=False)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()
