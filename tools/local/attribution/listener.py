"""Receives a command's file changes before they happen, and records them. It never denies one."""

import logging
import os
import shutil
from contextlib import suppress
from functools import cache

from tools.local.attribution.attributes import AttributeGuard
from tools.local.attribution.notifications import Notification, NotificationThread
from tools.local.attribution.process import Locator, Unreadable, is_program, name_of, read_flags, read_text
from tools.local.attribution.system_calls import (
    AT_SYMLINK_NOFOLLOW,
    EXCLUSIVE,
    NO_FOLLOW,
    SYSTEM_CALLS,
    WRITING,
    SystemCall,
)
from tools.local.attribution.touched import TouchedFiles
from tools.local.attribution.versions import BEAT_SECONDS, VersionLog
from tools.local.attribution.watch import DirectoryWatch

log = logging.getLogger(__name__)

_ACCESS, _CREATE = 0o3, 0o100
_EXCHANGE, _NO_REPLACE = 2, 1
#: The sandbox's own program: it changes nothing in the workspace before it becomes the command.
_SANDBOX_PROGRAM = "bwrap"
_UNREAD = "Some changes of this command could not be attributed: a process of it can't be read."


class Listener(NotificationThread):
    """One for each process that is started. `install` runs in the thread that starts it."""

    beat_seconds = BEAT_SECONDS

    def __init__(
        self,
        touched: TouchedFiles,
        versions: VersionLog,
        workspace: str,
        root: int,
        guard: AttributeGuard | None = None,
    ) -> None:
        self._touched = touched
        self._versions = versions
        self._locator = Locator(workspace, root)
        self._root = root
        self._watch: DirectoryWatch | None = None
        self._watched = False
        #: Whether the sandbox is set up, and the command itself makes calls.
        self._begun = False
        super().__init__(guard)

    def ready(self) -> None:
        with self._touched.lock:
            self._touched.hear()

    def beat(self) -> None:
        self._versions.beat()

    def finish(self) -> None:
        if self._watch is not None:
            with self._touched.lock:
                self._touched.hear()
                self._touched.unwatch()
        os.close(self._root)

    def close(self) -> None:
        # The kernel takes about 10 ms for this.
        if self._watch is not None:
            self._watch.close()

    def missed(self, why: str) -> None:
        self._touched.problem = self._touched.problem or why or _UNREAD

    def record(self, notification: Notification) -> None:
        if not self._begun and is_program(notification.thread, _sandbox_file()):
            return
        # From here on another program runs, which may start the sandbox's program for its own ends.
        self._begun = True
        try:
            known = SYSTEM_CALLS[notification.architecture].get(notification.call)
            if known is not None:
                with self._touched.lock:
                    self._record(notification.thread, known, notification.architecture, notification.arguments)
        except Unreadable:
            if self.is_waiting(notification.id) and name_of(notification.thread) != _SANDBOX_PROGRAM:
                self.missed(_UNREAD)
        except Exception:
            log.exception("A change of a command could not be attributed")
            self.missed(_UNREAD)

    def _record(self, thread: int, call: SystemCall, architecture: int, arguments: list[int]) -> None:
        flags = arguments[call.flags] if call.flags >= 0 else 0
        if call.kind == "openat2":
            flags = read_flags(thread, arguments[2])
            if not flags & WRITING:
                return
        follow = (
            call.kind in ("open", "openat2")
            and not flags & NO_FOLLOW[architecture]
            and not (flags & _CREATE and flags & EXCLUSIVE)
        ) or (call.kind in ("create", "change") and not flags & AT_SYMLINK_NOFOLLOW)
        if call.kind == "fchmod":
            places = [self._locator.handle_path(thread, arguments[0])]
        else:
            places = [
                self._locator.locate(
                    thread,
                    -100 if directory < 0 else arguments[directory],
                    read_text(thread, arguments[name]),
                    follow=follow,
                )
                for directory, name in call.paths
            ]
        if all(place is None for place in places):
            return
        if not self._watched:
            # Only now: most commands change nothing in the workspace, and a watch costs a lot.
            self._watched = True
            with suppress(OSError):
                self._watch = DirectoryWatch()
                self._touched.watch(self._watch)
                self.also_wait_for(self._watch.handle)
        self._touched.hear()
        self._claim(thread, call, flags, places)

    def _claim(self, thread: int, call: SystemCall, flags: int, places: list[str | None]) -> None:
        touched, path = self._touched, places[0]
        if call.kind == "rename":
            exchange = call.flags >= 0 and bool(flags & _EXCHANGE)
            touched.rename(path, places[1], exchange=exchange, replaces=not (call.flags >= 0 and flags & _NO_REPLACE))
        elif call.kind == "hard link":
            touched.hard_link(path, places[1])
        elif path is None:
            return
        elif call.kind in ("open", "openat2"):
            exclusive = bool(flags & _CREATE and flags & EXCLUSIVE)
            writer = thread if flags & _ACCESS else None
            touched.write(path, creates=bool(flags & _CREATE), exclusive=exclusive, writer=writer)
        elif call.kind == "create":
            touched.write(path, writer=thread)
        elif call.kind == "remove":
            touched.remove(path)
        elif call.kind == "link":
            touched.link(path)
        else:
            touched.change(path)


@cache
def _sandbox_file() -> tuple[int, int] | None:
    """Device and inode of the sandbox's program, which no other program can pretend to be."""
    program = shutil.which(_SANDBOX_PROGRAM)
    found = os.stat(program) if program is not None else None  # noqa: PTH116 - hot
    return None if found is None else (found.st_dev, found.st_ino)
