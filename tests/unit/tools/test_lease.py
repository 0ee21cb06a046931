"""Right before an effect a worker looks whether its claim may have expired."""

import asyncio
from pathlib import Path

import pytest

from tools.errors import ToolError
from tools.host import FileChange
from tools.lease import Lease, check_lease, holding, lease_clock
from tools.local import files
from tools.local.root import WorkspaceRoot


def expired() -> Lease:
    lease = Lease(15)
    lease.extend(lease_clock() - 16)
    return lease


@pytest.mark.parametrize(
    ("before", "after"), [(None, b"new\n"), (b"old\n", b"new\n"), (b"old\n", None)], ids=["create", "edit", "delete"]
)
def test_a_file_stays_as_it_is_once_the_lease_has_expired(
    tmp_path: Path, before: bytes | None, after: bytes | None
) -> None:
    file = tmp_path / "a.txt"
    if before is not None:
        file.write_bytes(before)
    change = FileChange("a.txt", before, after)
    with holding(expired()), pytest.raises(ToolError, match="longer than its claim"):
        files.apply_change(WorkspaceRoot(str(tmp_path)), change)
    assert (file.read_bytes() if file.exists() else None) == before
    assert [each.name for each in tmp_path.iterdir()] == ([] if before is None else ["a.txt"])
    with holding(Lease(15)):
        files.apply_change(WorkspaceRoot(str(tmp_path)), change)
    assert (file.read_bytes() if file.exists() else None) == after


def test_a_renewed_lease_holds_again_and_without_one_nothing_is_checked() -> None:
    lease = expired()
    with holding(lease):
        with pytest.raises(ToolError):
            check_lease()
        lease.extend(lease_clock())
        check_lease()
    check_lease()


async def test_threads_and_tasks_work_under_the_lease_of_those_who_began_them() -> None:
    with holding(expired()):
        for begun in (asyncio.to_thread(check_lease), asyncio.create_task(_check())):
            with pytest.raises(ToolError):
                await begun


async def _check() -> None:
    check_lease()
