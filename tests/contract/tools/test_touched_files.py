"""What the listener concludes when others write, rename and close a file while it looks at it."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from tools.local.attribution.touched import SHARED, TouchedFiles
from tools.local.attribution.trace import attribution_problem
from tools.local.attribution.versions import VersionLog
from tools.local.attribution.watch import DirectoryWatch, FileEvent
from tools.local.root import WorkspaceRoot

pytestmark = pytest.mark.skipif(bool(attribution_problem()), reason=f"not here: {attribution_problem()}")


class InterruptedRoot(WorkspaceRoot):
    """Something happens just before the next file is opened; `opened` are all of them so far."""

    interrupt: Callable[[], object] | None = None

    def __init__(self, workspace: str) -> None:
        super().__init__(workspace)
        self.opened: list[str] = []

    def open(self, path: str, *more: int) -> int:
        self.opened.append(path)
        interrupt, self.interrupt = self.interrupt, None
        if interrupt is not None:
            interrupt()
        return super().open(path, *more)


class InterruptedWatch(DirectoryWatch):
    """Something happens just after events were read."""

    interrupt: Callable[[], object] | None = None

    def events(self) -> Iterator[FileEvent]:
        found = list(super().events())
        interrupt, self.interrupt = self.interrupt, None
        if interrupt is not None:
            interrupt()
        return iter(found)


class Command:
    """Claims its changes as the listener does, and makes them."""

    def __init__(self, place: Path) -> None:
        self.workspace = place / "workspace"
        self.workspace.mkdir()
        self.root = InterruptedRoot(str(self.workspace))
        self._log = VersionLog(place / "log")
        self.touched = TouchedFiles(self.root, self._log, lambda path: None)
        self.watch = InterruptedWatch()
        self.touched.watch(self.watch)

    def open(self, name: str) -> IO[str]:
        self.touched.write(name, writer=threading.get_native_id())
        return (self.workspace / name).open("w")

    def write(self, name: str, text: str) -> None:
        with self.open(name) as file:
            file.write(text)
        self.touched.hear()

    def rename(self, old: str, new: str) -> None:
        self.touched.rename(old, new)
        (self.workspace / old).rename(self.workspace / new)

    def changes(self) -> dict[str, tuple[bytes, str]]:
        """The content after each change, and why that is in doubt."""
        self.touched.hear()
        found = self.touched.changes()
        return {file.path: (file.after.content if file.after else b"", file.doubt) for file in found}

    def close(self) -> None:
        self.touched.unwatch()
        self.watch.close()
        self._log.close()
        self.root.close()


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    command = Command(tmp_path)
    yield command
    command.close()


def replaced_while_held(command: Command) -> IO[str]:
    """The command's handle on a file that it replaced by another."""
    held = command.open("a")
    held.write("old\n")
    held.flush()
    command.write("a.new", "new\n")
    command.rename("a.new", "a")
    return held


def test_closing_a_replaced_file_while_the_new_one_is_read_leaves_no_doubt(command: Command) -> None:
    held = replaced_while_held(command)
    command.root.interrupt = held.close
    assert command.changes() == {"a": (b"new\n", "")}
    assert held.closed


def test_a_save_while_the_new_file_is_read_and_the_replaced_one_closed_is_in_doubt(command: Command) -> None:
    held = replaced_while_held(command)

    def save_and_close() -> None:
        (command.workspace / "a").write_text("saved by you\n")
        held.close()

    command.root.interrupt = save_and_close
    assert command.changes()["a"][1]


@pytest.mark.parametrize("heard", [True, False])
def test_a_file_that_is_renamed_before_it_is_closed_is_the_commands_to_the_end(command: Command, heard: bool) -> None:
    (command.workspace / "a").write_text("before\n")
    with command.open("a.new") as file:
        file.write("first\n")
        file.flush()
        command.rename("a.new", "a")
        if heard:
            command.touched.hear()
        file.write("last\n")
    assert command.changes() == {"a": (b"first\nlast\n", "")}


def test_a_save_after_a_renamed_file_was_closed_stays_yours(command: Command) -> None:
    with command.open("a.new") as file:
        file.write("command\n")
        command.rename("a.new", "a")
    command.touched.hear()
    (command.workspace / "a").write_text("yours\n")
    assert command.changes() == {"a": (b"command\n", "")}


def test_a_save_while_the_command_still_writes_the_file_that_it_renamed_is_in_doubt(command: Command) -> None:
    with command.open("a.new") as file:
        file.write("command\n")
        file.flush()
        command.touched.hear()
        command.rename("a.new", "a")
        with (command.workspace / "a").open("a") as saved:
            saved.write("yours\n")
            file.close()
    assert command.changes()["a"][1]


def test_a_command_that_renames_a_file_to_its_own_name_leaves_no_doubt(command: Command) -> None:
    with command.open("a") as file:
        file.write("command\n")
        command.rename("a", "a")
    assert command.changes() == {"a": (b"command\n", "")}


def test_the_workspace_is_looked_through_once_for_all_files_with_several_names(command: Command) -> None:
    names = [f"a{number}" for number in range(20)]
    (command.workspace / "linked").mkdir()
    for name in names:
        (command.workspace / name).write_text("before\n")
        (command.workspace / "linked" / name).hardlink_to(command.workspace / name)
    for name in names:
        command.write(name, "after\n")
    assert command.changes() == dict.fromkeys([*names, *(f"linked/{name}" for name in names)], (b"after\n", ""))
    assert command.root.opened.count("linked/") < len(names)


def held_twice(command: Command) -> tuple[IO[str], IO[str]]:
    """Two handles of the command on one file, both written and heard of."""
    handles = command.open("a"), command.open("a")
    for number, handle in enumerate(handles):
        handle.write(f"{number}\n")
        handle.flush()
        command.touched.hear()
    return handles


def test_two_closings_of_which_the_first_report_shows_both_leave_no_doubt(command: Command) -> None:
    first, second = held_twice(command)
    first.close()
    command.watch.interrupt = second.close
    assert command.changes() == {"a": (b"1\n", "")}


def test_a_save_after_two_closings_stays_yours(command: Command) -> None:
    first, second = held_twice(command)
    first.close()
    command.watch.interrupt = second.close
    command.touched.hear()
    (command.workspace / "a").write_text("yours\n")
    assert command.changes() == {"a": (b"1\n", "")}


def test_a_save_between_two_closings_and_the_look_at_them_is_in_doubt(command: Command) -> None:
    first, second = held_twice(command)
    first.close()

    def close_and_save() -> None:
        second.close()
        (command.workspace / "a").write_text("yours\n")

    command.watch.interrupt = close_and_save
    assert command.changes() == {"a": (b"yours\n", SHARED)}
