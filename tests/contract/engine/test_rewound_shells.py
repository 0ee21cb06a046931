"""Random shell commands over files, folders and links of all kinds: each rewind restores exactly what was there."""

import os
import random
from pathlib import Path

import pytest

from tests.faults.scale import scaled
from tests.support.manual_task import ManualTask
from tools.local.attribution.trace import attribution_problem

pytestmark = pytest.mark.skipif(bool(attribution_problem()), reason=f"not here: {attribution_problem()}")
HISTORIES = scaled(15, 2_000)
NAMES = ("a", "b", "d", "d/x", "d/y", "d/s", "d/s/k", "e", "e/x", "l", "f/g")
#: `{p}` and `{q}` are names, `{n}` is a number, and `{to}` leads from `{p}` to `{q}`.
COMMANDS = (
    "echo {n} > {p}",
    "echo {n} >> {p}",
    "echo {n} > {p}.new && mv {p}.new {p}",
    "sed -i s/1/2/ {p}",
    "truncate -s 1 {p}",
    "dd if=/dev/zero of={p} bs=1 count=2 conv=notrunc",
    "(exec 3>>{p}; mv {p} {q}; echo late >&3)",
    "rm -rf {p}",
    "rm -rf {p}; mkdir -p {p}; echo z > {p}/x",
    "rmdir {p}",
    "mkdir -p {p}",
    "mv {p} {q}",
    "mv -T {p} {q}",
    "mv {p} t && mv {q} {p} && mv t {q}",
    "cp -a {p} {q}",
    "cp -al {p} {q}",
    "ln {p} {q}",
    "ln -s {to} {p}",
    "ln -sfn {q} {p}",
    "[ -d {p} ] || chmod 600 {p}",
    "chmod 755 {p}",
    "install -m 700 {p} {q}",
    "tar c {p} > t.tar && rm -rf {p} && tar x < t.tar; rm -f t.tar",
)


def shell_line(chance: random.Random) -> str:
    p, q = chance.choice(NAMES), chance.choice(NAMES)
    to = os.path.relpath(q, str(Path(p).parent))
    return chance.choice(COMMANDS).format(p=p, q=q, to=to, n=chance.randrange(99))


async def act(shop: ManualTask, chance: random.Random) -> str:
    """A command of a few lines, or a tool call, which may fail."""
    path = chance.choice(NAMES)
    # A write to a file with several names would ask, and nobody answers here.
    several = any((shop.workspace / name).is_file() and (shop.workspace / name).stat().st_nlink > 1 for name in NAMES)
    if several or chance.random() < 0.7:
        text = "; ".join(shell_line(chance) for _ in range(chance.randrange(1, 6)))
        await shop.command(f"{text}; true")
        return text
    if chance.random() < 0.7:
        await shop.call("write_file", {"path": path, "content": f"tool {chance.randrange(9)}\n"})
        return f"write_file {path}"
    await shop.call("delete_file", {"path": path})
    return f"delete_file {path}"


async def check_history(root: Path, chance: random.Random) -> None:
    shop = ManualTask(root)
    try:
        for name, content in {"a": "1\n", "b": "22\n", "d/x": "1x\n", "d/y": "y1\n", "d/s/k": "k\n"}.items():
            (shop.workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (shop.workspace / name).write_text(content)
        if chance.random() < 0.4:
            (shop.workspace / "l").symlink_to(chance.choice(("d", "a", "e", "nowhere")))
        await shop.open()
        moments = [(await shop.seq(), shop.files())]
        acts = []
        for _ in range(chance.randrange(1, 5)):
            acts.append(await act(shop, chance))
            moments.append((await shop.seq(), shop.files()))
        for seq, files in (moments[0], *chance.choices(moments, k=3), moments[0]):
            assert await shop.rewind(seq) == [], acts
            assert shop.files() == files, acts
    finally:
        await shop.close()


async def test_every_rewind_of_random_shells_restores_what_was_there(tmp_path: Path) -> None:
    first = random.randrange(10**6)
    for number in range(first, first + HISTORIES):
        root = tmp_path / str(number)
        root.mkdir()
        try:
            await check_history(root, random.Random(number))
        except Exception as error:
            raise AssertionError(f"seed {number}") from error
