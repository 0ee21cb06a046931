"""Starts a process from a thread that has given up its rights before: the process never had them."""

import subprocess
import threading
from typing import Any

from tools.local.sandbox.port import Start


def spawned(start: Start, **options: Any) -> "subprocess.Popen[bytes]":
    """`options` are those of `Popen`. Raises what giving up or starting raised; then nothing was started."""
    if start.give_up is None:
        # Not from another thread: bubblewrap ends with the thread that started it.
        return subprocess.Popen(start.argv, env=start.environment, **options)
    give_up = start.give_up
    begun: list[subprocess.Popen[bytes]] = []
    failed: list[BaseException] = []

    def begin() -> None:
        try:
            give_up()
            begun.append(subprocess.Popen(start.argv, env=start.environment, **options))
        except BaseException as error:
            failed.append(error)

    # A thread of its own, never one that is used again: what it gave up does not come back.
    thread = threading.Thread(target=begin, name="confined", daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return begun[0]
