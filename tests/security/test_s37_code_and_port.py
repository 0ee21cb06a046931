"""S37: no secret in a command line, and none for a program that took over the sidecar's port."""

import http.server
import json
import re
import stat
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sidecar.config.proofs import new_nonce, panel_proof, server_proof
from tests.e2e.support import PROJECT, RunningSidecar, running_sidecar
from tests.e2e.terminal import BRAIN, brain
from tests.waiting import wait_until

BROWSER = """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word" >> {seen}/argv; done
file="${{1#file://}}"
stat -c %a "$file" > {seen}/mode && cp "$file" {seen}/page.part && mv {seen}/page.part {seen}/page
sleep 0.3
"""


class CommandLines(threading.Thread):
    """Looks at the command line and the environment of every process, again and again."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._ended = threading.Event()
        self.seen: set[bytes] = set()

    def run(self) -> None:
        while not self._ended.wait(0.005):
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):
                    self.seen.add((process / "cmdline").read_bytes())

    def __enter__(self) -> "CommandLines":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    place = tmp_path / "seen"
    place.mkdir()
    (place / "browser").write_text(BROWSER.format(seen=place))
    (place / "browser").chmod(0o755)
    return place


def code_in(page: Path, url: str) -> str:
    found = re.search(re.escape(url) + r"/#code=([\w-]+)", page.read_text())
    assert found
    return found[1]


def test_s37_open_gives_the_browser_a_private_file_and_no_code(tmp_path: Path, seen: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir), "BROWSER": f"{seen / 'browser'} %s"}
        with CommandLines() as lines:
            done = brain("open", environ=environ)
        assert done.returncode == 0, done.stderr
        assert "#code=" not in done.stdout
        code = code_in(seen / "page", sidecar.url)
        (argument,) = (seen / "argv").read_text().split()
        file = Path(argument.removeprefix("file://"))
        assert file.parent == sidecar.data_dir
        assert (seen / "mode").read_text().strip() == "600"
        assert sidecar.token not in (seen / "page").read_text()
        assert code not in argument
        assert any(b"browser" in line for line in lines.seen), "the browser was watched"
        assert not any(code.encode() in line or b"#code=" in line for line in lines.seen)

        assert file.exists(), "the browser may still read it"
        traded = sidecar.post("/api/brain/session", {"code": code}, authenticated=False)
        assert traded.json["token"] == sidecar.token
        assert not file.exists(), "it is removed with its code"


def test_s37_the_first_start_gives_the_browser_no_code_either(
    tmp_path: Path, seen: Path, home: dict[str, str], workspace: Path
) -> None:
    environ = {**home, "BROWSER": f"{seen / 'browser'} %s", "PYTHONPATH": str(PROJECT)}
    with CommandLines() as lines:
        process = subprocess.Popen(
            [*BRAIN, "--port", "0"],
            env=environ,
            cwd=workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert process.stdout
            printed = process.stdout.readline()
            if "isn't built" in (second := process.stdout.readline()):
                pytest.skip("the panel is not built; `make panel` builds it")
            wait_until((seen / "page").exists, seconds=30, what="the browser")
        finally:
            process.terminate()
            rest = process.communicate(timeout=20)[0]
    assert "#code=" not in printed + second + rest
    assert "#code=" in (seen / "page").read_text()
    assert not any(b"#code=" in line for line in lines.seen)


def test_s37_a_browser_that_does_not_start_leaves_no_file(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir), "BROWSER": "/nonexistent %s"}
        done = brain("open", environ={**environ, "PATH": str(tmp_path)})
        assert f"{sidecar.url}/#code=" in done.stdout, "the user can still click a link"
        assert not list(sidecar.data_dir.glob("open-*"))


def test_s37_redirect_files_of_an_earlier_life_are_removed(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        (sidecar.data_dir / "open-0123.html").write_text("stale")
        sidecar.kill()
        sidecar.restart()
        assert not list(sidecar.data_dir.glob("open-*"))


# -- the port ---------------------------------------------------------------------------------------------------------


class Impostor(http.server.BaseHTTPRequestHandler):
    """Answers everything as if it knew, and keeps what it gets."""

    answer: Any = {}
    recorded: list[tuple[str, str, Mapping[str, str], bytes]]

    def _record(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.recorded.append((self.command, self.path, dict(self.headers), body))
        content = json.dumps(self.answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = _record

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def impostor(port: int) -> Iterator[list[tuple[str, str, Mapping[str, str], bytes]]]:
    recorded: list[tuple[str, str, Mapping[str, str], bytes]] = []
    answer = {"nonce": "n" * 43, "proof": "p" * 43, "token": "t", "code": "c", "agents": [], "tasks": {}}
    handler = type("Recording", (Impostor,), {"recorded": recorded, "answer": answer})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield recorded
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_s37_the_command_line_tells_an_impostor_nothing(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        token, port = sidecar.token, sidecar.port
        environ = {**sidecar.environ, "BRAIN_DATA_DIR": str(sidecar.data_dir)}
        sidecar.kill()
        with impostor(port) as recorded:
            assert "No sidecar is running" in brain("open", "--print", environ=environ).stderr
            shell = subprocess.Popen(
                [*BRAIN, "shell"], env={**environ, "PYTHONPATH": str(PROJECT)}, cwd=PROJECT, stderr=subprocess.PIPE
            )
            try:
                wait_until(lambda: len(recorded) >= 4, seconds=30, what="the shell's attempts")
            finally:
                shell.terminate()
                shell.communicate(timeout=20)
        assert {path for _, path, _, _ in recorded} == {"/api/brain/session/challenge"}
        for _, _, headers, body in recorded:
            assert token not in json.dumps(headers)
            assert "authorization" not in {name.lower() for name in headers}
            assert token.encode() not in body


def _signed_in(sidecar: RunningSidecar) -> dict[str, str]:
    code = sidecar.post("/api/brain/session/code").json["code"]
    renewal: dict[str, str] = sidecar.post("/api/brain/session", {"code": code}, authenticated=False).json["renewal"]
    return renewal


def _challenge(sidecar: RunningSidecar, key_id: str, nonce: str) -> Any:
    return sidecar.post("/api/brain/session/challenge", {"id": key_id, "nonce": nonce}, authenticated=False)


def test_s37_renewal_needs_both_proofs_and_each_works_once(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        renewal = _signed_in(sidecar)
        old = sidecar.token
        kept = sidecar.data_dir / "renewals.json"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        sidecar.kill()
        sidecar.restart()
        key, key_id, here = renewal["key"], renewal["id"], f"127.0.0.1:{sidecar.port}"
        asked = new_nonce()
        answered = _challenge(sidecar, key_id, asked).json
        assert answered["proof"] == server_proof(key, here, key_id, asked, answered["nonce"])
        proof = {
            "id": key_id,
            "nonce": answered["nonce"],
            "proof": panel_proof(key, here, key_id, asked, answered["nonce"]),
        }
        first = sidecar.post("/api/brain/session/proof", proof, authenticated=False)
        assert first.json["token"] == sidecar.token != old
        assert sidecar.post("/api/brain/session/proof", proof, authenticated=False).status == 401, "replayed"
        sidecar.restart()
        assert sidecar.post("/api/brain/session/proof", proof, authenticated=False).status == 401, "replayed later"
        for code in (key, key_id, old, proof["proof"]):
            assert sidecar.post("/api/brain/session", {"code": code}, authenticated=False).status == 401


@pytest.mark.parametrize("attack", ["no key", "reflected", "other port", "other id", "other nonce", "old address"])
def test_s37_a_proof_for_anything_else_is_refused(tmp_path: Path, attack: str) -> None:
    with running_sidecar(tmp_path) as sidecar:
        renewal, other = _signed_in(sidecar), _signed_in(sidecar)
        here = f"127.0.0.1:{sidecar.port}"
        key, key_id, asked = renewal["key"], renewal["id"], new_nonce()
        answered = _challenge(sidecar, key_id, asked).json
        nonce = answered["nonce"]
        proof = {
            "no key": panel_proof("", here, key_id, asked, nonce),
            "reflected": answered["proof"],
            "other port": panel_proof(key, f"127.0.0.1:{sidecar.port + 1}", key_id, asked, nonce),
            "other id": panel_proof(other["key"], here, key_id, asked, nonce),
            "other nonce": panel_proof(key, here, key_id, new_nonce(), nonce),
            "old address": panel_proof(key, f"localhost:{sidecar.port}", key_id, asked, nonce),
        }[attack]
        body = {"id": key_id, "nonce": nonce, "proof": proof}
        assert sidecar.post("/api/brain/session/proof", body, authenticated=False).status == 401
        right = {**body, "proof": panel_proof(key, here, key_id, asked, nonce)}
        assert sidecar.post("/api/brain/session/proof", right, authenticated=False).status == 401, (
            "the nonce is used up"
        )


def test_s37_challenges_from_strangers_do_not_grow_without_bound(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        renewal = _signed_in(sidecar)
        assert _challenge(sidecar, "x" * 32, new_nonce()).status == 401
        for _ in range(300):
            assert _challenge(sidecar, renewal["id"], new_nonce()).status == 200
        for body in ({}, {"id": "token"}, {"id": "a\nb" * 10, "nonce": "n" * 43}, {"id": "token", "nonce": "short"}):
            assert sidecar.post("/api/brain/session/challenge", body, authenticated=False).status == 422
