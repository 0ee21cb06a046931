"""S42: an editor that is asked for its unsaved text, by path, is led to no file outside, and loses nobody's work."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bridge.shell import open_files
from bridge.shell.open_files import NotSaved, OpenFiles
from tests.security.test_s36_search_race import exchanging
from tools.errors import ToolError
from tools.local.environment import READER_MARK, SIDECAR_MARK, sidecar_mark
from tools.local.root import WorkspaceRoot
from tools.local.watched_path import WatchedPath
from tools.local.writers import exchange

KEY = "the key of somebody\n"


class OpenEditor:
    """Follows links, as editors do. `before` and `after` run around each read and write."""

    def __init__(self) -> None:
        self.buffers: dict[str, str] = {}
        self.asked: list[str] = []
        self.written: list[str] = []
        self.before: Callable[[], None] = lambda: None
        self.after: Callable[[], None] = lambda: None

    async def read(self, path: str) -> str:
        self.asked.append(path)
        self.before()
        try:
            return self.buffers[path] if path in self.buffers else Path(path).read_bytes().decode()
        finally:
            self.after()

    async def write(self, path: str, text: str) -> None:
        self.before()
        Path(path).write_bytes(text.encode())
        self.buffers.pop(path, None)
        self.written.append(path)
        self.after()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.py").write_text(KEY)
    place = tmp_path / "workspace"
    (place / "folder").mkdir(parents=True)
    (place / "folder" / "a.py").write_text("x = 1\n")
    os.utime(place / "folder" / "a.py", (1, 1))
    return place


@pytest.fixture
def editor() -> OpenEditor:
    return OpenEditor()


@pytest.fixture
def files(workspace: Path, editor: OpenEditor, tmp_path: Path) -> Iterator[OpenFiles]:
    found = OpenFiles(str(workspace), tmp_path / "data", editor)
    yield found
    found.close()


def swap(workspace: Path) -> None:
    """The folder for a link that leads out, or back."""
    handle = os.open(workspace, os.O_RDONLY)
    try:
        assert exchange(handle, "folder", "link")
    finally:
        os.close(handle)


# -- led elsewhere ----------------------------------------------------------------------------------------------------


async def test_s42_a_folder_that_is_a_link_only_while_the_editor_reads_shows_nothing(
    files: OpenFiles, editor: OpenEditor, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "link").symlink_to(tmp_path / "outside")
    editor.before = editor.after = lambda: swap(workspace)
    assert await files.unsaved("folder/a.py") is None
    assert len(editor.asked) == 3  # each answer was dropped
    editor.before = editor.after = lambda: None
    editor.buffers[f"{workspace}/folder/a.py"] = "x = 2\n"
    assert await files.unsaved("folder/a.py") == "x = 2\n"


async def test_s42_a_file_that_is_a_link_only_while_the_editor_reads_shows_nothing(
    files: OpenFiles, editor: OpenEditor, workspace: Path, tmp_path: Path
) -> None:
    place = workspace / "folder" / "a.py"

    def link() -> None:
        place.rename(workspace / "kept")
        place.symlink_to(tmp_path / "outside" / "a.py")

    def back() -> None:
        (workspace / "kept").replace(place)

    editor.before, editor.after = link, back
    assert await files.unsaved("folder/a.py") is None


async def test_s42_no_answer_counts_while_a_folder_is_exchanged_without_pause(
    files: OpenFiles, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "link").symlink_to(tmp_path / "outside")
    with exchanging(workspace / "folder", workspace / "link"):
        for _ in range(200):
            assert await files.unsaved("folder/a.py") is None


@pytest.mark.parametrize(
    "path", ["link/a.py", "a-link.py", "../outside/a.py", "folder/../../outside/a.py", "pipe", "."]
)
async def test_s42_the_editor_is_never_asked_for_links_pipes_and_what_is_outside(
    path: str, files: OpenFiles, editor: OpenEditor, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "link").symlink_to(workspace / "folder")
    (workspace / "a-link.py").symlink_to("folder/a.py")
    os.mkfifo(workspace / "pipe")
    assert await files.unsaved(path) is None
    await files.save(path)
    assert await files.unsaved(str(tmp_path / "outside" / "a.py")) is None
    assert editor.asked == []


def test_s42_the_sidecars_own_directory_is_closed(workspace: Path) -> None:
    root = WorkspaceRoot(str(workspace), [workspace / "folder"])
    with pytest.raises(ToolError):
        WatchedPath(root, "folder/a.py")


@pytest.mark.parametrize("owner", ["data", "data/shells/3"])
async def test_s42_the_editor_writes_nothing_while_a_command_runs(
    owner: str, files: OpenFiles, workspace: Path, editor: OpenEditor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "_PAUSE_SECONDS", 0.01)
    (tmp_path / owner).mkdir(parents=True)
    editor.buffers[f"{workspace}/folder/a.py"] = "x = 2\n"
    environ = {SIDECAR_MARK: sidecar_mark(tmp_path / owner)}
    with running(environ), pytest.raises(NotSaved, match="a command is running"):
        await files.save("folder/a.py")
    assert editor.written == []
    # A server that can't write in the workspace can't move anything there.
    with running({**environ, READER_MARK: "1"}):
        await files.save("folder/a.py")
    assert len(editor.written) == 1


@contextmanager
def running(environ: dict[str, str]) -> Iterator[None]:
    command = subprocess.Popen([sys.executable, "-c", "input()"], env=environ, stdin=subprocess.PIPE)
    try:
        yield
    finally:
        command.communicate(b"\n")


async def test_s42_a_folder_that_is_moved_while_the_editor_writes_is_an_error(
    files: OpenFiles, editor: OpenEditor, workspace: Path, tmp_path: Path
) -> None:
    editor.buffers[f"{workspace}/folder/a.py"] = "x = 2\n"
    (workspace / "link").symlink_to(tmp_path / "outside")
    write = editor.write

    async def swapped(path: str, text: str) -> None:
        swap(workspace)
        await write(path, text)
        swap(workspace)

    editor.write = swapped  # type: ignore[method-assign]
    with pytest.raises(NotSaved, match="was moved meanwhile"):
        await files.save("folder/a.py")


# -- nobody's work is lost --------------------------------------------------------------------------------------------


async def test_s42_unsaved_text_is_saved_by_the_editor(files: OpenFiles, editor: OpenEditor, workspace: Path) -> None:
    editor.buffers[f"{workspace}/folder/a.py"] = "x = 2\n"
    await files.save("folder/a.py")
    assert (workspace / "folder" / "a.py").read_text() == "x = 2\n"
    await files.save("folder/a.py")
    assert len(editor.written) == 1


async def test_s42_an_editor_that_has_not_reloaded_an_agents_edit_does_not_undo_it(
    files: OpenFiles, editor: OpenEditor, workspace: Path
) -> None:
    place = workspace / "folder" / "a.py"
    assert await files.unsaved("folder/a.py") is None
    editor.buffers[str(place)] = place.read_text()  # a clean buffer, still shown when the file has changed
    place.write_text("x = 3\n")
    assert await files.unsaved("folder/a.py") is None
    await files.save("folder/a.py")
    assert place.read_text() == "x = 3\n"


async def test_s42_text_that_may_be_older_than_the_disk_is_shown_but_never_saved(
    files: OpenFiles, editor: OpenEditor, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "_RELOAD_SECONDS", 0.05)
    place = workspace / "folder" / "a.py"
    place.write_text("pulled = True\n")
    editor.buffers[str(place)] = "x = 1  # typed\n"
    assert await files.unsaved("folder/a.py") == "x = 1  # typed\n"
    with pytest.raises(NotSaved, match="changed on disk"):
        await files.save("folder/a.py")
    assert place.read_text() == "pulled = True\n"
    del editor.buffers[str(place)]  # the editor reloads it, and you type on
    assert await files.unsaved("folder/a.py") is None
    editor.buffers[str(place)] = "pulled = True  # typed\n"
    await files.save("folder/a.py")
    assert place.read_text() == "pulled = True  # typed\n"


@pytest.mark.parametrize("content", [b"a\r\nb\r\n", b"\xef\xbb\xbfa\n", "ä\n".encode("latin-1")])
async def test_s42_a_file_whose_bytes_the_editor_might_not_keep_is_not_saved(
    content: bytes, files: OpenFiles, editor: OpenEditor, workspace: Path
) -> None:
    place = workspace / "folder" / "b.py"
    place.write_bytes(content)
    editor.buffers[str(place)] = content.decode("latin-1").removeprefix("ï»¿").replace("\r\n", "\n")
    assert await files.unsaved("folder/b.py") is None  # the same text
    editor.buffers[str(place)] += "more\n"
    assert await files.unsaved("folder/b.py") is not None
    with pytest.raises(NotSaved, match="encoding and line endings"):
        await files.save("folder/b.py")
    assert place.read_bytes() == content


async def test_s42_an_editor_that_only_says_it_saved_is_not_believed(
    files: OpenFiles, editor: OpenEditor, workspace: Path
) -> None:
    editor.buffers[f"{workspace}/folder/a.py"] = "x = 2\n"

    async def nothing(path: str, text: str) -> None:
        pass

    editor.write = nothing  # type: ignore[method-assign]
    with pytest.raises(NotSaved, match="isn't what it was to save"):
        await files.save("folder/a.py")


async def test_s42_a_hung_editor_is_asked_once_and_then_left_alone(
    files: OpenFiles, editor: OpenEditor, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "READ_SECONDS", 0.05)

    async def hang(path: str) -> str:
        editor.asked.append(path)
        await asyncio.Event().wait()
        return ""

    editor.read = hang  # type: ignore[method-assign]
    for _ in range(3):
        assert await files.unsaved("folder/a.py") is None
    assert len(editor.asked) == 1


@pytest.mark.parametrize("answer", ["x" * 3_000_000, "\udc80", ""])
async def test_s42_any_text_of_an_editor_is_taken_or_left(
    answer: str, files: OpenFiles, editor: OpenEditor, workspace: Path
) -> None:
    editor.buffers[f"{workspace}/folder/a.py"] = answer
    assert await files.unsaved("folder/a.py") == (None if len(answer) > 3 else answer)
