"""`brain shell`: the reference desktop shell without a window. `brain desktop` runs the same shell."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, workspace

if TYPE_CHECKING:
    from bridge.shell.shell import Endpoint, ReferenceShell
    from sidecar.config.data_dir import ShellDirectory
    from sidecar.wire.bridge import Welcome


def shell(args: argparse.Namespace) -> int:
    import asyncio

    from sidecar.telemetry import logs

    logs.configure()
    return asyncio.run(_run(args, workspace(args), data_dir(args)))


async def _run(args: argparse.Namespace, place: Path, directory: Path) -> int:
    import asyncio

    from sidecar.commands.serve import stop_on_signals, stop_with_parent
    from sidecar.config.data_dir import ShellDirectory

    offered = _tool_names(args.tools)

    def connected(frame: "Welcome") -> None:
        line = {"event": "connected", "session": frame.session, "workspace": running.workspace, "tools": offered}
        sys.stdout.write(json.dumps({**line, "pid": os.getpid(), "sandbox": running.sandboxes.tier}) + "\n")
        sys.stdout.flush()

    if find_endpoint(directory) is None:
        sys.stderr.write(f"No sidecar is running on {directory} yet; waiting for one (`brain serve`).\n")
    stop = asyncio.Event()
    stop_on_signals(stop.set)
    if args.die_with_parent:
        stop_with_parent(asyncio.get_running_loop(), stop.set)
    own = ShellDirectory(directory)
    running = build_shell(place, directory, own, args.name, offered)
    running.on_welcome = connected
    sys.stderr.write(f"Sandbox for commands: {running.sandboxes.description}.\n")
    async with running:
        await stop.wait()
    own.release()
    return 0


def _tool_names(chosen: str | None = None) -> list[str]:
    """The tools a shell can run, or those of them that were chosen."""
    from tools.executor.registry import default_registry

    known = [tool.spec.name for tool in default_registry() if tool.spec.executor != "local"]
    if not chosen:
        return known
    wanted = [name.strip() for name in chosen.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise CommandFailed(f"Unknown tools: {', '.join(unknown)}. Available: {', '.join(known)}.", EXIT_USAGE)
    return wanted


def find_endpoint(directory: Path) -> "Endpoint | None":
    """Where the sidecar of the data directory is now. A program that took its port could give the shell orders, so it
    must prove that it knows the token."""
    from bridge.shell.shell import Endpoint
    from sidecar.client.sidecars import find_sidecar

    client = find_sidecar(directory)
    return None if client is None else Endpoint(client.url, client.token)


def build_shell(
    place: Path, directory: Path, own: "ShellDirectory", name: str, tools: Sequence[str] | None = None
) -> "ReferenceShell":
    """Its commands run in the same sandbox and with the same limits as the sidecar's."""
    from bridge.shell.shell import ReferenceShell
    from sidecar import __version__
    from sidecar.config.paths import config_file
    from sidecar.config.settings import load
    from sidecar.wire.bridge import ShellInfo
    from tools.executor.registry import default_registry
    from tools.local.confinement import CommandLimits
    from tools.local.sandbox.probe import Sandboxes

    settings = load(os.environ)
    return ReferenceShell(
        place,
        lambda: find_endpoint(directory),
        own.path,
        private=(directory, config_file().parent),
        registry=default_registry(),
        tools=_tool_names() if tools is None else tools,
        info=ShellInfo(name=name[:200], version=__version__),
        sandboxes=Sandboxes(settings.sandbox),
        limits=CommandLimits(settings.command_file_bytes, settings.command_processes, settings.command_memory_bytes),
    )
