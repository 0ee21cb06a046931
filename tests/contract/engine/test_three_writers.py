"""A command, a tool of another task and the user write the same files at once; a rewind undoes only its task's.

Each file has a part for each writer, and every line says who wrote it. A historian notes each write, so what a rewind
must give is known: the task's own part as it was at the start, the others' parts as they are now. Where that can't be,
because somebody removed the file or wrote it at the very same moment, the file is left as it is, and named.
"""

import asyncio
import itertools
import json
import random
import sys
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sidecar.wire.tasks import RewindAnswer
from tests.faults.scale import scaled
from tests.support.manual_task import ManualTask
from tests.waiting import SECONDS, loop_turns, until_true
from tools.local.attribution.trace import attribution_problem
from tools.local.host import LocalHost

pytestmark = pytest.mark.skipif(bool(attribution_problem()), reason=f"not here: {attribution_problem()}")

NAMES = ("a.txt", "b.txt", "d/c.txt", "d/e.txt")
WRITERS = ("command", "tool", "person")
SPACE = "----\n" * 3
#: The program of the command: does what it is told over a socket, in many of the ways in which programs write files.
PROGRAM = """
import ctypes, json, mmap, os, socket, subprocess, sys
link = socket.socket(socket.AF_UNIX); link.connect(sys.argv[1]); talk = link.makefile("rw")
held = {}
def write(how, path, text):
    data = text.encode()
    if how == "mmap":
        with open(path, "wb+") as file:
            file.truncate(len(data))
            with mmap.mmap(file.fileno(), len(data)) as memory:
                memory[:] = data
    elif how == "rename":
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)
    elif how == "early rename":
        with open(path + ".new", "wb", buffering=0) as file:
            file.write(data[:9])
            os.replace(path + ".new", path)
            file.write(data[9:])
    elif how == "child":
        subprocess.run(["sh", "-c", 'printf %s "$1" > "$2"', "_", text, path], check=True)
    elif how == "link":
        handle = os.open(os.path.dirname(path) or ".", os.O_TMPFILE | os.O_WRONLY, 0o644)
        os.write(handle, data)
        if os.path.exists(path): os.unlink(path)
        os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=0, follow_symlinks=True)
        os.close(handle)
    elif how == "hold":
        held[path] = open(path, "wb", buffering=0)
        held[path].write(data)
    else:
        with open(path, "wb") as file:
            file.write(data)
for line in talk:
    how, path, text = json.loads(line)
    if how == "end": break
    if how == "release":
        for file in held.values(): file.close()
        held.clear()
    elif how == "remove": os.unlink(path)
    else: write(how, path, text)
    talk.write("done\\n"); talk.flush()
"""
HOWS = ("plain", "plain", "mmap", "rename", "early rename", "child", "link", "hold")


class Parts(NamedTuple):
    """A file as the historian knows it: the lines of each writer."""

    command: str = ""
    tool: str = ""
    person: str = ""

    @property
    def text(self) -> str:
        return f"{self.person}{SPACE}{self.command}{SPACE}{self.tool}"


class History:
    """One random history, and the three writers that make it."""

    def __init__(self, shop: ManualTask, seed: int) -> None:
        self.shop = shop
        self.choice = random.Random(seed)
        self.files: dict[str, Parts] = {}
        self.start: dict[str, Parts] = {}
        self.writers: dict[str, set[str]] = {name: set() for name in NAMES}
        #: Files that were removed or held open while others wrote: what remains of them is not foretold.
        self.loose: set[str] = set()
        self._held: set[str] = set()
        self.steps = 0
        self._numbers = itertools.count(1)
        self._ready: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]

    async def run(self) -> None:
        for name in NAMES:
            if self.choice.random() < 0.6:
                self.files[name] = Parts(person="at the start\n")
                place = self.shop.workspace / name
                place.parent.mkdir(exist_ok=True)
                place.write_text(self.files[name].text)
        (self.shop.workspace / "d").mkdir(exist_ok=True)
        self.start = dict(self.files)
        self._ready = asyncio.get_running_loop().create_future()
        path = str(self.shop.workspace.parent / "talk")
        server = await asyncio.start_unix_server(lambda *pair: self._ready.set_result(pair), path)
        program = self.shop.workspace.parent / "program.py"
        program.write_text(PROGRAM)
        command = [sys.executable, "-S", "-E", str(program), path]
        running = asyncio.create_task(self.shop.call("run_command", {"command": command}))
        try:
            async with asyncio.timeout(SECONDS):
                await self._ready
                for _ in range(self.steps or self.choice.randint(3, 10)):
                    await self._act(self.choice.choice(WRITERS), self.choice.choice(NAMES))
                await self._tell("end", "", "")
                outcome = await running
        finally:
            running.cancel()
            server.close()
            if self._ready.done():
                self._ready.result()[1].close()
        assert outcome.status == "success", outcome.content

    async def _act(self, writer: str, name: str) -> None:
        now = self.files.get(name)
        if now is not None and self.choice.random() < 0.12:
            await self._remove(writer, name)
            return
        number = next(self._numbers)
        parts = now or Parts()
        if len(self._held) and writer == "command" and self.choice.random() < 0.5:
            await self._tell("release", "", "")
            self._held.clear()
            return
        after = parts._replace(**{writer: f"{getattr(parts, writer)}{writer} {number}\n"})
        if writer == "tool" and not await self._use_tool("write_file", name, content=after.text):
            return
        if name in self._held:
            self.loose.add(name)
        self._note(writer, name, after)
        how = ""
        if writer == "command":
            how = self.choice.choice(HOWS)
            if how == "hold":
                self._held.add(name)
            await self._tell(how, name, after.text)
        elif writer == "person" and self.choice.random() < 0.5:
            (self.shop.workspace / name).write_text(after.text)
        elif writer == "person":
            new = self.shop.workspace / f"{name}.saved"
            new.write_text(after.text)
            new.rename(self.shop.workspace / name)
        if how == "hold" and now is None:
            await asyncio.to_thread(self._catch_up)

    def _catch_up(self) -> None:
        """Nobody can tell who writes a new file before somebody has heard of it: that is the very same moment."""
        host = self.shop.engine.review._undoing._host(str(self.shop.workspace))
        assert isinstance(host, LocalHost)
        for trace in host._traces.values():
            with trace._touched.lock:
                trace._touched.hear()

    def unheard(self) -> AbstractContextManager[Any]:
        """Meanwhile nobody listens to the kernel's reports."""
        host = self.shop.engine.review._undoing._host(str(self.shop.workspace))
        assert isinstance(host, LocalHost)
        (trace,) = host._traces.values()
        return trace._touched.lock

    async def _remove(self, writer: str, name: str) -> None:
        if writer == "tool" and not await self._use_tool("delete_file", name):
            return
        self.loose.add(name)
        self._note(writer, name, None)
        if writer == "command":
            await self._tell("remove", name, "")
        elif writer == "person":
            (self.shop.workspace / name).unlink()

    async def _use_tool(self, tool: str, name: str, **more: str) -> bool:
        """Whether it did it: no tool replaces a file that the command has open for writing."""
        outcome = await self.shop.call(tool, {"path": name, **more}, "t_2")
        assert outcome.status == "success" or (name in self._held and "is being written" in outcome.content)
        return outcome.status == "success"

    def _note(self, writer: str, name: str, after: Parts | None) -> None:
        self.writers[name].add(writer)
        self.files.pop(name, None)
        if after is not None:
            self.files[name] = after

    async def _tell(self, how: str, path: str, text: str) -> None:
        reader, writer = self._ready.result()
        writer.write(json.dumps([how, path, text]).encode() + b"\n")
        await writer.drain()
        if how != "end":
            assert await reader.readline() == b"done\n"

    def check(self, before: dict[str, str], answer: RewindAnswer) -> int:
        """How many files that others had written too were restored all the same."""
        after = texts(self.shop)
        assert not answer.not_restored, answer.not_restored
        named = {file.path for file in answer.conflicts}
        shared = 0
        for name in NAMES:
            writers, found = self.writers[name], after.get(name)
            if "command" not in writers:
                assert found == before.get(name) and name not in named, (name, "it is not the task's")
            elif name in named:
                assert found == before.get(name), (name, "named, and changed all the same")
                assert writers != {"command"}, (name, "it is only the task's")
            elif writers == {"command"}:
                wanted = self.start.get(name)
                assert found == (wanted.text if wanted else None), (name, found)
            elif name in self.loose:
                assert lines(found, "person") >= lines(before.get(name), "person"), (name, found)
                assert lines(found, "tool") >= lines(before.get(name), "tool"), (name, found)
            else:
                now = self.files[name]
                assert found == now._replace(command="").text, (name, before.get(name), found)
                shared += 1
        return shared


def lines(text: str | None, writer: str) -> set[str]:
    return {line for line in (text or "").splitlines() if line.startswith(writer)}


def texts(shop: ManualTask) -> dict[str, str]:
    return {path: content.decode() for path, (content, _) in shop.files().items()}


async def one_history(seed: int) -> int:
    with tempfile.TemporaryDirectory(prefix="brain-writers-") as directory:
        shop = ManualTask(Path(directory))
        try:
            await shop.open()
            await shop.open("t_2")
            history = History(shop, seed)
            await history.run()
            before = texts(shop)
            return history.check(before, await shop.engine.review.rewind("t_1", 0))
        except AssertionError as error:
            raise AssertionError(f"history {seed}: {error}") from error
        finally:
            await shop.close()


async def test_a_rewind_gives_what_a_perfect_historian_says() -> None:
    shared = sum([await one_history(seed) for seed in range(scaled(40, 2_000))])
    assert shared >= scaled(4, 200), "hardly any file that several had written was restored"


class Together(History):
    """The command and the user have the file open at the same time, and close it before anybody listens."""

    saves = True

    async def _act(self, writer: str, name: str) -> None:
        await self._tell("hold", "a.txt", Parts(command="command\n").text)
        await asyncio.to_thread(self._catch_up)
        with self.unheard():
            with (self.shop.workspace / "a.txt").open("a" if self.saves else "r") as file:
                file.write("person\n") if self.saves else file.read()
            await self._tell("release", "", "")


@pytest.mark.parametrize("saves", [True, False])
async def test_a_save_while_the_command_has_the_file_open_is_never_booked_to_it(tmp_path: Path, saves: bool) -> None:
    shop = ManualTask(tmp_path)
    try:
        await shop.open()
        history = Together(shop, 1)
        history.saves = saves
        history.steps = 1
        await history.run()
        before, start = texts(shop), history.start.get("a.txt")
        assert start is not None
        answer = await shop.engine.review.rewind("t_1", 0)
        assert [file.path for file in answer.conflicts] == (["a.txt"] if saves else [])
        assert texts(shop)["a.txt"] == (before["a.txt"] if saves else start.text)
    finally:
        await shop.close()


class Replaced(History):
    """The command replaces a file that it holds open, holds the new one too, and closes both before anybody listens.

    The kernel reports the two closings as one.
    """

    async def _act(self, writer: str, name: str) -> None:
        for how, path in (("hold", "a.txt"), ("rename", "a.txt"), ("hold", "./a.txt")):
            await self._tell(how, path, Parts(command=f"command {how} {path}\n").text)
            await asyncio.to_thread(self._catch_up)
        with self.unheard():
            await self._tell("release", "", "")


async def test_a_file_that_only_the_command_wrote_is_restored_if_two_of_its_closings_are_reported_as_one(
    tmp_path: Path,
) -> None:
    shop = ManualTask(tmp_path)
    try:
        await shop.open()
        history = Replaced(shop, 1)
        history.steps = 1
        await history.run()
        start = history.start.get("a.txt")
        assert start is not None
        answer = await shop.engine.review.rewind("t_1", 0)
        assert not answer.conflicts and texts(shop)["a.txt"] == start.text
    finally:
        await shop.close()


FREE = """
import os, sys, time
for number in range(int(sys.argv[1])):
    for name in ("a.txt", "b.txt"):
        text = open(name).read() if os.path.exists(name) else ""
        with open(name + ".n" if number % 3 == 0 else name, "w") as file:
            file.write(text + f"command {number}\\n")
        if number % 3 == 0: os.replace(name + ".n", name)
    if number == 3: open("up", "w").close()
"""


async def test_with_no_one_waiting_for_anybody_no_line_of_the_user_is_lost(tmp_path: Path) -> None:
    """They overwrite each other before the rewind; the rewind itself takes away only lines of the command."""
    shop = ManualTask(tmp_path)
    try:
        await shop.open()
        await shop.open("t_2")
        for name in ("a.txt", "b.txt"):
            (shop.workspace / name).write_text("person at the start\n")
        (tmp_path / "free.py").write_text(FREE)
        for attempt in range(scaled(3, 40)):
            seq = await shop.seq()
            command = [sys.executable, "-S", "-E", str(tmp_path / "free.py"), str(scaled(200, 400))]
            running = asyncio.create_task(shop.call("run_command", {"command": command}))
            await until_true((shop.workspace / "up").exists)
            for number in range(20):
                name = ("a.txt", "b.txt")[number % 2]
                with (shop.workspace / name).open("a") as file:
                    file.write(f"person {attempt}.{number}\n")
                await loop_turns()
            (shop.workspace / "mine.txt").write_text(f"person {attempt}\n")
            outcome = await running
            assert outcome.status == "success", outcome.content
            before = texts(shop)
            answer = await shop.engine.review.rewind("t_1", seq)
            after = texts(shop)
            for name in ("a.txt", "b.txt", "mine.txt"):
                assert lines(after.get(name), "person") >= lines(before[name], "person"), (name, answer)
            (shop.workspace / "up").unlink(missing_ok=True)
    finally:
        await shop.close()
