"""S19: a grant of installs is for the client that you installed, and for the registry that you configured it with."""

import base64
import gzip
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sidecar.config.grants import Permissions
from tests.security.sandboxed import SandboxedWorkbench
from tests.support.sandboxes import sandboxes_of
from tools.executor.executor import Executor
from tools.executor.registry import default_registry
from tools.policy.package_managers import Registries
from tools.policy.policy import Decision, Policy

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
INSTALLS = Permissions(installs=frozenset({None}))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.lower().startswith(("npm_config", "pip_", "uv_", "xdg_"))]:
        monkeypatch.delenv(name)
    return home


def decide(workspace: Path, command: str, *, trusted: bool = False, reaches: bool = True) -> Decision:
    tool = default_registry().get("run_command")
    assert tool is not None
    args = tool.spec.arguments.model_validate({"command": command})
    policy = Policy(lambda place: trusted, permissions=lambda place: INSTALLS, reaches_hosts=lambda: reaches)
    return policy.decide(tool.spec, args, str(workspace), "auto")


@needs_npm
def test_s19_the_hosts_of_an_install_are_those_of_your_own_npm_configuration(home: Path, tmp_path: Path) -> None:
    (home / ".npmrc").write_text(
        "@team:registry=https://team.example/\nregistry=https://packages.example/npm/\n//team.example/:_authToken=secret\n"
    )
    (tmp_path / ".npmrc").write_text("registry=https://evil.example/\n")
    found = Registries().find("npm", str(tmp_path))
    assert set(found.hosts) == {"packages.example", "team.example"}
    assert "secret" not in repr(found) and "evil" not in repr(found)
    assert found.environment["npm_config_registry"] == "https://packages.example/npm/"


def test_s19_the_hosts_of_an_install_are_those_of_your_own_pip_configuration(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://me:secret@python.example/simple")
    (home / ".config/pip").mkdir(parents=True)
    (home / ".config/pip/pip.conf").write_text("[global]\nextra-index-url = https://more.example/simple\n")
    found = Registries().find("pip", str(tmp_path))
    if not found.hosts:
        pytest.skip("python3 has no pip")
    assert set(found.hosts) == {"python.example", "more.example"}
    assert found.environment["PIP_INDEX_URL"] == "https://python.example/simple"


def test_s19_a_program_of_the_workspace_is_never_asked_for_its_registry(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("npm", "python3", "go"):
        planted = tmp_path / "bin" / name
        planted.parent.mkdir(exist_ok=True)
        planted.write_text('#!/bin/sh\ntouch ran\necho \'"registry": "https://evil.example"\'\n')
        planted.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:bin:{os.environ['PATH']}")
    for manager in ("npm", "pip", "go"):
        assert "evil.example" not in Registries().find(manager, str(tmp_path)).hosts


@pytest.mark.parametrize(
    ("command", "planted"),
    [
        ("npm install", "bin/npm"),
        ("pip install x", "bin/pip"),
        ("./npm install", "npm"),
        ("./pip install x", "pip"),
        ("bin/npm install", "bin/npm"),
        ("pip install x", ".venv/bin/pip"),
        ("python3 -m pip install x", "pip.py"),
        ("python -m pip install x", "pip/__main__.py"),
        ("python3 -m pip install x", "logging.py"),
    ],
)
def test_s19_a_grant_of_installs_holds_for_no_program_of_the_repository(
    tmp_path: Path, command: str, planted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / planted
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    if ".venv" in planted:
        (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
        (tmp_path / ".venv/pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\n")
    if planted.startswith("bin/"):
        monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    assert decide(tmp_path, command).verdict == "ask"


def test_s19_where_the_sandbox_reaches_no_host_an_install_is_asked_about(tmp_path: Path) -> None:
    decision = decide(tmp_path, "npm install left-pad", reaches=False)
    assert decision.verdict == "ask"
    assert "reaches no host" in decision.why
    assert decide(tmp_path, "npm install left-pad").verdict == "allow"
    landlock = sandboxes_of("landlock")
    assert landlock is not None
    assert not landlock.reaches_hosts()
    assert "installs need approval" in landlock.description


class _Registry(BaseHTTPRequestHandler):
    """One package, as a registry of npm serves it."""

    def do_GET(self) -> None:
        tarball = _tarball()
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
        base = f"http://localhost:{self.server.server_address[1]}"
        version = {"name": "tiny", "version": "1.0.0", "dist": {"tarball": f"{base}/t.tgz", "integrity": integrity}}
        document = {"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        known = {"/tiny": json.dumps(document).encode(), "/t.tgz": tarball}
        body = known.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


def _tarball() -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        content = b'{"name": "tiny", "version": "1.0.0"}'
        info = tarfile.TarInfo("package/package.json")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)


@pytest.fixture
def registry() -> Iterator[int]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Registry)
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield serving.server_port
    serving.shutdown()
    thread.join()
    serving.server_close()


@needs_npm
async def test_s19_npm_installs_from_your_registry_by_grant_in_the_sandbox(
    home: Path, tmp_path: Path, registry: int
) -> None:
    (home / ".npmrc").write_text(f"registry=http://localhost:{registry}/\n")
    bench = SandboxedWorkbench(tmp_path, "bubblewrap")
    bench.write("package.json", '{"name": "app", "version": "1.0.0"}')
    policy = Policy(permissions=lambda place: INSTALLS, reaches_hosts=bench.sandboxes.reaches_hosts)
    bench.executor = Executor(bench.registry, [bench.backend], policy)
    try:
        outcome = await bench.call("run_command", command="npm install tiny --no-audit --no-fund", timeoutMs=120_000)
        assert (bench.workspace / "node_modules/tiny/package.json").exists(), outcome.content
    finally:
        await bench.executor.close()
