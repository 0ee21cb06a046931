"""A mark on every process of a command that it can't take off, unlike a variable of its environment.

It is the limit of real-time processor time, which nothing else uses: so large that it never ends anything, inherited by
every child, and kept by the sandbox's filter. A guardian outlives us and ends what carries the mark, even if we are
killed.
"""

import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from weakref import finalize

_LIMIT_NAME = b"Max realtime timeout"
_FIRST_DIGIT = 4
_SIDECAR_DIGITS, _CALL_DIGITS = 12, 6
_WAIT_SECONDS = 0.5
#: Waits until our end of its input closes, then ends what is marked, until nothing is left.
_GUARDIAN = r"""
trap '' HUP INT TERM
read -r _
round=0
while [ $round -lt 100 ]; do
    found=$(grep -ls "$1 *$2" /proc/[0-9]*/limits 2>/dev/null)
    [ -n "$found" ] || break
    for place in $found; do
        place=${place#/proc/}
        kill -9 "${place%/limits}" 2>/dev/null
    done
    round=$((round + 1))
    sleep 0.02
done
"""


def limit_mark(sidecar: str, call_id: str) -> int:
    """A number: its first digits identify a sidecar's data directory, the others a call."""
    return int(f"{_prefix(sidecar)}{_digits(call_id, _CALL_DIGITS)}")


def is_mark_of(mark: int | None, sidecar: str) -> bool:
    return mark is not None and str(mark).startswith(_prefix(sidecar)) and len(str(mark)) == _length()


def set_mark(pid: int, mark: int) -> None:
    """Where the system can't, the marks in the environment have to do."""
    if sys.platform == "linux":
        import resource

        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_RTTIME, (mark, mark))


def read_mark(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:  # noqa: PTH123 - of many processes
            text = file.read()
    except OSError:
        return None
    for line in text.split(b"\n"):
        if line.startswith(_LIMIT_NAME):
            hard = line[len(_LIMIT_NAME) :].split()[1]
            return int(hard) if hard.isdigit() else None
    return None


class Guardian:
    """A small process that ends what carries a sidecar's mark, as soon as the sidecar is gone."""

    def __init__(self, sidecar: str) -> None:
        self._sidecar = sidecar
        self._process: subprocess.Popen[bytes] | None = None
        self._dismiss: finalize[..., Guardian] | None = None

    def ensure(self) -> int | None:
        """Before the first command that no namespace ends with us; the guardian's process."""
        if sys.platform != "linux":
            return None
        if self._process is None or self._process.poll() is not None:
            self.close()
            with suppress(OSError):
                self._start()
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        if self._dismiss is not None:
            self._dismiss()
        self._dismiss = self._process = None

    def _start(self) -> None:
        waiting, ours = os.pipe()
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDIAN, "guardian", _LIMIT_NAME.decode(), f"[0-9]* *{_prefix(self._sidecar)}"],
                stdin=waiting,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath)},
                start_new_session=True,
            )
        except OSError:
            os.close(ours)
            raise
        finally:
            os.close(waiting)
        self._dismiss = finalize(self, _end, self._process, ours)


def _end(process: "subprocess.Popen[bytes]", ours: int) -> None:
    os.close(ours)
    try:
        process.wait(_WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _prefix(sidecar: str) -> str:
    return f"{_FIRST_DIGIT}{_digits(sidecar, _SIDECAR_DIGITS)}"


def _length() -> int:
    return 1 + _SIDECAR_DIGITS + _CALL_DIGITS


def _digits(text: str, count: int) -> str:
    number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return str(number % 10**count).zfill(count)
