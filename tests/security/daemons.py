"""Runs a command that leaves a daemon without our marks, and waits to be killed; for `test_s36_daemons.py`.

`python -m tests.security.daemons TIER DIRECTORY [kept]`: with `kept`, a second command runs meanwhile, and the daemon's
call ends.
"""

import asyncio
import sys
from pathlib import Path

from tests.security.sandboxed import SandboxedWorkbench
from tests.waiting import until_true

#: Leaves its session, its parent and its environment, tries to take off its mark, and writes that it lives.
DAEMON = """
import ctypes, os, resource, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
tried = []
for change in (
    lambda: resource.setrlimit(resource.RLIMIT_RTTIME, (1, 1)),
    lambda: resource.prlimit(0, resource.RLIMIT_RTTIME, (5, 5)),
    lambda: resource.prlimit(os.getpid(), resource.RLIMIT_RTTIME, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)),
):
    try:
        change()
        tried.append("changed")
    except (OSError, ValueError):
        tried.append("kept")
for handle in range(3):
    os.close(handle)
with open("daemon.txt.new", "w") as file:
    file.write(" ".join(tried))
os.rename("daemon.txt.new", "daemon.txt")
sleep = "import signal; signal.pause()"
os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", sleep, "DAEMON" + sys.argv[1]], {})
"""


async def main(tier: str, root: Path, kept: bool) -> None:
    bench = SandboxedWorkbench(root, tier)
    bench.write("daemon.py", DAEMON)
    start = f"{sys.executable} daemon.py {root.name}"
    if kept:
        other = asyncio.create_task(bench.call("run_command", command="sleep 1000", timeoutMs=600_000))
        outcome = await bench.call("run_command", command=f"{start}; while [ ! -e daemon.txt ]; do sleep 0.02; done")
        print(outcome.status, flush=True)
        other.cancel()
        await asyncio.wait((other,))
        await bench.executor.close()
        return
    await bench.call("run_command", command=f"{start}; sleep 1000", background=True)
    await until_true((bench.workspace / "daemon.txt").exists)
    print("running", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), "kept" in sys.argv[3:]))
