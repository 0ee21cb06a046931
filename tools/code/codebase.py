"""The source files of a workspace for the tools that change code: found with ripgrep, read through the host."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tools.code.finding import Refusal
from tools.code.project import Project
from tools.code.tree import PYTHON, SCRIPT, family_of
from tools.errors import FileMissing, TimedOut, ToolError
from tools.host import Host, OutputCollector
from tools.protected import protected_part
from tools.ripgrep import ripgrep
from tools.spec import Call

T = TypeVar("T")

#: A file larger than this is generated, and nobody's to rename in.
_SIZE = 1 << 20
_FILES = 4_000
#: How often a question may ask for files that were not read yet.
_ROUNDS = 12
_BROUGHT = ("node_modules", ".venv", "venv", "site-packages", "__pycache__", "dist", "build", "*.min.js", "*.d.ts")
#: Files that hand on names without writing them.
_STARS = r"^\s*from\s+\S+\s+import\s+\*|^\s*export\s+(type\s+)?\*\s+from"


class Codebase:
    def __init__(self, host: Host, call: Call, paths: Iterable[str]) -> None:
        self._host = host
        self._call = call
        self.project = Project(paths)
        self.contents: dict[str, bytes] = {}
        #: The files that hold the words that were asked for; the others are only there to understand these.
        self.holding_it: set[str] = set()

    @classmethod
    async def holding(cls, words: Sequence[str], host: Host, call: Call, also: Sequence[str] = ()) -> "Codebase":
        """All source files by name; read are those that hold one of the words, and `also`."""
        pattern = "|".join(_whole(word) for word in words)
        listed, holding, stars = await asyncio.gather(
            _ripgrep(["--files"], host, call),
            _ripgrep(["--files-with-matches", "--regexp", pattern], host, call),
            _ripgrep(["--files-with-matches", "--regexp", _STARS], host, call),
        )
        if len(holding) > _FILES:
            raise ToolError(
                f"{len(holding)} files hold the name, more than the {_FILES} that are changed at once. Name a path.",
                code="too_many_files",
            )
        base = cls(host, call, {*listed, *also})
        await base.read({*holding, *stars[:_FILES], *also})
        base.holding_it = set(holding)
        return base

    @classmethod
    async def listed(cls, host: Host, call: Call, also: Sequence[str] = ()) -> "Codebase":
        """All source files by name, none of them read."""
        return cls(host, call, {*await _ripgrep(["--files"], host, call), *also})

    def under(self, places: Sequence[str]) -> list[str]:
        """The files among these places and beneath them."""
        folders = tuple(f"{place.rstrip('/')}/" for place in places)
        everything = not places or any(place in (".", "", "./") for place in places)
        return sorted(
            path for path in self.project.modules.paths if everything or path in places or path.startswith(folders)
        )

    async def read_holding(self, words: Sequence[str]) -> None:
        """Also the files that hold one of these words."""
        if words:
            pattern = "|".join(_whole(word) for word in words)
            await self.read(await _ripgrep(["--files-with-matches", "--regexp", pattern], self._host, self._call))

    async def read(self, paths: Iterable[str]) -> None:
        for path in sorted(paths):
            if path in self.contents or path in self.project.left_alone:
                continue
            try:
                await self._one(path)
            except FileMissing:
                self.project.refuse(path, "it is gone")
        fresh = {path: content for path, content in self.contents.items() if path not in self.project.files}
        await asyncio.to_thread(self._parse, fresh)

    async def _one(self, path: str) -> None:
        if family_of(path) is None:
            self.project.refuse(path, "its language is not understood")
            return
        info = await self._host.stat(path, follow=False)
        if name := protected_part(path):
            self.project.refuse(path, f"{name} is protected; edit it by itself")
        elif info.kind != "file":
            self.project.refuse(path, "it is no plain file")
        elif info.links > 1:
            self.project.refuse(path, "it has another name (a hard link)")
        elif info.size > _SIZE:
            self.project.refuse(path, f"it has {info.size} bytes, too many to be written by hand")
        else:
            self.contents[path] = await self._host.read(path, _SIZE)

    def _parse(self, contents: dict[str, bytes]) -> None:
        for path, content in contents.items():
            if path not in self.project.left_alone:
                self.project.add(path, content)

    async def asked(self, question: Callable[[Project], T]) -> T:
        """The answer to a question about the code; files that it needs to know and were not read are read for it."""
        for _ in range(_ROUNDS):
            self.project.wanted.clear()
            try:
                answer = await asyncio.to_thread(question, self.project)
            except Refusal as refusal:
                if not self.project.wanted:
                    raise ToolError(refusal.message, code=refusal.code, details=refusal.details) from refusal
            else:
                if not self.project.wanted:
                    return answer
            await self.read(set(self.project.wanted))
        raise ToolError("The code refers to more and more files; nothing was changed. Name a path.", code="too_deep")


def _whole(word: str) -> str:
    start = r"\b" if re.match(r"\w", word) else ""
    return start + re.escape(word) + (r"\b" if re.search(r"\w$", word) else "")


async def _ripgrep(arguments: Sequence[str], host: Host, call: Call) -> list[str]:
    globs = [f"--glob=*{suffix}" for suffix in (*PYTHON, *SCRIPT)] + [f"--glob=!{name}" for name in _BROUGHT]
    argv = [ripgrep(), "--no-config", "--null", "--no-messages", *globs, *arguments, "--", "."]
    listener = OutputCollector()
    result = await host.run(argv, call_id=call.id, timeout=call.timeout, output=listener, killed=call.killed, log=False)
    if result.timed_out:
        raise TimedOut(f"Looking took longer than {call.timeout:g} s; nothing was changed.")
    return sorted(name.removeprefix("./") for name in listener.text.split("\0") if name)
