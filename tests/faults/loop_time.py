"""The sidecar, with the processor time that its event loop spends at a stretch, imports left out.

Run in place of `sidecar`. Processor time says whether something blocks the loop however busy the machine is. Each new
maximum goes to the file that LOOP_TIME names, with the task that took it.
"""

import asyncio
import builtins
import json
import os
import sys
import threading
import time
from pathlib import Path

from sidecar.cli import main

_run = asyncio.Handle._run
_import = builtins.__import__
_main = threading.main_thread()
_longest = 0.0
_imports = 0.0
_depth = 0


def _imported(*args: object, **more: object) -> object:
    global _imports, _depth
    if threading.current_thread() is not _main:
        return _import(*args, **more)  # type: ignore[arg-type]
    began, _depth = time.thread_time(), _depth + 1
    try:
        return _import(*args, **more)  # type: ignore[arg-type]
    finally:
        _depth -= 1
        if _depth == 0:
            _imports += time.thread_time() - began


def _measured(handle: asyncio.Handle) -> None:
    global _longest
    began, imports = time.thread_time(), _imports
    try:
        _run(handle)
    finally:
        taken = time.thread_time() - began - (_imports - imports)
        if taken > _longest:
            _longest = taken
            task = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
            text = json.dumps({"seconds": taken, "task": repr(task)[:500]})
            Path(os.environ["LOOP_TIME"]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    builtins.__import__ = _imported  # type: ignore[assignment]
    asyncio.Handle._run = _measured  # type: ignore[method-assign]
    sys.exit(main())
