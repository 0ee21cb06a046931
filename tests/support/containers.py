"""A real Podman, as a service of its own with an image that was made here; or a skip with the reason."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import wait_until

IMAGE = "localhost/brain-test:latest"
_CONFIGURATION = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
_APPLETS = (
    "sh cat chmod cp echo env false find grep head kill ln ls mkdir mv printenv ps rm sh sleep tail tar test touch"
)
_APPLETS += " true wget xargs yes seq tr wc"


@contextmanager
def podman(place: Path) -> Iterator[str]:
    """The path of its socket."""
    for program in ("podman", "runc", "busybox"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if os.geteuid() != 0:
        pytest.skip("starting a container engine of our own needs root")
    (place / "containers.conf").write_text(_CONFIGURATION)
    environ = {**os.environ, "CONTAINERS_CONF": str(place / "containers.conf")}
    base = ["podman", "--root", f"{place}/root", "--runroot", f"{place}/run", "--tmpdir", f"{place}/tmp"]
    base += ["--storage-driver", "vfs"]
    _make_image(place / "image.tar")
    made = subprocess.run(
        [*base, "import", str(place / "image.tar"), IMAGE], env=environ, capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"Podman can't make an image here: {made.stderr[-300:]}")
    tried = [*base, "run", "--rm", "--network", "none", IMAGE, "/bin/true"]
    ran = subprocess.run(tried, env=environ, capture_output=True, text=True)
    if ran.returncode:
        pytest.skip(f"Podman can't run a container here: {ran.stderr[-300:]}")
    socket = place / "podman.sock"
    with (place / "service.log").open("w") as log:
        service = subprocess.Popen(
            [*base, "system", "service", "--time=0", f"unix://{socket}"], env=environ, stderr=log
        )
    try:
        wait_until(socket.is_socket, what="Podman's socket")
        yield str(socket)
    finally:
        subprocess.run([*base, "rm", "--all", "--force", "--time", "0"], env=environ, capture_output=True, check=False)
        service.terminate()
        service.wait(30)
        subprocess.run([*base, "umount", "--all"], env=environ, capture_output=True, check=False)


def _make_image(file: Path) -> None:
    """Busybox, and perl and Git with what they load, as images of Debian have them."""
    with tarfile.open(file, "w") as archive:
        archive.add(str(shutil.which("busybox")), "bin/busybox", filter=_real)
        for name in set(_APPLETS.split()):
            entry = tarfile.TarInfo(f"bin/{name}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(entry)
        for folder in ("tmp", "etc", "usr/bin"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o777
            archive.addfile(entry)
        for place in Path("/usr/lib").glob("*/perl-base"):
            archive.add(place, str(place).lstrip("/"))
        for program in ("/usr/bin/perl", "/usr/bin/git", "/usr/lib/git-core/git-remote-http"):
            _add_program(archive, program)


def _add_program(archive: tarfile.TarFile, program: str) -> None:
    """With the libraries that it loads."""
    if not Path(program).exists():
        return
    archive.add(os.path.realpath(program), program.lstrip("/"))
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for word in linked.split():
        name = word.lstrip("/")
        if word.startswith("/") and Path(word).exists() and name not in archive.getnames():
            archive.add(os.path.realpath(word), name)


def _real(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mode = 0o755
    return entry
