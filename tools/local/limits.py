"""What one command may use up. Set by the shell that becomes the command: the limits hold before its first instruction.

There is no limit for address space unless the person sets one: a race detector or a WebAssembly engine reserves
terabytes that it never uses. A machine that runs out of memory ends a command before anything else instead.
"""

import math
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_OPEN_FILES = 65_536
_BLOCK = 512
#: What a command may compute after its time limit, should nobody be left to end it.
_LEEWAY = 60
_FIRST_TO_END = "500"
_SHELL = ("/bin/sh", "-c")
_LIMITS = re.compile(r"ulimit -c 0 2>/dev/null; (?:(?:ulimit|\{ ulimit|\{ echo)[^;]*(?:; \})? 2>/dev/null; )*")


@dataclass(frozen=True, slots=True)
class Limits:
    """Zero is no limit."""

    file_bytes: int = 1_000_000_000
    processes: int = 4_096
    memory_bytes: int = 0

    def around(self, argv: Sequence[str], seconds: float | None) -> list[str]:
        """`seconds` is how long it may run, if that is known; its processors work at most that long."""
        if sys.platform == "win32":
            return list(argv)
        lines = ["ulimit -c 0", f"ulimit -n {_fewer_files()}"]
        if self.file_bytes:
            lines.append(f"ulimit -f {self.file_bytes // _BLOCK}")
        if self.memory_bytes:
            lines.append(f"ulimit -v {self.memory_bytes // 1024}")
        if seconds is not None:
            lines.append(f"ulimit -t {math.ceil(seconds) * (os.cpu_count() or 1) + _LEEWAY}")
        if self.processes and os.geteuid() != 0:
            # Of all that this person runs; shells differ in the letter. For root there is none: `Crowd` looks after it.
            most = _running() + self.processes
            lines.append(f"{{ ulimit -u {most} || ulimit -p {most}; }}")
        if sys.platform == "linux":
            lines.append(f"{{ echo {_FIRST_TO_END} > /proc/self/oom_score_adj; }}")
        # One that this system does not know, or that is lower already, is left as it is.
        script = "".join(f"{line} 2>/dev/null; " for line in lines)
        if len(argv) == 3 and tuple(argv[:2]) == _SHELL:
            return [*_SHELL, f"{script}{argv[2]}"]  # it is a shell already, and need not become another one
        return [*_SHELL, f'{script}exec "$@"', "sh", *argv]


def without_limits(command: str) -> str:
    """A command line of a process as it was given, for people."""
    return _LIMITS.sub("", command, count=1)


class Crowd:
    """Whether there are so many more processes on this machine than there were that somebody must be counted."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._level = _running()

    def grown(self) -> bool:
        now = _running()
        if not self.most or now - self._level <= self.most:
            return False
        self._level = now  # should it be somebody else's crowd, it is not counted again and again
        return True


def ends_first(pid: int) -> None:
    """When memory runs out the kernel takes this one, and what it starts, before the person's editor.

    Said from outside, too: inside Landlock nothing in `/proc` can be written.
    """
    if sys.platform != "linux":
        return
    try:
        handle = os.open(f"/proc/{pid}/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return  # it has ended already, or is not ours to judge
    try:
        os.write(handle, _FIRST_TO_END.encode())
    except OSError:
        pass
    finally:
        os.close(handle)


def _fewer_files() -> int:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(_OPEN_FILES if each == resource.RLIM_INFINITY else each for each in (soft, hard, _OPEN_FILES))


def _running() -> int:
    """All tasks of this machine, in one read."""
    try:
        with open("/proc/loadavg", "rb") as file:  # noqa: PTH123 - called for every command
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return 0
