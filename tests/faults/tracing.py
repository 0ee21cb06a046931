"""The sidecar under strace, which makes its system calls fail or kills it in the middle of one."""

import os
import signal
import subprocess
from contextlib import suppress

from tests.e2e.support import PLAIN, RunningSidecar


def start_traced(sidecar: RunningSidecar, calls: str, injection: str) -> bool:
    """Whether it lived until it was ready."""
    strace = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:{injection}")
    sidecar.launcher = (*strace, *PLAIN)
    try:
        sidecar.start()
    except AssertionError:
        sidecar.close()
        return False
    finally:
        sidecar.launcher = PLAIN
    return True


def end_traced(sidecar: RunningSidecar, number: int, *, within: float = 10) -> None:
    """The signal goes to the sidecar itself: strace alone would only let go of it."""
    assert sidecar.process is not None
    with suppress(ProcessLookupError):
        os.kill(sidecar.pid, number)
    try:
        sidecar.process.wait(within)
    except subprocess.TimeoutExpired:
        os.kill(sidecar.pid, signal.SIGKILL)
        raise
    finally:
        sidecar.close()
