"""`brain` as a person uses it: as a program with pipes, or on a terminal where keys are pressed."""

import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.e2e.preloaded import can_fork, run_forked
from tests.e2e.support import PROJECT, SECONDS, RunningSidecar
from tests.waiting import wait_until

BRAIN = (sys.executable, "-m", "sidecar")
#: Live output is for those who watch already, so it is said again and again.
LONG = "while :; do echo started; sleep 0.1; done"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def brain(
    *arguments: str, environ: Mapping[str, str], cwd: Path = PROJECT, stdin: str = "", seconds: float = 30
) -> subprocess.CompletedProcess[str]:
    """Its exit code, and what it wrote to either output."""
    if can_fork(environ):
        return run_forked(arguments, {**environ, "PYTHONPATH": str(PROJECT)}, cwd, stdin, seconds)
    return subprocess.run(
        [*BRAIN, *arguments],
        env={**environ, "PYTHONPATH": str(PROJECT)},
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def brain_output(sidecar: RunningSidecar, *words: str) -> str:
    """The output of a command that succeeds on the sidecar's data directory."""
    result = brain(*words, "--data-dir", str(sidecar.data_dir), environ=sidecar.environ)
    assert result.returncode == 0, result.stderr
    return result.stdout


@contextmanager
def program(*arguments: str, environ: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """`brain` with pipes, killed when it hangs: its output then ends, and a test that reads it fails."""
    command = [*BRAIN, *arguments]
    with subprocess.Popen(
        command, env=environ, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        late = threading.Timer(SECONDS, process.kill)
        late.start()
        try:
            yield process
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
            late.cancel()
            late.join()


class OnTerminal:
    """A program whose input and outputs are a terminal that we hold the other end of."""

    def __init__(
        self, arguments: Sequence[str], environ: Mapping[str, str], cwd: Path, columns: int, term: str
    ) -> None:
        self._end, theirs = pty.openpty()
        _resize(theirs, columns)
        self.process = subprocess.Popen(
            [*BRAIN, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environ, "PYTHONPATH": str(PROJECT), "TERM": term},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_take_the_terminal,
        )
        os.close(theirs)
        self._raw = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def raw(self) -> str:
        return self._raw.decode(errors="replace")

    @property
    def text(self) -> str:
        """Everything that was ever written, without what moves the cursor or colours the text."""
        return _ESCAPES.sub("", self.raw).replace("\r", "")

    def wait_for(self, text: str, *, seconds: float = SECONDS) -> None:
        try:
            wait_until(lambda: text in self.text, seconds=seconds, what=repr(text))
        except AssertionError as error:
            raise AssertionError(f"{error}; the terminal shows at the end:\n{self.text[-3_000:]}") from None

    def press(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def resize(self, columns: int) -> None:
        _resize(self._end, columns)

    def press_ctrl_c(self) -> None:
        self.press("\x03")

    def exit_code(self, *, seconds: float = SECONDS) -> int:
        code = self.process.wait(seconds)
        self._reader.join(seconds)
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        os.close(self._end)

    def _read(self) -> None:
        # The other end is closed when the program and all that it started have let go of it.
        with suppress(OSError):
            while data := os.read(self._end, 65_536):
                self._raw += data
                if b"\x1b[6n" in data:
                    # As a terminal does, say where the cursor is.
                    os.write(self._end, b"\x1b[1;1R")


@contextmanager
def on_terminal(
    *arguments: str, environ: Mapping[str, str], cwd: Path = PROJECT, columns: int = 100, term: str = "xterm-256color"
) -> Iterator[OnTerminal]:
    program = OnTerminal(arguments, environ, cwd, columns, term)
    try:
        yield program
    finally:
        program.close()


def _resize(descriptor: int, columns: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))


def _take_the_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


# -- what a test of the commands needs to know of a data directory --------------------------------------


def script(home: dict[str, str], name: str, *replies: dict[str, Any]) -> str:
    directory = Path(home["BRAIN_DATA_DIR"]) / "scripts"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{name}.json").write_text(json.dumps(replies))
    return f"scripted/{name}"


def command(text: str) -> dict[str, Any]:
    return {"calls": [{"tool": "run_command", "args": {"command": text}}]}


def sidecar_of(home: dict[str, str]) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads((Path(home["BRAIN_DATA_DIR"]) / "sidecar.json").read_text())
    except FileNotFoundError:
        return None
    return found


def newest(home: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(brain("show", "--json", environ=home).stdout)
    return found
