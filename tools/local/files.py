"""Reads and changes files of a workspace, each path through its `WorkspaceRoot`. The host decides on threads."""

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import Literal

from sidecar.config.paths import closed_after
from tools.errors import ChangedElsewhere, FileMissing, NotADirectory, PathDenied, SecretFile, ToolError
from tools.host import FileChange, FileContent, FileInfo
from tools.lease import check_lease
from tools.local.root import WorkspaceRoot, name_to_text, path_of, read_handle
from tools.local.writers import exchange, has_writers, start_writing
from tools.protected import is_public, may_be_certificate, secret_part

#: Suffix of a file that is about to replace another one.
TEMPORARY_SUFFIX = ".brain-tmp"
_CHUNK = 1 << 20
_CREATED = "Read it, then edit it instead."
#: Without O_NONBLOCK, opening a pipe without a writer would wait for ever.
_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_KINDS: dict[int, Literal["file", "directory", "symlink", "other"]] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
}


def stat_file(root: WorkspaceRoot, path: str, *, follow: bool = True) -> FileInfo:
    if follow:
        with closed_after(root.open(path)) as handle:
            return _info(path, os.fstat(handle))
    directory, _, last = root.relative(path).rpartition("/")
    if last in (".", ".."):
        return stat_file(root, path)
    handle = root.open(directory or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        return _info(path, os.stat(last, dir_fd=handle, follow_symlinks=False))
    except FileNotFoundError as error:
        raise FileMissing(f"{path} does not exist.", advice="Look with list_dir or find_files.") from error
    except OSError as error:
        raise PathDenied(f"{path} can't be inspected: {error.strerror}.") from error
    finally:
        os.close(handle)


def whole_file(root: WorkspaceRoot, path: str, limit: int, *, secrets: bool = True) -> tuple[FileInfo, bytes | None]:
    """The file's info, and its content if it is regular and has at most `limit` bytes, both from one open.

    Without `secrets`, raises `SecretFile` for a file that may hold some.
    """
    if not root.seems_regular(path):
        return stat_file(root, path), None
    with closed_after(root.open(path, _READING)) as handle:
        info = _info(path, os.fstat(handle))
        if not secrets:
            refuse_secret(root, path, handle)
        if info.kind != "file" or info.size > limit:
            return info, None
        content = os.read(handle, info.size + 1)
        while info.size < len(content) <= limit and (more := os.read(handle, _CHUNK)):
            content += more  # it has grown since
        return info, content if len(content) <= limit else None


def read_file(root: WorkspaceRoot, path: str, limit: int, offset: int = 0, *, secrets: bool = True) -> bytes:
    with closed_after(root.open(path, _READING)) as handle:
        if not secrets:
            refuse_secret(root, path, handle)
        return read_handle(handle, path, limit, offset)


def refuse_secret(root: WorkspaceRoot, path: str, handle: int) -> None:
    """Raises `SecretFile` if the open file may hold secrets, whatever the path that led to it."""
    real = path_of(handle)[len(root.path) :]
    name = secret_part(name_to_text(real)) or secret_part(path)
    if name is None:
        return
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        return
    if may_be_certificate(real) and is_public(os.pread(handle, _CHUNK, 0)):
        return
    raise SecretFile(path, name)


def list_directory(root: WorkspaceRoot, path: str) -> list[FileInfo]:
    prefix = "" if root.relative(path) == "." else f"{path.rstrip('/')}/"
    found = []
    with open_directory(root, path) as (_, inside):
        for entry in inside:
            with suppress(OSError):  # it is gone already
                found.append(_info(f"{prefix}{name_to_text(entry.name)}", entry.stat(follow_symlinks=False)))
    found.sort(key=lambda info: info.path)
    return found


@contextmanager
def open_directory(root: WorkspaceRoot, path: str) -> Iterator[tuple[int, Iterator[os.DirEntry[str]]]]:
    """A directory's handle and entries."""
    try:
        handle = root.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except NotADirectory as error:
        raise NotADirectory(f"{path} is a file, not a directory.", advice="Use read_file for its content.") from error
    with closed_after(handle), os.scandir(handle) as found:
        yield handle, found


def look(root: WorkspaceRoot, path: str, limit: int) -> FileContent | None:
    """At most one byte more than `limit`; a link is not followed. `None` for a missing file or a directory."""
    try:
        info = stat_file(root, path, follow=False)
    except (FileMissing, NotADirectory):
        return None
    if info.kind == "directory":
        return None
    if info.kind == "symlink":
        directory, name = root.parent(path, follow=False)
        try:
            return FileContent(os.fsencode(os.readlink(name, dir_fd=directory)), stat.S_IFLNK | info.mode)
        except OSError:
            return None  # it is no link any more
        finally:
            os.close(directory)
    try:
        return FileContent(read_file(root, path, min(info.size, limit) + 1), info.mode)
    except FileMissing:
        return None


def apply_change(root: WorkspaceRoot, change: FileChange) -> None:
    """Replace `before` by `after` in one visible step, on disk when this returns."""
    (error,) = apply_changes(root, [change])
    if error is not None:
        raise error


def apply_changes(root: WorkspaceRoot, changes: Sequence[FileChange]) -> list[ToolError | None]:
    """The error of each change that failed. They wait for the disk together, which is quicker than one by one."""
    errors: list[ToolError | None] = [None] * len(changes)
    applying = {number: _apply(root, change) for number, change in enumerate(changes)}
    unsynced: dict[int, OSError] = {}
    while applying:
        handles: dict[int, int] = {}
        for number, each in list(applying.items()):
            try:
                handles[number] = each.throw(unsynced[number]) if number in unsynced else next(each)
            except StopIteration:
                del applying[number]
            except ToolError as error:
                errors[number] = error
                del applying[number]
        unsynced = _sync(handles)
    return errors


def _sync(handles: Mapping[int, int]) -> dict[int, OSError]:
    """Sync each file once, however many handles it has; returns what failed."""
    if len(handles) > 1:
        # The disk then writes all of them while we wait for the first.
        for handle in handles.values():
            start_writing(handle)
    results: dict[tuple[int, int], OSError | None] = {}
    failed: dict[int, OSError] = {}
    for number, handle in handles.items():
        found = os.fstat(handle)
        file = found.st_dev, found.st_ino
        if file not in results:
            results[file] = None
            try:
                os.fsync(handle)
            except OSError as error:
                results[file] = error
        if (problem := results[file]) is not None:
            failed[number] = problem
    return failed


def _apply(root: WorkspaceRoot, change: FileChange) -> Generator[int, None, None]:
    """Yields each handle that must be synced before it goes on."""
    linked = stat.S_ISLNK(change.mode or 0) or stat.S_ISLNK(change.was or 0)
    directory, name = root.parent(
        change.path, create=change.after is not None, follow=not (linked or change.located), links=not change.located
    )
    try:
        # The name follows from the path, so the next attempt removes what a killed process left.
        temporary = f".{sha256(os.fsencode(name)).hexdigest()[:12]}{TEMPORARY_SUFFIX}"
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=directory)
        old = _compare(directory, name, change)
        if change.before == change.after and (old is None or not _changes_mode(old, change)):
            return
        if change.after is None:
            check_lease()
            _remove(directory, name, temporary, change)
        else:
            yield from _replace(directory, name, temporary, change, old)
        # Open the directory again: its handle may be one that can't be synced.
        with closed_after(os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)) as again:
            yield again
    except OSError as error:
        raise ToolError(
            f"{change.path} could not be written: {error.strerror}.", advice="Tell the user.", code="disk"
        ) from error
    finally:
        os.close(directory)


def _changes_mode(old: os.stat_result, change: FileChange) -> bool:
    """Whether the mode, or the kind of file, changes."""
    if change.mode is None:
        return False
    return stat.S_ISLNK(old.st_mode) != stat.S_ISLNK(change.mode) or (
        not stat.S_ISLNK(change.mode) and stat.S_IMODE(old.st_mode) != stat.S_IMODE(change.mode)
    )


def _compare(directory: int, name: str, change: FileChange) -> os.stat_result | None:
    """Raises `ChangedElsewhere` unless the file is still `before`."""
    if stat.S_ISLNK(change.was or 0):
        return _compare_link(directory, name, change)
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError:
        if change.before is None:
            return None
        raise ChangedElsewhere(
            f"{change.path} was deleted meanwhile. Nothing was written.", advice="Look, then decide."
        ) from None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ChangedElsewhere(
            f"{change.path} became a link meanwhile. Nothing was written.", advice="Look there."
        ) from None
    with closed_after(handle):
        found = os.fstat(handle)
        if change.before is None:
            if stat.S_ISDIR(found.st_mode) and _remove_if_empty(directory, name):
                return None
            raise ChangedElsewhere(f"{change.path} was created meanwhile.", advice=_CREATED)
        if read_handle(handle, change.path, len(change.before) + 1) != change.before:
            raise ChangedElsewhere(
                f"{change.path} was edited meanwhile.", advice="Read it again, then repeat your change."
            )
        return found


def _compare_link(directory: int, name: str, change: FileChange) -> os.stat_result:
    try:
        if change.before is not None and os.fsencode(os.readlink(name, dir_fd=directory)) == change.before:
            return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        pass
    raise ChangedElsewhere(f"{change.path} is no longer the same link. Nothing was written.", advice="Look there.")


def remove_empty_folders(root: WorkspaceRoot, paths: Sequence[str]) -> None:
    """In this order. Those that aren't empty, aren't there, are links or are behind one stay as they are."""
    for path in paths:
        with suppress(ToolError, OSError):
            directory, name = root.parent(path, follow=False, links=False)
            with closed_after(directory):
                os.rmdir(name, dir_fd=directory)


def _remove_if_empty(directory: int, name: str) -> bool:
    """Remove a directory that holds only empty directories; whether it was one."""
    if not _each_directory(directory, name, lambda handle, each: True):
        return False

    def remove(handle: int, each: str) -> bool:
        with suppress(OSError):
            os.rmdir(each, dir_fd=handle)
            return True
        return False

    return _each_directory(directory, name, remove)


def _each_directory(directory: int, name: str, act: Callable[[int, str], bool]) -> bool:
    """Whether `act` succeeded for a directory and all in it, innermost first. Anything but a directory stops it."""
    with closed_after(
        os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    ) as handle:
        with os.scandir(handle) as entries:
            inner = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        if not all(is_directory and _each_directory(handle, each, act) for each, is_directory in inner):
            return False
    return act(directory, name)


def _replace(
    directory: int, name: str, temporary: str, change: FileChange, old: os.stat_result | None
) -> Generator[int, None, None]:
    if change.after is None:
        raise AssertionError("no content to write")
    try:
        if stat.S_ISLNK(change.mode or 0):
            os.symlink(change.after, temporary, dir_fd=directory)
        else:
            yield from _write(directory, temporary, change.after, change.mode, old)
        if old is None:
            check_lease()
            # A link fails where a rename would silently replace a file that just appeared.
            os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
            os.unlink(temporary, dir_fd=directory)
        else:
            # Writing took a while: what was saved meanwhile must not be lost.
            _compare(directory, name, change)
            check_lease()
            _swap(directory, name, temporary, change)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        if isinstance(error, FileExistsError):
            raise ChangedElsewhere(f"{change.path} was created meanwhile.", advice=_CREATED) from error
        raise


def _swap(directory: int, name: str, temporary: str, change: FileChange) -> None:
    """Put the new file in place; back again if the old one is not what it was, or someone is still writing it."""
    if stat.S_ISLNK(change.was or 0) or not exchange(directory, temporary, name):
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        return
    if _is_written(directory, temporary, change):
        exchange(directory, temporary, name)
        raise being_written(change.path)
    os.unlink(temporary, dir_fd=directory)


def _remove(directory: int, name: str, temporary: str, change: FileChange) -> None:
    if stat.S_ISLNK(change.was or 0):
        os.unlink(name, dir_fd=directory)
        return
    os.rename(name, temporary, src_dir_fd=directory, dst_dir_fd=directory)
    if _is_written(directory, temporary, change):
        with suppress(FileExistsError):  # somebody made a new one
            os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
            os.unlink(temporary, dir_fd=directory)
        raise being_written(change.path)
    os.unlink(temporary, dir_fd=directory)


def being_written(path: str) -> ChangedElsewhere:
    return ChangedElsewhere(f"{path} is being written.", advice="Wait, read it again, then repeat your change.")


def _is_written(directory: int, old: str, change: FileChange) -> bool:
    """Whether the file that lost its name is open for writing, or is no longer the one that was compared."""
    try:
        handle = os.open(old, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        return True
    with closed_after(handle):
        before = change.before or b""
        return has_writers(handle) or read_handle(handle, change.path, len(before) + 1) != before


def _write(
    directory: int, name: str, content: bytes, mode: int | None, old: os.stat_result | None
) -> Generator[int, None, None]:
    with closed_after(
        os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=directory)
    ) as handle:
        view = memoryview(content)
        while view:
            view = view[os.write(handle, view) :]
        if mode is None and old is not None and stat.S_ISREG(old.st_mode):
            mode = old.st_mode
        if mode is not None:
            os.fchmod(handle, stat.S_IMODE(mode))
        if old is not None and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(OSError):
                os.fchown(handle, old.st_uid, old.st_gid)
        yield handle


def _info(path: str, found: os.stat_result) -> FileInfo:
    kind = stat.S_IFMT(found.st_mode)
    return FileInfo(
        path=path,
        kind=_KINDS.get(kind, "other"),
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        inode=found.st_ino,
        mode=stat.S_IMODE(found.st_mode),
        ctime_ns=found.st_ctime_ns,
        links=found.st_nlink,
    )
