"""The sandbox port, and the one place that decides what a command may read, write and reach."""

import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

_SECRETS = """
.ssh .gnupg .aws .azure .kube .docker .netrc .git-credentials .pypirc .npmrc .password-store .config/gcloud .config/gh
.config/rainy-brain .local/share/rainy-brain .local/share/keyrings .mozilla .thunderbird .config/google-chrome
.config/chromium .bash_history .zsh_history .python_history Library/Keychains
"""
_CACHES = """
.cache .npm .yarn .pnpm-store .bun/install .cargo/registry .cargo/git go/pkg .gradle .m2 .ivy2 .nuget .gem
.local/share/pnpm .local/share/virtualenv Library/Caches
"""


@dataclass(frozen=True, slots=True)
class CommandAccess:
    """What one command may do. Each sandbox translates it, and adds nothing to it.

    A command reads the system and `readable`. It writes `workspace`, `writable` and temporary files of its own.
    """

    workspace: str
    home: str
    network: bool
    #: Beside the system: the home directory, and our own Python, whose programs are on the PATH.
    readable: tuple[str, ...]
    #: Beside the workspace.
    writable: tuple[str, ...]
    #: Parts of the workspace that stay as they are, for a sandbox that can hold them.
    readonly: tuple[str, ...]
    #: Nothing else uncovers these.
    hidden: tuple[str, ...]
    #: Whether the workspace itself may be written.
    writes: bool = True

    @classmethod
    def grant(
        cls,
        workspace: str,
        home: str = "",
        *,
        approved: bool = False,
        private: Sequence[str] = (),
        readonly: Sequence[str] = (),
        readable: Sequence[str] = (),
        writable: Sequence[str] = (),
        writes: bool = True,
    ) -> "CommandAccess":
        """`approved`: you saw exactly this command and allowed it. `private` are the sidecar's own directories.

        An approved command may use the network, your credentials and caches, and change protected files; it would be
        of no use otherwise. It still writes nowhere else. Without `writes`, it only looks at the workspace.
        """
        return cls(
            workspace,
            home,
            network=approved,
            readable=(*((home,) if writes else ()), sys.prefix, sys.base_prefix, *readable),
            writable=(*(_existing(home, _CACHES) if approved else ()), *writable),
            readonly=() if approved else tuple(readonly),
            hidden=(*(() if approved else _existing(home, _SECRETS)), *private),
            writes=writes,
        )


class CommandLaunch(NamedTuple):
    """How to start a command inside a sandbox.

    `restrict` runs in a new thread, which then starts the command and ends: the command never has the rights that the
    thread dropped. If it raises, nothing starts.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    restrict: Callable[[], None] | None = None


class Sandbox(Protocol):
    tier: str
    #: Whether the process we start only supervises the command, and ends by itself after it.
    supervised: bool
    #: Whether it can keep parts of the workspace read-only.
    holds_files: bool

    def wrap(
        self, argv: Sequence[str], access: CommandAccess, cwd: str, environment: Mapping[str, str]
    ) -> CommandLaunch: ...


def temporary_directory(owner: object) -> str:
    """For a sandbox without a private `/tmp`: one for all commands of this process, removed with its owner."""
    place = tempfile.mkdtemp(prefix="brain-")
    weakref.finalize(owner, shutil.rmtree, place, ignore_errors=True)
    return place


def _existing(home: str, names: str) -> list[str]:
    if not home.startswith("/"):
        return []
    return [place for name in names.split() if _is_there(place := f"{home.rstrip('/')}/{name}")]


def _is_there(place: str) -> bool:
    """Links don't count: they may lead anywhere."""
    try:
        return not stat.S_ISLNK(os.lstat(place).st_mode)
    except OSError:
        return False
