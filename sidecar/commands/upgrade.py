"""`brain upgrade`: replace this installation by a newer one in a single step.

The new version is installed into a copy beside the old one and started once. Then the two directories swap their names:
if anything fails or is killed before, the old version is untouched; after it, the new one is complete.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from sidecar import __version__
from sidecar.client.client import Client
from sidecar.client.sidecars import find_sidecar, restart_sidecar, stop_sidecar
from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir
from sidecar.config.paths import closed_after
from tools.local.writers import exchange

PACKAGE = "rainy-brain"
_UNCHANGED = "Nothing was changed."
_INSTALL_SECONDS = 900
_CHECK_SECONDS = 60
_MODULE = ("-P", "-m", "sidecar")
#: Fails without pip; starting pip itself takes ten times as long.
_NEEDS_PIP = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pip') is None)"
_BY_HAND = (
    f"Stop the sidecar with `brain stop`, then use the program that installed it (`uv tool upgrade {PACKAGE}`, "
    f"`pipx upgrade {PACKAGE}` or `pip install --upgrade {PACKAGE}`)."
)


def upgrade(args: argparse.Namespace) -> int:
    place = _installation()
    staging = place.with_name(f".{place.name}.upgrade")
    shutil.rmtree(staging, ignore_errors=True)
    try:
        program = _prepare(place, staging, args)
        version = _check(program)
        if version == __version__ and args.source is None:
            print(f"Rainy Brain {version} is the newest version that your package index offers.")
            return 0
        directory = data_dir(args)
        running = find_sidecar(directory)
        _replace(place, staging, running)
        if running is not None:
            restart_sidecar([str(place / program.relative_to(staging)), *_MODULE], directory, running)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    print(f"Upgraded from {__version__} to {version}.")
    if running is not None:
        print("The sidecar was restarted with it; unfinished tasks go on.")
    return 0


def _replace(place: Path, staging: Path, running: Client | None) -> None:
    """The sidecar stops first: it would load the rest of its modules from the new version."""
    if running is not None:
        stop_sidecar(running)
    with closed_after(os.open(place.parent, os.O_RDONLY)) as parent:
        if not exchange(parent, staging.name, place.name):
            problem = f"This file system can't swap two directories in one step. {_UNCHANGED} {_BY_HAND}"
            raise CommandFailed(problem)


def _installation() -> Path:
    """The directory that holds this program and nothing that isn't installed with it."""
    if getattr(sys, "frozen", False):
        return Path(sys.executable).resolve().parent
    if sys.prefix == sys.base_prefix:
        raise CommandFailed(f"This brain is installed in the system's Python. {_UNCHANGED} {_BY_HAND}", EXIT_USAGE)
    try:
        origin = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    if origin.get("dir_info", {}).get("editable"):
        raise CommandFailed(f"This brain runs from a clone: use `git pull` and `make setup`. {_UNCHANGED}", EXIT_USAGE)
    return Path(sys.prefix)


def _prepare(place: Path, staging: Path, args: argparse.Namespace) -> Path:
    """Put the new version into `staging`; returns its interpreter or, in a bundle, its program."""
    if getattr(sys, "frozen", False):
        if args.source is None:
            problem = "Name the archive of the new bundle: brain upgrade --from FILE."
            raise CommandFailed(f"{problem} {_UNCHANGED}", EXIT_USAGE)
        _unpack(args.source, args.sha256, staging)
        return staging / Path(sys.executable).name
    shutil.copytree(place, staging, symlinks=True)
    python = staging / "bin" / "python"
    wanted = str(args.source.absolute()) if args.source else f"{PACKAGE}=={args.version}" if args.version else PACKAGE
    _install(python, [wanted, "--force-reinstall", "--no-deps"] if args.source else [wanted])
    _correct_scripts(staging / "bin", str(staging), str(place))
    return python


def _install(python: Path, wanted: Sequence[str]) -> None:
    """With uv if this environment has no pip, as those that uv made."""
    pip = [str(python), "-P", "-m", "pip", "--disable-pip-version-check"]
    uv = shutil.which("uv")
    if subprocess.run([str(python), "-c", _NEEDS_PIP]).returncode != 0:
        if uv is None:
            raise CommandFailed(f"Neither pip nor uv can install the new version here. {_UNCHANGED} {_BY_HAND}")
        pip = [uv, "pip", "--python", str(python)]
    print(f"Installing {wanted[0]} beside {__version__} …")
    try:
        done = subprocess.run(
            [*pip, "install", "--quiet", "--upgrade", *wanted], capture_output=True, text=True, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise CommandFailed(f"The installation took over {_INSTALL_SECONDS} s. {_UNCHANGED}") from error
    if done.returncode != 0:
        raise CommandFailed(f"The new version can't be installed: {done.stderr.strip()[-800:]}\n{_UNCHANGED}")


def _correct_scripts(folder: Path, wrong: str, right: str) -> None:
    """New scripts name the copy's interpreter in their first line."""
    for script in folder.iterdir():
        if script.is_symlink() or not script.is_file():
            continue
        first, newline, rest = script.read_bytes().partition(b"\n")
        if first.startswith(b"#!") and wrong.encode() in first:
            script.write_bytes(first.replace(wrong.encode(), right.encode()) + newline + rest)


def _unpack(archive: Path, sha256: str | None, staging: Path) -> None:
    expected = sha256 or _listed_checksum(archive)
    with archive.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != expected:
        raise CommandFailed(f"{archive} has the checksum {found}, not {expected}. {_UNCHANGED} Download it again.")
    staging.mkdir(mode=0o700)
    with tarfile.open(archive) as tar:
        tar.extractall(staging, filter="data")
    (top,) = staging.iterdir()
    for item in list(top.iterdir()):
        item.rename(staging / item.name)
    top.rmdir()


def _listed_checksum(archive: Path) -> str:
    try:
        listed = archive.with_name("SHA256SUMS").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        problem = "It needs the file SHA256SUMS beside the archive, or the checksum with --sha256."
        raise CommandFailed(f"{problem} {_UNCHANGED}", EXIT_USAGE) from error
    found = [line.split()[0] for line in listed if line.split()[1:] == [archive.name]]
    if not found:
        raise CommandFailed(f"SHA256SUMS doesn't list {archive.name}. {_UNCHANGED}", EXIT_USAGE)
    return found[0]


def _check(program: Path) -> str:
    """Start the new version once, on a data directory of its own, and return its version."""
    with tempfile.TemporaryDirectory(prefix="brain-upgrade-") as scratch:
        options = ["serve", "--port", "0", "--data-dir", f"{scratch}/data", "--workspace", scratch, "--die-with-parent"]
        try:
            # Its standard input is empty, so it stops as soon as it is ready.
            done = subprocess.run(
                [str(program), *_MODULE, *options],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_CHECK_SECONDS,
            )
            return str(json.loads(done.stdout.splitlines()[0])["version"])
        except (subprocess.TimeoutExpired, OSError, IndexError, ValueError, KeyError) as error:
            raise CommandFailed(f"The new version doesn't start, so the old one stays. {_UNCHANGED}") from error
