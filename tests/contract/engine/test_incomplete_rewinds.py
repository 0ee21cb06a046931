"""What a rewind could not take back: it is named with the reason, stays a change of the task, and is tried again."""

import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.engine.errors import OperationRefused
from sidecar.journal.port import Record
from sidecar.wire.tasks import RewindAnswer
from tests.support.manual_task import ManualTask
from tools.ledger import FileState, Outcome


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[ManualTask]:
    opened = ManualTask(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
def immutable(shop: ManualTask) -> "Immutable":
    return Immutable(shop.workspace)


class Immutable:
    """Files that nobody can write, not even root."""

    def __init__(self, root: Path) -> None:
        self._root = root
        probe = root / "probe"
        probe.touch()
        if shutil.which("chattr") is None or not self._set("+i", "probe"):
            pytest.skip("files can't be made immutable here")
        self._set("-i", "probe")
        probe.unlink()

    def _set(self, flag: str, name: str) -> bool:
        done = subprocess.run(["chattr", flag, name], cwd=self._root, capture_output=True, check=False)
        return done.returncode == 0

    def freeze(self, name: str) -> None:
        assert self._set("+i", name)

    def thaw(self, name: str) -> None:
        self._set("-i", name)


async def rewind(shop: ManualTask, seq: int | None, **options: object) -> RewindAnswer:
    return await shop.engine.review.rewind("t_1", seq, **options)  # type: ignore[arg-type]


def paths(answer: RewindAnswer) -> tuple[list[str], list[str], list[str]]:
    return (
        sorted(file.path for file in answer.files),
        sorted(file.path for file in answer.conflicts),
        sorted(file.path for file in answer.not_restored),
    )


@pytest.mark.parametrize("conversation", [True, False])
async def test_a_rewind_that_failed_half_way_can_be_repeated(
    shop: ManualTask, immutable: Immutable, conversation: bool
) -> None:
    for name in ("a", "b", "c"):
        (shop.workspace / name).write_text("before\n")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    await shop.command("for f in a b c; do echo after > $f; done; echo new > d")
    immutable.freeze("b")
    try:
        first = await rewind(shop, start, conversation=conversation)
        assert paths(first) == (["a", "c", "d"], [], ["b"])
        assert "Remove the cause, then rewind again." in first.not_restored[0].why
        again = await rewind(shop, start, conversation=conversation)
        assert paths(again) == ([], [], ["b"])
        assert [file.path for file in (await shop.engine.review.diff("t_1")).files] == ["b"]
    finally:
        immutable.thaw("b")
    assert paths(await rewind(shop, start, conversation=conversation)) == (["b"], [], [])
    assert shop.files() == before
    assert paths(await rewind(shop, start, conversation=conversation)) == ([], [], [])


async def test_a_conflict_is_tried_again_when_its_reason_is_gone(shop: ManualTask) -> None:
    (shop.workspace / "a").write_text("one\n")
    await shop.open()
    start = await shop.seq()
    await shop.call("write_file", {"path": "a", "content": "two\n"})
    (shop.workspace / "a").write_text("yours\n")
    answer = await rewind(shop, start)
    assert paths(answer) == ([], ["a"], []) and "you or another task" in answer.conflicts[0].why
    assert (shop.workspace / "a").read_text() == "yours\n"
    (shop.workspace / "a").write_text("two\n")
    assert paths(await rewind(shop, start)) == (["a"], [], [])
    assert (shop.workspace / "a").read_text() == "one\n"


async def test_a_rewind_of_an_incomplete_rewind_gives_back_what_it_took(shop: ManualTask) -> None:
    for name in ("a", "b"):
        (shop.workspace / name).write_text("one\n")
    await shop.open()
    start = await shop.seq()
    await shop.command("echo two > a; echo two > b")
    end, after = await shop.seq(), shop.files()
    (shop.workspace / "a").write_text("yours\n")
    assert paths(await rewind(shop, start)) == (["b"], ["a"], [])
    (shop.workspace / "a").write_text("two\n")
    assert paths(await rewind(shop, end)) == (["b"], [], [])
    assert shop.files() == after


async def test_what_no_one_can_attribute_is_left_alone_and_named_until_you_say_so(shop: ManualTask) -> None:
    (shop.workspace / "a").write_text("one\n")
    await shop.open()
    start = await shop.seq()
    await shop.call("write_file", {"path": "b", "content": "sure\n"})
    states = [
        FileState(path="a", before=await put(shop, "one\n"), after=await put(shop, "two\n"), doubt="Nobody can tell.")
    ]
    outcome = Outcome(status="success", content="", summary="", duration_ms=0, files=states)
    await shop.journal.append("t_1", records=[Record("outcome", "c9", outcome.to_json())])
    (shop.workspace / "a").write_text("two\n")
    (noted,) = [file for file in (await shop.engine.review.diff("t_1")).files if file.path == "a"]
    assert "Nobody can tell." in (noted.note or "")
    answer = await rewind(shop, start)
    assert paths(answer) == (["b"], ["a"], [])
    assert answer.conflicts[0].uncertain and answer.conflicts[0].why == "Nobody can tell."
    assert (shop.workspace / "a").read_text() == "two\n"
    assert paths(await rewind(shop, start, uncertain=["a"])) == (["a"], [], [])
    assert (shop.workspace / "a").read_text() == "one\n"


async def put(shop: ManualTask, text: str) -> str:
    return await shop.journal.put_blob("t_1", text.encode())


async def test_the_last_change_is_undone_then_the_one_before(shop: ManualTask) -> None:
    await shop.open()
    for number in range(3):
        await shop.call("write_file", {"path": "a", "content": f"{number}\n"})
    await shop.command("true")
    for left in ("1\n", "0\n"):
        assert paths(await rewind(shop, None)) == (["a"], [], [])
        assert (shop.workspace / "a").read_text() == left
    assert (await rewind(shop, None)).files[0].change == "deleted"
    with pytest.raises(OperationRefused, match="no change of files left"):
        await rewind(shop, None)


async def test_a_command_whose_changes_are_unknown_is_named_by_every_rewind(shop: ManualTask) -> None:
    await shop.open()
    start = await shop.seq()
    (shop.workspace / ".gitignore").write_text("ignored\n")
    await shop.command("echo x > ignored; echo y > a")
    for restored in (["a"], []):
        assert paths(await rewind(shop, start)) == (restored, [], ["ignored"])


async def test_five_thousand_changed_files_are_rewound_whole(shop: ManualTask) -> None:
    for number in range(5_000):
        (shop.workspace / f"f{number}").write_text(f"{number}\n")
    await shop.open()
    start, before = await shop.seq(), shop.files()
    outcome = await shop.command("for f in f*; do echo changed > $f; done")
    assert outcome.status == "success" and not outcome.irreversible
    answer = await rewind(shop, start)
    assert len(answer.files) == 5_000 and not answer.conflicts and not answer.not_restored
    assert shop.files() == before
