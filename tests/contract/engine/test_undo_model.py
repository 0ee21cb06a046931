"""Tools, commands and the user at work on the same files, then rewinds: the files are what plain dictionaries say.

Each file has a part that only the user writes, above a line, and a part that only the task writes, below it. So what
a rewind must give is known without merging anything: the task's part as it was then, the user's as it is now. Where
the user's part would have to go with the file, it is left alone.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faults.scale import scaled
from tests.support.manual_task import ManualTask

NAMES = ("a.txt", "b.py", "sub/c.md")
LINE = "---- the task writes below this line ----\n"
FRESH = 0o644


class File(NamedTuple):
    person: tuple[str, ...]
    task: str
    mode: int

    @property
    def content(self) -> bytes:
        return "".join((*self.person, LINE * 3, self.task)).encode()


class Step(NamedTuple):
    path: str
    before: File | None
    after: File | None


class Model:
    """What was done, as dictionaries and lists."""

    def __init__(self, files: dict[str, File]) -> None:
        self.files = dict(files)
        self.held: list[Step] = []
        self.checkpoints: list[tuple[int, list[Step]]] = []
        #: Files that a rewind had to leave alone: what they are from then on is not foretold, only what stays in them.
        self.left: set[str] = set()

    def did(self, path: str, after: File | None) -> None:
        before = self.files.pop(path, None)
        if after is not None:
            self.files[path] = after
        if before != after:
            self.held.append(Step(path, before, after))

    def rewind(self, held: list[Step], *, conversation: bool) -> None:
        same = 0
        while same < min(len(held), len(self.held)) and held[same] is self.held[same]:
            same += 1
        back = [Step(path, after, before) for path, before, after in reversed(self.held[same:])]
        way = [*back, *held[same:]]
        if conversation:
            self.held = list(held)
        for path in NAMES:
            hops = _joined([step for step in way if step.path == path])
            reached = self._reached(path, hops)
            if not reached:
                self.left.add(path)
            elif not conversation:
                self.held += hops

    def _reached(self, path: str, hops: Sequence[Step]) -> bool:
        now = self.files.get(path)
        for _, source, target in hops:
            if now == source:
                now = target
            elif now and source and target and source.person == target.person and now.task == source.task:
                mode = target.mode if now.mode == source.mode else now.mode
                now = File(now.person, target.task, mode)
            else:
                return False
        self.files.pop(path, None)
        if now is not None:
            self.files[path] = now
        return True


def _joined(steps: Sequence[Step]) -> list[Step]:
    joined: list[Step] = []
    for step in steps:
        if joined and joined[-1].after == step.before:
            joined[-1] = Step(step.path, joined[-1].before, step.after)
        else:
            joined.append(step)
    return [step for step in joined if step.before != step.after]


PATH = st.sampled_from(NAMES)
TEXT = st.sampled_from(["one\n", "two\n", "one\ntwo\n", "no end", "crlf\r\n", "ümlaut\n", ""])
ACTION = st.one_of(
    st.tuples(st.sampled_from(["tool", "command", "command"]), PATH, TEXT),
    st.tuples(st.sampled_from(["delete", "remove", "chmod", "mv", "person", "person", "cut"]), PATH, PATH),
    st.tuples(st.sampled_from(["rewind", "rewind", "files"]), st.integers(0, 1_000), st.none()),
)


class Play:
    def __init__(self, shop: ManualTask, model: Model) -> None:
        self.shop = shop
        self.model = model
        self._said = 0

    async def act(self, kind: str, what: object, more: object) -> None:
        if kind in ("rewind", "files"):
            assert isinstance(what, int)
            await self._rewind(what, conversation=kind == "rewind")
            return
        path, other = str(what), str(more)
        now = self.model.files.get(path)
        if kind in ("person", "cut"):
            self._person(path, now, cut=kind == "cut")
        elif path not in self.model.left and other not in self.model.left:
            await self._work(kind, path, other, now)
            self.model.checkpoints.append((await self.shop.seq(), list(self.model.held)))

    async def _work(self, kind: str, path: str, other: str, now: File | None) -> None:
        model = self.model
        if kind in ("tool", "command"):
            # The tool has its own mind about how lines end.
            text = "by a tool\n" if kind == "tool" and not other.endswith(("e\n", "o\n", "t\n")) else other
            after = File(now.person if now else (), text, now.mode if now else FRESH)
            if kind == "tool":
                await self.shop.call("write_file", {"path": path, "content": after.content.decode()})
            else:
                script = 'mkdir -p "$(dirname "$2")" && printf %s "$1" > "$2"'
                await self.shop.call(
                    "run_command", {"command": ["sh", "-c", script, "_", after.content.decode(), path]}
                )
            model.did(path, after)
        elif now is None:
            return
        elif kind == "delete":
            await self.shop.call("delete_file", {"path": path})
            model.did(path, None)
        elif kind == "remove":
            await self.shop.command(f"rm {path}")
            model.did(path, None)
        elif kind == "chmod":
            mode = 0o755 if now.mode == FRESH else FRESH
            await self.shop.command(f"chmod {mode:o} {path}")
            model.did(path, now._replace(mode=mode))
        elif kind == "mv" and path != other:
            await self.shop.command(f"mkdir -p $(dirname {other}) && mv {path} {other}")
            # In one command: the order of two files is of no account.
            model.did(other, now)
            model.did(path, None)

    def _person(self, path: str, now: File | None, *, cut: bool) -> None:
        place = self.shop.workspace / path
        if not place.exists():
            return
        self._said += 1
        if path in self.model.left:
            if not cut:
                place.write_bytes(f"person {self._said}\n".encode() + place.read_bytes())
            return
        assert now is not None
        said = now.person[1:] if cut else (*now.person, f"person {self._said}\n")
        self.model.files[path] = now._replace(person=said)
        place.write_bytes(self.model.files[path].content)

    async def _rewind(self, number: int, *, conversation: bool) -> None:
        seq, held = self.model.checkpoints[number % len(self.model.checkpoints)]
        before = self.shop.files()
        index = self._git()
        self.model.rewind(held, conversation=conversation)
        left = await self.shop.rewind(seq, conversation=conversation)
        assert set(left) <= self.model.left
        self.check()
        known = {file.content for step in self.model.held for file in step[1:] if file}
        for path in self.model.left & before.keys():
            old, new = before[path][0], self.shop.files().get(path, (b"", 0))[0]
            assert new in known or not _persons(old) - _persons(new), (path, old, new)
        assert self._git() == index
        self.model.checkpoints.append((await self.shop.seq(), list(self.model.held)))

    def _git(self) -> list[bytes]:
        git = self.shop.workspace / ".git"
        return [place.read_bytes() for name in ("index", "HEAD", "refs/heads/main") if (place := git / name).exists()]

    def check(self) -> None:
        found = {path: file for path, file in self.shop.files().items() if path not in self.model.left}
        wanted = {
            path: (file.content, file.mode) for path, file in self.model.files.items() if path not in self.model.left
        }
        assert found == wanted


def _persons(content: bytes) -> set[bytes]:
    return {line for line in content.splitlines() if line.startswith(b"person ")}


async def play(start: dict[str, str], actions: list[tuple[str, object, object]], *, git: bool) -> None:
    with tempfile.TemporaryDirectory() as directory:
        shop = ManualTask(Path(directory))
        try:
            model = Model({path: File((), text, FRESH) for path, text in start.items()})
            for path, file in model.files.items():
                place = shop.workspace / path
                place.parent.mkdir(exist_ok=True)
                place.write_bytes(file.content)
                place.chmod(file.mode)
            if git:
                shop.commit_all()
            await shop.open()
            model.checkpoints.append((await shop.seq(), []))
            player = Play(shop, model)
            for action in actions:
                await player.act(*action)
                player.check()
        finally:
            await shop.close()


@settings(max_examples=scaled(30, 1_500), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(PATH, TEXT), st.lists(ACTION, min_size=2, max_size=12), st.booleans())
def test_the_files_are_what_plain_dictionaries_say(
    start: dict[str, str], actions: list[tuple[str, object, object]], git: bool
) -> None:
    asyncio.run(play(start, actions, git=git))
