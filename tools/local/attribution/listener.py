"""The thread that hears of a command's file changes before they happen, records them, and lets them happen.

It never decides anything: every call goes on, whatever happens here. If the thread ends, the kernel fails the calls
that it would have reported instead of making them wait.
"""

import errno
import fcntl
import logging
import os
import select
import struct
import threading
from contextlib import suppress
from weakref import finalize

from tools.local.attribution import filter as seccomp
from tools.local.attribution.process import Locator, Unreadable, name_of, read_flags, read_text
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

_RECEIVE, _ANSWER, _STILL_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
#: id, thread, flags; number, architecture, instruction; six arguments.
_NOTIFICATION = struct.Struct("QIIiIQ6Q")
_REPLY = struct.Struct("QqiI")
_CONTINUE = 1
_SYNCHRONOUS = 1
_ACCESS, _CREATE = 0o3, 0o100
_EXCHANGE, _NO_REPLACE = 2, 1
#: The sandbox's own program: it changes nothing in the workspace before it becomes the command.
_SANDBOX_PROGRAM = "bwrap"
_UNREAD = "Some changes of this command could not be attributed: a process of it can't be read."


class Listener:
    """One for each process that is started. `install` runs in the thread that starts it."""

    def __init__(self, touched: TouchedFiles, versions: VersionLog, workspace: str, root: int) -> None:
        self._touched = touched
        self._versions = versions
        self._locator = Locator(workspace, root)
        self._root = root
        self._handle = -1
        self._installed = threading.Event()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        finalize(self, os.close, self._wake)
        # Started by a thread that has all rights: one that is confined would pass its lack of them on.
        self._thread = threading.Thread(target=self._run, name="attribution", daemon=True)
        self._thread.start()

    def install(self) -> None:
        """In the thread that starts the command. Never raises: the command runs in any case."""
        try:
            self._handle = seccomp.install_listener()
        except (OSError, KeyError) as error:
            self._touched.problem = f"The changes of this command were not recorded: {error}"
        self._installed.set()

    def stop(self) -> None:
        """After the last process has ended: handle what is pending, then end."""
        self._installed.set()
        os.eventfd_write(self._wake, 1)
        self._thread.join()

    def _run(self) -> None:
        self._installed.wait()
        watch = None
        try:
            if self._handle >= 0:
                with suppress(OSError):
                    fcntl.ioctl(self._handle, _SET_FLAGS, _SYNCHRONOUS)
                with suppress(OSError):
                    watch = DirectoryWatch()
                    self._touched.watch(watch)
                self._serve(watch)
        except Exception:
            log.exception("The changes of a command are no longer attributed")
            self._touched.problem = self._touched.problem or _UNREAD
        finally:
            if self._handle >= 0:
                os.close(self._handle)
            if watch is not None:
                with self._touched.lock:
                    self._hear(watch)
                    self._touched.unwatch()
                watch.close()
            os.close(self._root)

    def _serve(self, watch: DirectoryWatch | None) -> None:
        poll = select.poll()
        for handle in (self._handle, self._wake, *((watch.handle,) if watch is not None else ())):
            poll.register(handle, select.POLLIN)
        stopping = False
        while True:
            ready = dict(poll.poll(0 if stopping else BEAT_SECONDS * 1000))
            if watch is not None and watch.handle in ready:
                with self._touched.lock:
                    self._hear(watch)
            happened = ready.get(self._handle, 0)
            if happened & select.POLLIN:
                self._notified(watch)
            elif happened or stopping:
                return  # nobody is left whom the filter binds
            stopping = stopping or self._wake in ready
            self._versions.beat()

    def _hear(self, watch: DirectoryWatch) -> None:
        for event in watch.events():
            self._touched.happened(event.path, removed=event.removed)

    def _notified(self, watch: DirectoryWatch | None) -> None:
        buffer = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self._handle, _RECEIVE, buffer)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):
                return  # the process was killed meanwhile
            raise
        number, thread, _, call, architecture, _, *arguments = _NOTIFICATION.unpack(buffer)
        try:
            known = SYSTEM_CALLS[architecture][call]
            with self._touched.lock:
                self._record(thread, known, architecture, arguments, watch)
        except Unreadable:
            if self._is_waiting(number) and name_of(thread) != _SANDBOX_PROGRAM:
                self._touched.problem = self._touched.problem or _UNREAD
        except Exception:
            log.exception("A change of a command could not be attributed")
            self._touched.problem = self._touched.problem or _UNREAD
        finally:
            with suppress(OSError):
                fcntl.ioctl(self._handle, _ANSWER, _REPLY.pack(number, 0, 0, _CONTINUE))

    def _is_waiting(self, number: int) -> bool:
        """Whether the call still waits: otherwise its process is gone, and its number may be another's."""
        try:
            fcntl.ioctl(self._handle, _STILL_VALID, struct.pack("Q", number))
        except OSError:
            return False
        return True

    def _record(
        self,
        thread: int,
        call: SystemCall,
        architecture: int,
        arguments: list[int],
        watch: DirectoryWatch | None,
    ) -> None:
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
        if watch is not None:
            self._hear(watch)
        self._claim(call, flags, places)

    def _claim(self, call: SystemCall, flags: int, places: list[str | None]) -> None:
        touched, path = self._touched, places[0]
        if call.kind == "rename":
            exchange = call.flags >= 0 and bool(flags & _EXCHANGE)
            touched.rename(path, places[1], exchange=exchange, replaces=not (call.flags >= 0 and flags & _NO_REPLACE))
        elif path is None:
            return
        elif call.kind in ("open", "openat2"):
            exclusive = bool(flags & _CREATE and flags & EXCLUSIVE)
            touched.write(path, creates=bool(flags & _CREATE), exclusive=exclusive, counted=bool(flags & _ACCESS))
        elif call.kind == "create":
            touched.write(path)
        elif call.kind == "remove":
            touched.remove(path)
        elif call.kind == "link":
            touched.link(path)
        else:
            touched.change(path)
