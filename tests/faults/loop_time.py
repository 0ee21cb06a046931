"""The sidecar, with the processor time that its event loop spends at a stretch.

Run in place of `sidecar`; SIGUSR1 starts the measurement. Processor time says whether something blocks the loop however
busy the machine is. Each new maximum goes to the file that LOOP_TIME names, with the task that took it.
"""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

from sidecar.cli import main

_run = asyncio.Handle._run
_longest = float("inf")


def _start(*_: object) -> None:
    global _longest
    _longest = 0.0


def _measured(handle: asyncio.Handle) -> None:
    global _longest
    began = time.thread_time()
    try:
        _run(handle)
    finally:
        taken = time.thread_time() - began
        if taken > _longest:
            _longest = taken
            task = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
            text = json.dumps({"seconds": taken, "task": repr(task)[:500]})
            Path(os.environ["LOOP_TIME"]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _start)
    asyncio.Handle._run = _measured  # type: ignore[method-assign]
    sys.exit(main())
