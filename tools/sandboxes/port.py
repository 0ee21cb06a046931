"""The port of sandboxes that hold a copy of the workspace.

A sandbox runs commands and exchanges files, nothing else: `copies.py` copies the workspace in and the changes out,
`host.py` makes it the place where an agent's commands run. No implementation is given a secret of yours to hold.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tools.errors import ToolError

FILE = "sandbox.toml"

#: Gets what a command prints: 1 for stdout or 2 for stderr, and the bytes.
SandboxOutput = Callable[[int, bytes], None]


class SandboxError(ToolError):
    """A sandbox can't be had, or was lost. Nothing of the workspace changed."""

    code = "sandbox_failed"


def too_long(limit: int) -> SandboxError:
    return SandboxError(f"What the sandbox has is longer than {limit >> 10} KiB. Nothing was brought back.")


def inside(workspace: str, cwd: str) -> str:
    """Where a command starts. An absolute `cwd` is one of ours."""
    return workspace if cwd == "." else cwd if cwd.startswith("/") else f"{workspace}/{cwd}"


class SecretRule(BaseModel):
    """A header that the broker outside adds to what a command sends to a host; the command never has its value."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    header: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,60}$")] = "Authorization"
    #: `$NAME` is replaced by that variable, or by the stored key of that name.
    value: Annotated[str, Field(pattern=r"\$[A-Z][A-Z0-9_]+")]
    #: Where the host is served instead of `https://HOST`.
    url: Annotated[str, Field(pattern=r"^https?://[^/@]+$")] | None = None


class CodegenOrganization(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    organization: int
    #: Codegen's id of the repository; without it, its agent chooses.
    repository: int | None = None
    url: Annotated[str, Field(pattern=r"^https?://[^/@]+$")] = "https://api.codegen.com"


class SandboxSpec(BaseModel):
    """`sandbox.toml` of the configuration directory.

    template = "docker.io/library/python:3.12"       # an image, or a template of E2B; it has sh, tar and sleep
    repository = "https://github.com/acme/shop"      # cloned first, if commands need Git's history
    preinstall = ["pip install -r requirements.txt"]
    [environment]
    CI = "1"
    [secrets."api.github.com"]
    value = "Bearer $BRAIN_GITHUB_TOKEN"
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    template: str = ""
    repository: Annotated[str, Field(pattern=r"^(https?://[^@\s]+)?$")] = ""
    branch: Annotated[str, Field(pattern=r"^([A-Za-z0-9_][A-Za-z0-9._/-]*)?$")] = ""
    environment: dict[str, str] = {}
    preinstall: Annotated[list[str], Field(max_length=50)] = []
    #: Seconds after which a sandbox ends, even if the sidecar is gone.
    ttl: Annotated[int, Field(ge=60, le=86_400)] = 3_600
    #: The engine's socket; without it, those of Docker and Podman are tried.
    socket: Annotated[str, Field(pattern=r"^(/.*)?$")] = ""
    secrets: dict[str, SecretRule] = {}
    codegen: CodegenOrganization | None = None


def load_spec(directory: Path) -> SandboxSpec:
    """`sandbox.toml` of the configuration directory."""
    file = directory / FILE
    try:
        return SandboxSpec.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return SandboxSpec()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SandboxError(f"{file}: `{where}`: {first['msg']}.") from error
    except (OSError, ValueError) as error:
        raise SandboxError(f"{file} can't be read: {error}") from error


class NetworkAccess(NamedTuple):
    """What one command may reach: these hosts, or anything if you approved exactly this command."""

    hosts: tuple[str, ...] = ()
    anywhere: bool = False


NO_NETWORK = NetworkAccess()


class SandboxSession(Protocol):
    """One sandbox. It has a loopback of its own and no network but what a command is given."""

    #: For people, such as `container 3f2a…`.
    name: str
    #: Directories inside: the copy of the workspace, and one for the files of `write` and `read`.
    workspace: str
    exchange: str

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        environment: Mapping[str, str],
        output: SandboxOutput,
        network: NetworkAccess = NO_NETWORK,
    ) -> int:
        """The exit code. It has no time limit of its own: a caller that cancels must `close` the sandbox.

        When it returns, nothing that the command started runs any more.
        """

    async def write(self, name: str, content: bytes) -> None:
        """A file in `exchange`."""

    async def read(self, name: str, limit: int) -> bytes:
        """Raises `SandboxError` if it is missing, or longer."""

    async def close(self) -> None:
        """Remove the sandbox with every process in it. Never raises; may be repeated."""


class Sandbox(Protocol):
    """Where sandboxes come from."""

    tier: str

    async def open(self, spec: SandboxSpec) -> SandboxSession:
        """A new, empty sandbox that ends after `ttl` by itself. Raises `SandboxError`."""

    async def sweep(self, spec: SandboxSpec) -> Sequence[str]:
        """Remove what an earlier process with this data directory left; the names of what was removed."""

    async def check(self, spec: SandboxSpec) -> str:
        """What is missing for `open` to work; empty if nothing is."""

    async def close(self) -> None:
        """Drop connections; open sandboxes are closed by then."""
