"""A desktop shell on the bridge, as the commands run it: with every tool, and back to a sidecar that was restarted."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bridge.shell import Endpoint, ReferenceShell
from sidecar import __version__
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_USAGE
from sidecar.config.data_dir import ShellDirectory
from sidecar.config.paths import READY_FILE, TOKEN_FILE
from sidecar.config.settings import Settings, SettingsError, load
from sidecar.wire.bridge import ShellInfo
from tools.executor.registry import Registry, default_registry
from tools.local.limits import Limits
from tools.local.sandbox import Sandboxes


def offered(registry: Registry) -> list[str]:
    """What a shell can carry out."""
    return [tool.spec.name for tool in registry if tool.spec.executor != "local"]


def endpoint(data_dir: Path) -> Endpoint | None:
    """Where the sidecar of the data directory is now."""
    try:
        ready = json.loads((data_dir / READY_FILE).read_text(encoding="utf-8"))
        return Endpoint(ready["url"], (data_dir / TOKEN_FILE).read_text(encoding="utf-8").strip())
    except (OSError, ValueError, KeyError, TypeError):
        return None


def shell(
    workspace: Path, data_dir: Path, own: ShellDirectory, name: str, tools: Sequence[str] | None = None
) -> ReferenceShell:
    """Its commands run inside the same sandbox as those of the sidecar, by the same settings."""
    registry, settings = default_registry(), settings_of(os.environ)
    return ReferenceShell(
        workspace,
        lambda: endpoint(data_dir),
        own.path,
        private=data_dir,
        registry=registry,
        tools=offered(registry) if tools is None else tools,
        info=ShellInfo(name=name[:200], version=__version__),
        sandboxes=Sandboxes(settings.sandbox),
        limits=Limits(settings.command_file_bytes, settings.command_processes, settings.command_memory_bytes),
    )


def settings_of(environ: Mapping[str, str]) -> Settings:
    try:
        return load(environ)
    except SettingsError as error:
        raise CommandFailed(str(error), EXIT_USAGE) from error
