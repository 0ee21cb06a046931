"""Builds and checks everything that a release consists of, in `dist/`; `make release` runs it.

Wheel and source archive, the bundle that needs no Python, the npm client, the VS Code extension, a bill of materials
and checksums. Packages come from the lock files; a check that fails ends it.
"""

import gzip
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from sbom import bill_of_materials  # noqa: E402

from sidecar import __version__ as VERSION  # noqa: E402

DIST = ROOT / "dist"
ENVIRONMENT = ROOT / ".venv" / "release"
SYSTEM = f"{sys.platform}-{platform.machine()}".lower()
BUNDLE = f"rainy-brain-{VERSION}-{SYSTEM}"
#: Loaded by name at run time, so that PyInstaller can't see them.
HIDDEN = ("anthropic", "google.genai", "groq", "openai", "keyring.backends", "uvicorn.protocols.http.httptools_impl")
_QUICK = "list the files"


def main() -> int:
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    epoch = run(["git", "log", "-1", "--format=%ct"], capture=True).strip()
    os.environ["SOURCE_DATE_EPOCH"] = epoch
    wheel = build_wheel()
    environment = install(wheel)
    archive = build_bundle(environment, int(epoch))
    build_client()
    build_extension()
    made_at = datetime.fromtimestamp(int(epoch), UTC).isoformat()
    bill = bill_of_materials(ROOT, VERSION, made_at)
    (DIST / f"rainy-brain-{VERSION}.cdx.json").write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    write_checksums()
    check_first_result("the wheel", [str(environment / "bin" / "brain")], os.environ["PATH"])
    check_bundle(archive)
    for line in (DIST / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        print(line)
    return 0


def build_wheel() -> Path:
    """Twice: the same commit gives the same bytes."""
    build = [sys.executable, "-m", "hatchling", "build", "-d"]
    run([*build, str(DIST), "-t", "wheel", "-t", "sdist"])
    (wheel,) = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as again:
        run([*build, again, "-t", "wheel"])
        if (Path(again) / wheel.name).read_bytes() != wheel.read_bytes():
            raise SystemExit("Two builds of the wheel differ.")
    print(f"built {wheel.name}, twice the same")
    return wheel


def install(wheel: Path) -> Path:
    """An environment with the locked packages and this wheel, as a user has it."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    locks = [f"--requirement={ROOT}/packaging/lock/{name}.txt" for name in ("runtime", "release")]
    run([*pip, "--require-hashes", *locks])
    run([*pip, "--no-deps", "--force-reinstall", str(wheel)])
    return ENVIRONMENT


def build_bundle(environment: Path, epoch: int) -> Path:
    """One folder with the program and its interpreter, packed the same way each time."""
    with tempfile.TemporaryDirectory() as work:
        hidden = [f"--hidden-import={name}" for name in HIDDEN]
        whole = [f"--collect-all={name}" for name in ("sidecar", "bridge", "tools")]
        grammars = sorted(site.name for site in _site_packages(environment).glob("tree_sitter*") if site.is_dir())
        whole += [f"--collect-all={name}" for name in grammars if "." not in name]
        # Its SQL files, and the version that it reads from its metadata.
        whole += ["--collect-data=procrastinate", "--copy-metadata=procrastinate"]
        command = [
            str(environment / "bin" / "pyinstaller"),
            "--noconfirm",
            "--onedir",
            "--name=brain",
            "--log-level=ERROR",
        ]
        places = [f"--distpath={work}/out", f"--workpath={work}/build", f"--specpath={work}", "--copy-metadata=mcp"]
        run([*command, *places, *hidden, *whole, str(ROOT / "packaging" / "bundle.py")])
        folder = Path(work) / "out" / "brain"
        shutil.copy2(environment / "bin" / "rg", folder / "rg")
        archive = DIST / f"{BUNDLE}.tar.gz"
        _pack(folder, archive, epoch)
    print(f"built {archive.name}, {archive.stat().st_size // 1_000_000} MB")
    return archive


def _site_packages(environment: Path) -> Path:
    (found,) = (environment / "lib").glob("python3*/site-packages")
    return found


def _pack(folder: Path, archive: Path, epoch: int) -> None:
    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = epoch
        return info

    with (
        archive.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted(folder.rglob("*")):
            tar.add(path, f"{BUNDLE}/{path.relative_to(folder)}", recursive=False, filter=plain)


def build_client() -> None:
    run(["npm", "run", "--silent", "build:client"], cwd=ROOT / "frontend")
    run(["npm", "pack", "--silent", "--pack-destination", str(DIST)], cwd=ROOT / "frontend" / "src" / "client")


def build_extension() -> None:
    folder = ROOT / "frontend" / "vscode"
    run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder)
    run(["npm", "run", "--silent", "package"], cwd=folder)
    shutil.copy2(folder / "dist" / "rainy-brain.vsix", DIST / f"rainy-brain-{VERSION}.vsix")


def write_checksums() -> None:
    files = sorted(path for path in DIST.iterdir() if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in files]
    (DIST / "SHA256SUMS").write_text("\n".join(sums) + "\n", encoding="utf-8")


def check_bundle(archive: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(archive) as tar:
            tar.extractall(place, filter="tar")
        # Nothing but the bundle: no Python, no shell's other programs.
        check_first_result("the bundle", [f"{place}/{BUNDLE}/brain"], "/nonexistent")


def check_first_result(what: str, brain: Sequence[str], path: str) -> None:
    """A new user: an empty home directory, an empty project, a first task."""
    with tempfile.TemporaryDirectory() as home:
        project = Path(home) / "project"
        project.mkdir()
        (project / "hello.py").write_text("def greet():\n    return 'hello'\n", encoding="utf-8")
        environment = {"HOME": home, "PATH": path, "LANG": "C.UTF-8"}
        began = time.monotonic()
        run([*brain, "--version"], cwd=project, environment=environment, capture=True)
        version_seconds = time.monotonic() - began
        answer = run([*brain, "run", "-p", _QUICK], cwd=project, environment=environment, capture=True)
        run([*brain, "stop"], cwd=project, environment=environment, capture=True, check=False)
        if "hello.py" not in answer:
            raise SystemExit(f"{what} gave an unexpected first answer: {answer!r}")
    print(f"checked {what}: `brain --version` {version_seconds:.2f} s, first answer right")


def run(
    command: Sequence[str],
    cwd: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    *,
    capture: bool = False,
    check: bool = True,
) -> str:
    done = subprocess.run(command, cwd=cwd, env=environment, stdout=subprocess.PIPE if capture else None, text=True)
    if check and done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:4])} … failed with exit code {done.returncode}.")
    return done.stdout or ""


if __name__ == "__main__":
    sys.exit(main())
