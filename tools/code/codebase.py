"""The analyzed source files of a workspace, for the tools that change code."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TypeVar

from tools.code.files import SIZE
from tools.code.lookups import COMPUTED_LOOKUP
from tools.code.modules import Modules
from tools.code.project import Project, Refusal
from tools.code.source import PYTHON_SUFFIXES, SCRIPT_SUFFIXES, SourceText, family_of
from tools.errors import FileMissing, ToolError
from tools.host import Host
from tools.protected import protected_part
from tools.ripgrep import only, run_ripgrep
from tools.skipped import without_build_output
from tools.spec import Call

T = TypeVar("T")

_FILES = 4_000
_TEXTS = 500
#: How often a question may need files that were not read yet.
_ROUNDS = 12
_EXCLUDED = ("*.min.js",)
#: Files that re-export or look up names without writing them.
_STARS = r"^\s*from\s+\S+\s+import\s+\*|^\s*export\s+(type\s+)?\*\s+from"


class Codebase:
    def __init__(self, host: Host, call: Call, paths: Iterable[str], analyzed: frozenset[str] | None = None) -> None:
        self._host = host
        self._call = call
        self._analyzed = analyzed
        self.project = Project(Modules(paths))
        self.contents: dict[str, bytes] = {}
        #: Other files that hold the searched words: documents, settings, templates.
        self.texts: dict[str, bytes] = {}
        #: The files that hold the searched words; the others are only read to understand these.
        self.matches: set[str] = set()

    @classmethod
    async def with_words(
        cls,
        words: Sequence[str],
        host: Host,
        call: Call,
        also: Sequence[str] = (),
        *,
        analyzed: frozenset[str] | None = None,
    ) -> "Codebase":
        """List all source files and read those that hold one of the words, and `also`.

        With `analyzed`, functions that hold none of these words are not analyzed.
        """
        listed, holding, stars = await asyncio.gather(
            _search(["--files"], host, call),
            _search(["--files-with-matches", "--regexp", _any_word(words)], host, call),
            _search(["--files-with-matches", "--regexp", _STARS, "--regexp", COMPUTED_LOOKUP], host, call),
        )
        if len(holding) > _FILES:
            raise ToolError(
                f"{len(holding)} files hold the name, more than the limit of {_FILES}. Name a path.",
                code="too_many_files",
            )
        base = cls(host, call, {*listed, *also}, analyzed)
        await base.read({*holding, *sorted(stars)[:_FILES], *also})
        base.matches = set(holding)
        return base

    @classmethod
    async def listed(cls, host: Host, call: Call, also: Sequence[str] = ()) -> "Codebase":
        """List all source files without reading them."""
        return cls(host, call, {*await _search(["--files"], host, call), *also})

    def under(self, places: Sequence[str]) -> list[str]:
        """Return the files that these files and folders name."""
        folders = tuple(f"{place.rstrip('/')}/" for place in places)
        everything = not places or any(place in (".", "", "./") for place in places)
        return sorted(
            path for path in self.project.modules.paths if everything or path in places or path.startswith(folders)
        )

    async def read_texts(self, words: Sequence[str]) -> None:
        """Read the files of no known language that hold one of the words."""
        sources = [f"--type-add=source:*{suffix}" for suffix in (*PYTHON_SUFFIXES, *SCRIPT_SUFFIXES)]
        options = [
            "--null",
            "--no-messages",
            *sources,
            "--type-not=source",
            "--files-with-matches",
            "--max-filesize=1M",
        ]
        found = await run_ripgrep(self._host, self._call, [*options, "--regexp", _any_word(words), "--", "."])
        for path in sorted(name.removeprefix("./") for name in found.split("\0") if name)[:_TEXTS]:
            with suppress(ToolError):
                content = await self._host.read(path, SIZE)
                if b"\0" not in content[:8_192]:
                    self.texts[path] = content

    async def read_with_words(self, words: Sequence[str]) -> None:
        if words:
            options = ["--files-with-matches", "--regexp", _any_word(words)]
            await self.read(await _search(options, self._host, self._call))

    async def read(self, paths: Iterable[str]) -> None:
        for path in sorted(paths):
            if path in self.contents or path in self.project.skipped:
                continue
            try:
                await self._read_one(path)
            except FileMissing:
                self.project.skip(path, "its name is not UTF-8 text" if "\ufffd" in path else "it is gone")
        fresh = [path for path in self.contents if path not in self.project.sources]
        await asyncio.to_thread(self._analyze, fresh)

    async def _read_one(self, path: str) -> None:
        if family_of(path) is None:
            self.project.skip(path, "its language is not supported")
            return
        info = await self._host.stat(path, follow=False)
        if name := protected_part(path):
            self.project.skip(path, f"{name} is protected; edit it by itself")
        elif info.kind != "file":
            self.project.skip(path, "it is not a regular file")
        elif info.links > 1:
            self.project.skip(path, "it has another name (a hard link)")
        elif info.size > SIZE:
            self.project.skip(path, f"its {info.size} bytes exceed the limit of {SIZE}")
        else:
            self.contents[path] = await self._host.read(path, SIZE)

    def _analyze(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.project.add(SourceText(path, self.contents[path]), self._analyzed, members=True)

    async def ask(self, question: Callable[[Project], T]) -> T:
        """Answer a question about the code; read the files that it needs on the way."""
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
        raise ToolError("The code refers to too many other files; nothing was changed. Name a path.", code="too_deep")


def _any_word(words: Sequence[str]) -> str:
    return "|".join(
        (r"\b" if re.match(r"\w", word) else "") + re.escape(word) + (r"\b" if re.search(r"\w$", word) else "")
        for word in words
    )


async def _search(arguments: Sequence[str], host: Host, call: Call) -> list[str]:
    globs = [*only([f"*{suffix}" for suffix in (*PYTHON_SUFFIXES, *SCRIPT_SUFFIXES)])]
    globs += [f"--glob=!{name}" for name in _EXCLUDED]
    text = await run_ripgrep(host, call, ["--null", "--no-messages", *globs, *arguments, "--", "."])
    return await without_build_output(host, (name.removeprefix("./") for name in text.split("\0") if name))
