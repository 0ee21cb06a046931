"""`make demo`: three tasks in a temporary project, with a real sidecar and no key; then the panel's address.

Project and data directory are temporary and removed at the end.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TASKS = (
    "create a python package called textkit that shortens text",
    "rename shorten to abbreviate",
    "run the tests",
)
OFFLINE = "offline/basic"
START_SECONDS = 20.0


def main(arguments: Sequence[str]) -> int:
    stays = "--once" not in arguments
    # Ctrl-C cancels the running task; other signals end the demo, which cleans up.
    stopped = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stopped.set())
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="rainy-brain-") as directory:
        workspace, data = Path(directory, "textkit"), Path(directory, "data")
        workspace.mkdir()
        with serving(workspace, data):
            # Its tests may run without asking, also after its settings change: the directory is ours.
            brain("policy", "allow", "checks", "--workspace", str(workspace), data=data, stdout=subprocess.DEVNULL)
            for task in TASKS:
                print(prompt(f'brain run "{task}"'), flush=True)
                code = brain("run", task, "--workspace", str(workspace), data=data)
                if code != 0:
                    return code
            print("\nThe panel shows every step and can undo it:", flush=True)
            code = brain("open", "--print", data=data)
            if stays and code == 0:
                print(f"The project is in {workspace}. Ctrl-C ends the demo and removes it.", flush=True)
                stopped.clear()
                stopped.wait()
                print()
    return code


def prompt(command: str) -> str:
    plain = not sys.stdout.isatty() or bool(os.environ.get("NO_COLOR"))
    return f"\n$ {command}" if plain else f"\n\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m"


def brain(*arguments: str, data: Path, stdout: int | None = None) -> int:
    command = [sys.executable, "-m", "sidecar", *arguments, "--data-dir", str(data)]
    return subprocess.run(command, cwd=ROOT, stdout=stdout, check=False).returncode


@contextmanager
def serving(workspace: Path, data: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "sidecar", "serve", "--port", "0", "--die-with-parent"]
    command += ["--workspace", str(workspace), "--data-dir", str(data)]
    # Your own settings and keys are not for this sidecar.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BRAIN_")}
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**environment, "BRAIN_MODEL_FAST": OFFLINE, "BRAIN_MODEL_SMART": OFFLINE, "BRAIN_MODEL_INSTANT": OFFLINE},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    late = threading.Timer(START_SECONDS, process.kill)
    late.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit("The sidecar didn't start. Run `brain doctor`.")
        json.loads(line)
        late.cancel()
        yield
    finally:
        late.cancel()
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
