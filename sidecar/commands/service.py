"""`brain service`: let your system keep a sidecar running, as a systemd user unit or a launchd agent."""

import argparse
import os
import platform
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from sidecar.client.sidecars import PROGRAM
from sidecar.commands.errors import EXIT_FAILED, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir
from sidecar.config.paths import write_private

UNIT = "rainy-brain.service"
LABEL = "dev.rainybrain.sidecar"
_SECONDS = 30


class ServiceManager(NamedTuple):
    """A system's manager of user services: its file, and the commands that load, unload and show it."""

    program: str
    file: Path
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    status: tuple[str, ...]


def install(args: argparse.Namespace) -> int:
    manager = _manager()
    command = [*PROGRAM, "serve", "--port", str(args.port), "--data-dir", str(data_dir(args))]
    text = systemd_unit(command) if manager.program == "systemctl" else launchd_agent(command)
    manager.file.parent.mkdir(parents=True, exist_ok=True)
    write_private(manager.file, text)
    print(f"Wrote {manager.file}")
    if args.no_start:
        return 0
    for step in manager.start:
        if problem := _run(step):
            print(
                f"It isn't running yet: `{' '.join(step)}` said: {problem}\nThe file stays; run that command again "
                "in a session of your own, or start a sidecar with `brain serve`.",
                file=sys.stderr,
            )
            return EXIT_FAILED
    print("The sidecar runs now, and starts when you log in. `brain service status` shows it.")
    return 0


def uninstall(_: argparse.Namespace) -> int:
    manager = _manager()
    if not manager.file.exists():
        print(f"No service is installed ({manager.file} doesn't exist).")
        return 0
    for step in manager.stop:
        if problem := _run(step):
            print(f"`{' '.join(step)}` said: {problem}", file=sys.stderr)
    manager.file.unlink()
    print(f"Removed {manager.file}. Your tasks are kept.")
    return 0


def status(_: argparse.Namespace) -> int:
    manager = _manager()
    if not manager.file.exists():
        print("No service is installed. `brain service install` installs one.")
        return EXIT_FAILED
    print(f"Installed: {manager.file}")
    return EXIT_FAILED if _run(manager.status, show=True) else 0


def systemd_unit(command: list[str]) -> str:
    return f"""\
[Unit]
Description=Rainy Brain sidecar

[Service]
ExecStart={" ".join(_quoted(word) for word in command)}
WorkingDirectory=%h
Restart=on-failure
RestartSec=2
# Tasks are checkpointed and their processes ended within two seconds.
TimeoutStopSec=10
UMask=0077

[Install]
WantedBy=default.target
"""


def launchd_agent(command: list[str]) -> str:
    agent = {
        "Label": LABEL,
        "ProgramArguments": command,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "WorkingDirectory": str(Path.home()),
        "Umask": 0o077,
        "ProcessType": "Interactive",
    }
    return plistlib.dumps(agent).decode()


def _quoted(word: str) -> str:
    """A word of ExecStart: systemd expands `%` and `$`, and reads backslashes and quotes."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{plain}"'


def _manager() -> ServiceManager:
    system = platform.system()
    if system == "Darwin":
        file = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        domain = f"gui/{os.getuid()}"
        load, unload = ("launchctl", "bootstrap", domain, str(file)), ("launchctl", "bootout", f"{domain}/{LABEL}")
        return ServiceManager("launchctl", file, (load,), (unload,), ("launchctl", "print", f"{domain}/{LABEL}"))
    if system == "Linux":
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        user = ("systemctl", "--user")
        return ServiceManager(
            "systemctl",
            Path(base) / "systemd" / "user" / UNIT,
            ((*user, "daemon-reload"), (*user, "enable", "--now", UNIT)),
            ((*user, "disable", "--now", UNIT),),
            (*user, "--no-pager", "status", UNIT),
        )
    problem = "Services are for systemd and launchd. Here, let your shell or editor start `brain serve`."
    raise CommandFailed(problem, EXIT_USAGE)


def _run(command: tuple[str, ...], *, show: bool = False) -> str:
    """Why it failed; empty if it didn't."""
    if shutil.which(command[0]) is None:
        return f"{command[0]} isn't installed"
    try:
        done = subprocess.run(command, capture_output=not show, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return f"no answer in {_SECONDS} s"
    if done.returncode == 0:
        return ""
    return (done.stderr or "").strip() or f"exit code {done.returncode}"
