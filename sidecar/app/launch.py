"""How a sidecar is started, and the names by which others reach it."""

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from sidecar.api.server import Certificate
from sidecar.config.errors import EXIT_NO_SIDECAR, UserError

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class NotLoaded(UserError):
    """The installation lacks a file, or one in it is broken."""

    exit_code = EXIT_NO_SIDECAR


class Launch(NamedTuple):
    """The arguments of `brain serve`."""

    workspace: Path
    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 3847
    exit_when_idle: bool = False
    #: Otherwise it answers requests and accepts operations, but runs no task.
    runs_tasks: bool = True
    #: Otherwise one command uses it for a moment: others don't find it, and it starts nothing by itself.
    stays: bool = True
    #: What other machines see: a certificate, and the name in it.
    certificate: Certificate | None = None
    public_name: str = ""
    #: Otherwise it is a worker: it runs tasks and listens nowhere.
    serves: bool = True
    #: The pool whose tasks it runs; none for all. Only with a database.
    pool: str | None = None
    #: How many tasks run at once; by default as set.
    slots: int | None = None
    #: Touched with each heartbeat to the fleet.
    alive_file: Path | None = None

    @property
    def scheme(self) -> str:
        return "http" if self.certificate is None else "https"

    def authority(self, port: int) -> str:
        """The host and port that only this machine uses."""
        return _authority(self.host, port)

    def local_url(self, port: int) -> str:
        return f"{self.scheme}://{self.authority(port)}"

    def url(self, port: int) -> str:
        return f"{self.scheme}://{_authority(self.public_name or self.host, port)}"

    def hosts(self, port: int) -> Collection[str]:
        """A public name also without our port: a proxy or the default port of HTTPS leaves it out."""
        names = {*LOOPBACK, self.host}
        public = {self.public_name.lower(), f"{self.public_name.lower()}:{port}"} if self.public_name else set()
        return {_authority(name, port) for name in names} | public


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split(text: str) -> list[str]:
    """The parts of a setting with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
