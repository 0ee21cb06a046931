"""The sidecar, with the processor time that its event loop spends at a stretch.

Run in place of `sidecar`; SIGUSR1 starts the measurement. Processor time says whether something blocks the loop however
busy the machine is. A garbage collection in any thread counts too: it holds the interpreter's lock. Each new maximum
goes to the file that LOOP_TIME names, with the task or thread that took it and where that task was meanwhile.
"""

import asyncio
import gc
import json
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

from sidecar.cli import main

_run = asyncio.Handle._run
_longest = float("inf")
_LOOK_SECONDS = 0.005
#: Stretches that are longer are looked at, so often at most.
_LONG_SECONDS = 0.02
_LOOKS = 20
#: The processor time of the loop's thread when the running stretch began, and where it was seen since.
_began = float("inf")
_seen: list[str] = []
#: The processor time of a thread when its garbage collection began. Only one runs at a time.
_collecting = 0.0


def _start(*_: object) -> None:
    global _longest
    _longest = 0.0
    threading.Thread(target=_look, args=(threading.main_thread().ident,), daemon=True).start()


def _look(loop: int) -> None:
    clock = time.pthread_getcpuclockid(loop)
    while True:
        time.sleep(_LOOK_SECONDS)
        if time.clock_gettime(clock) - _began > _LONG_SECONDS and len(_seen) < _LOOKS:
            frames = traceback.extract_stack(sys._current_frames()[loop])[-8:]
            _seen.append(" < ".join(f"{Path(each.filename).name}:{each.lineno} {each.name}" for each in frames[::-1]))


def _note(taken: float, who: str) -> None:
    global _longest
    if taken > _longest:
        _longest = taken
        text = json.dumps({"seconds": taken, "task": who, "seen": _seen})
        Path(os.environ["LOOP_TIME"]).write_text(text, encoding="utf-8")


def _collected(phase: str, info: dict[str, int]) -> None:
    global _collecting
    if phase == "start":
        _collecting = time.thread_time()
    else:
        taken, thread = time.thread_time() - _collecting, threading.current_thread()
        if taken <= _longest:
            return
        where = traceback.extract_stack(limit=6)[:-1]
        places = " < ".join(f"{Path(each.filename).name}:{each.lineno} {each.name}" for each in where[::-1])
        _note(taken, f"garbage collection {info['generation']} in {thread.name}: {places}")


def _measured(handle: asyncio.Handle) -> None:
    global _began
    _seen.clear()
    _began = time.thread_time()
    try:
        _run(handle)
    finally:
        taken, _began = time.thread_time() - _began, float("inf")
        if taken > _longest:
            _note(taken, repr(getattr(handle._callback, "__self__", None))[:500])  # type: ignore[attr-defined]


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _start)
    gc.callbacks.append(_collected)
    asyncio.Handle._run = _measured  # type: ignore[method-assign]
    sys.exit(main())
