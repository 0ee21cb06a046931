"""The sandbox port, and the one place that decides what a command may read, write and reach."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tools.local.attribution.attributes import AttributeGuard
from tools.local.sandbox.gateway import Gateway
from tools.local.sandbox.home import cache_places, secret_places, tool_places
from tools.local.temporary import make_directory

#: All that a program of ours needs of the system.
LIBRARIES = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/nix")


@dataclass(frozen=True, slots=True)
class CommandAccess:
    """What one command may do. Each sandbox translates it, and adds nothing to it.

    A command reads the system and `readable`. It writes `workspace`, `writable` and temporary files of its own.
    """

    workspace: str
    home: str
    #: You saw exactly this command and allowed it.
    approved: bool
    network: bool
    #: Beside the system: your tools and caches, our own Python, and the repository around the workspace.
    readable: tuple[str, ...]
    #: Beside the workspace.
    writable: tuple[str, ...]
    #: Parts of the workspace that stay as they are, for a sandbox that can hold them.
    readonly: tuple[str, ...]
    #: Only `granted` uncovers these.
    hidden: tuple[str, ...]
    #: What you granted the repository to read, by name.
    granted: tuple[str, ...]
    #: The sidecar's own. Nothing uncovers it.
    private: tuple[str, ...]
    #: Whether the workspace itself may be written.
    writes: bool = True
    #: Whether it reads the system; a search needs nothing but its own program.
    system: bool = True

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
        granted: Sequence[str] = (),
        writes: bool = True,
        system: bool = True,
        environment: Mapping[str, str] | None = None,
    ) -> "CommandAccess":
        """`private` are the sidecar's own directories; `environment` names tools in your home directory.

        An approved command may use the network, your credentials and caches, and change protected files; it would be
        of no use otherwise. It still writes nowhere else. Without `writes`, it only looks at the workspace.
        """
        secrets = [] if approved else secret_places(home)
        tools = [home] if approved else tool_places(home, environment or {}) if writes else []
        return cls(
            workspace,
            home,
            approved=approved,
            network=approved,
            readable=(*tools, sys.prefix, sys.base_prefix, *readable),
            writable=(*(cache_places(home) if approved else ()), *writable),
            readonly=() if approved else tuple(readonly),
            # A workspace beneath such a place is visible, and nothing beside it.
            hidden=tuple(place for place in secrets if not f"{workspace}/".startswith(f"{place}/")),
            granted=tuple(granted),
            private=tuple(private),
            writes=writes,
            system=system,
        )


class CommandLaunch(NamedTuple):
    """How to start a command inside a sandbox.

    `restrict` runs in a new thread, which then starts the command and ends: the command never has the rights that the
    thread dropped. If it raises, nothing starts. The command inherits `handles`, which are closed after its start.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    restrict: Callable[[], None] | None = None
    handles: tuple[int, ...] = ()
    #: Carries out changes of modes and owners, where the sandbox can't confine them.
    guard: AttributeGuard | None = None
    #: It waits for a line on its input before it runs anything.
    gated: bool = False
    #: See `tools/local/marks.py`.
    mark: int | None = None
    #: Serves the hosts that you granted.
    gateway: Gateway | None = None


class SandboxTier(Protocol):
    tier: str
    #: Whether the process we start only supervises the command, and ends by itself after it.
    supervised: bool
    #: Whether it can keep parts of the workspace read-only.
    holds_files: bool
    #: Whether a command without network has a loopback of its own, where a gateway can listen.
    own_network: bool

    def wrap(
        self, argv: Sequence[str], access: CommandAccess, cwd: str, environment: Mapping[str, str]
    ) -> CommandLaunch: ...


def temporary_directory(owner: object) -> str:
    """For a sandbox without a private `/tmp`: one for all commands of this process, removed with its owner."""
    return make_directory("commands", owner)
