"""A thread that answers the system calls which a command's seccomp filter reports, until its last process has ended.

Calls that change attributes of files go to a guard, if there is one, which carries them out itself. Every other call
goes on. If the thread ends, the kernel fails the calls that it would have reported instead of making them wait.

The filter reports only calls that change files: the flags of an open are a number that it can test. Every other call
runs at full speed. A call that could change files unseen (io_uring, x32) does not exist for the command.
"""

import ctypes
import errno
import fcntl
import logging
import os
import select
import struct
import threading
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from typing import NamedTuple
from weakref import finalize

from tools.local import bpf
from tools.local.attribution.attributes import GUARDED, AttributeGuard
from tools.local.attribution.system_calls import AT_REMOVEDIR, MACHINES, SYSTEM_CALLS, WRITING, SystemCall
from tools.local.sandbox.seccomp import build_filter, install_filter

log = logging.getLogger(__name__)

_RECEIVE, _ANSWER, _STILL_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
#: id, thread, flags; number, architecture, instruction; six arguments.
_NOTIFICATION = struct.Struct("QIIiIQ6Q")
_REPLY = struct.Struct("QqiI")
_CONTINUE = 1
_SYNCHRONOUS = 1
_BEAT_SECONDS = 1.0
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER = 1
_NEW_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5
_NO_NEW_PRIVS = 38
_IO_URING_SETUP = 425
_MISSING = bpf.refuse(errno.ENOSYS)


class Notification(NamedTuple):
    id: int
    thread: int
    call: int
    architecture: int
    arguments: list[int]


class NotificationThread:
    """One for each process that is started. `install` runs in the thread that starts it."""

    beat_seconds = _BEAT_SECONDS

    def __init__(self, guard: AttributeGuard | None = None) -> None:
        self._guard = guard
        self._handle = -1
        self._installed = threading.Event()
        self._ended: Future[None] = Future()
        self._ended.set_running_or_notify_cancel()  # a waiting caller can't cancel it
        self._poll = select.poll()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        finalize(self, os.close, self._wake)
        # Started by a thread that has all rights: one that is confined would pass its lack of them on.
        self._thread = threading.Thread(target=self._run, name="notifications", daemon=True)
        self._thread.start()

    def install(self) -> None:
        """In the thread that starts the command. Raises only if the command must not run."""
        try:
            self._handle = install_listener(guarded=self._guard is not None)
        except (OSError, KeyError) as error:
            self.missed(f"The changes of this command were not recorded: {error}")
            if self._guard is not None:
                # Another listener is there already, so these calls can't be carried out.
                install_filter(build_filter("network", approved=True, attributes=False))
        finally:
            self._installed.set()

    def stop(self) -> "Future[None]":
        """After the last process has ended: handle what is pending, then end."""
        if not self._ended.done():
            self._installed.set()
            os.eventfd_write(self._wake, 1)
        return self._ended

    # -- for a kind of thread that also records ----------------------------------------------------------------------

    def also_wait_for(self, handle: int) -> None:
        """Call `ready` when there is something to read from this handle too."""
        self._poll.register(handle, select.POLLIN)

    def ready(self) -> None: ...

    def record(self, notification: Notification) -> None: ...

    def beat(self) -> None: ...

    def finish(self) -> None: ...

    def close(self) -> None:
        """After `stop` has returned: it may take its time."""

    def missed(self, why: str) -> None: ...

    # ----------------------------------------------------------------------------------------------------------------

    def is_waiting(self, number: int) -> bool:
        """Whether the call still waits: otherwise its process is gone, and its number may be another's."""
        try:
            fcntl.ioctl(self._handle, _STILL_VALID, struct.pack("Q", number))
        except OSError:
            return False
        return True

    def _run(self) -> None:
        self._installed.wait()
        try:
            if self._handle >= 0:
                with suppress(OSError):
                    fcntl.ioctl(self._handle, _SET_FLAGS, _SYNCHRONOUS)
                self._serve()
        except Exception:
            log.exception("The calls of a command are no longer answered")
            self.missed("")
        finally:
            try:
                if self._handle >= 0:
                    os.close(self._handle)
                self.finish()
            finally:
                self._ended.set_result(None)
                self.close()

    def _serve(self) -> None:
        poll = self._poll
        poll.register(self._handle, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        ours = {self._handle, self._wake}
        stopping = False
        while True:
            ready = dict(poll.poll(0 if stopping else self.beat_seconds * 1000))
            happened = ready.get(self._handle, 0)
            if happened & select.POLLIN:
                self._notified()  # first, because its process waits
            else:
                if ready.keys() - ours:
                    self.ready()
                if happened or stopping:
                    return  # no process is left that the filter binds
            stopping = stopping or self._wake in ready
            self.beat()

    def _notified(self) -> None:
        buffer = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self._handle, _RECEIVE, buffer)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):
                return  # the process was killed meanwhile
            raise
        number, thread, _, call, architecture, _, *arguments = _NOTIFICATION.unpack(buffer)
        notification = Notification(number, thread, call, architecture, arguments)
        reply = _REPLY.pack(number, 0, 0, _CONTINUE)
        try:
            self.record(notification)
        finally:
            if self._guard is not None and self._guard.covers(architecture, call):
                reply = _REPLY.pack(number, 0, -self._carry_out(self._guard, notification), 0)
            with suppress(OSError):
                fcntl.ioctl(self._handle, _ANSWER, reply)

    def _carry_out(self, guard: AttributeGuard, notification: Notification) -> int:
        """The error number, or 0. Never lets a call go on: its arguments may have changed since they were checked."""
        try:
            return guard.perform(notification, lambda: self.is_waiting(notification.id))
        except Exception:
            log.exception("A change of attributes could not be carried out")
            return errno.EPERM


def install_listener(*, guarded: bool = False) -> int:
    """Report this thread's file changes from now on; the handle of the listener. Raises `OSError`.

    With `guarded`, calls that change attributes of files are reported too, all of them.
    """
    if os.geteuid() != 0 and bpf.libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(errno.EPERM, "the thread could still gain rights")
    program = bpf.KernelProgram(_program(guarded))
    number = _SECCOMP[os.uname().machine]
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        handle = bpf.libc().syscall(number, _SET_MODE_FILTER, flags, program.header)
        if handle >= 0:
            return int(handle)
        if ctypes.get_errno() != errno.EINVAL:
            break
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@cache
def _program(guarded: bool) -> bytes:
    lines: list[bpf.Line] = []
    for architecture in MACHINES[os.uname().machine]:
        body = _body(architecture, guarded)
        lines += [
            (bpf.LOAD, 0, 0, bpf.ARCHITECTURE),
            (bpf.EQUAL, 1, 0, architecture),
            (bpf.JUMP, 0, 0, len(body)),
            *body,
        ]
    lines.append((bpf.RETURN, 0, 0, _MISSING))
    return bpf.assemble(lines)


def _body(architecture: int, guarded: bool) -> list[bpf.Line]:
    lines: list[bpf.Line] = [
        (bpf.LOAD, 0, 0, bpf.NUMBER),
        (bpf.AT_LEAST, 0, 1, bpf.X32),
        (bpf.RETURN, 0, 0, _MISSING),
        (bpf.EQUAL, 0, 1, _IO_URING_SETUP),
        (bpf.RETURN, 0, 0, _MISSING),
    ]
    for number, call in SYSTEM_CALLS[architecture].items():
        lines += _report(number, call)
    for number in GUARDED.get(architecture, {}) if guarded else ():
        lines += [(bpf.EQUAL, 0, 1, number), (bpf.RETURN, 0, 0, bpf.NOTIFY)]
    lines.append((bpf.RETURN, 0, 0, bpf.ALLOW))
    return lines


def _report(number: int, call: SystemCall) -> list[bpf.Line]:
    if call.kind == "open":
        then, otherwise, bits = bpf.NOTIFY, bpf.ALLOW, WRITING
    elif call.kind == "remove" and call.flags >= 0:
        then, otherwise, bits = bpf.ALLOW, bpf.NOTIFY, AT_REMOVEDIR
    else:
        return [(bpf.EQUAL, 0, 1, number), (bpf.RETURN, 0, 0, bpf.NOTIFY)]
    return [
        (bpf.EQUAL, 0, 4, number),
        (bpf.LOAD, 0, 0, bpf.ARGUMENTS + 8 * call.flags),
        (bpf.ANY_BIT, 0, 1, bits),
        (bpf.RETURN, 0, 0, then),
        (bpf.RETURN, 0, 0, otherwise),
    ]
