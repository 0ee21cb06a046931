"""GitHub and Linear as others wrote them: the servers of npm `emulate`, with a Git server beside GitHub's.

`emulate` has no Git transport, so every push is copied into it by its REST API. It computes Git's own hashes, so a
commit has the same name on both sides.
"""

import base64
import json
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.git_server import GitServer, git_server
from tests.support.mcp import packages

EMULATE = "emulate@0.12.2"
TOKEN = "test_token_admin"
APP_ID = 4711
OUTSIDE = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin"}
_DATE = {f"GIT_{who}_DATE": "2026-01-01T00:00:00+0000" for who in ("AUTHOR", "COMMITTER")}
_WHO = {f"GIT_{who}_{part}": "tester@example.org" for who in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}


@contextmanager
def emulated(place: Path, services: str, config: str) -> Iterator[list[str]]:
    """The addresses of these services, in order."""
    program = packages.npm(EMULATE) / "node_modules" / "emulate" / "dist" / "index.js"
    (place / "emulate.config.yaml").write_text(config)
    command = [packages.node(), str(program), "start", "-s", services, "-p", str(free_ports(services.count(",") + 1))]
    process = subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout
    try:
        urls = []
        for line in process.stdout:
            urls += [line.split()[-1]] if "http://" in line else []
            if "Ready" in line:
                break
        yield urls
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def free_ports(count: int = 1) -> int:
    """The first of so many free ports in a row."""
    while True:
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
        if all(_is_free(port + more) for more in range(count)):
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        return port < 65_536 and one.connect_ex(("127.0.0.1", port)) != 0


@dataclass
class EmulatedGithub:
    url: str
    server: GitServer
    copied: set[str] = field(default_factory=set)

    @property
    def git(self) -> str:
        return f"http://localhost:{self.server.port}"

    def call(self, method: str, path: str, body: object = None, token: str = TOKEN) -> Any:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", sent, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read() or b"null")

    def copy_pushes(self) -> None:
        """Every commit and branch of the Git server, as `emulate` would have them from a push."""
        bare, repository = self.server.root / "acme/shop.git", "/repos/acme/shop"
        for line in git(bare, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads").splitlines():
            commit, ref = line.split()
            for each in git(bare, "rev-list", "--reverse", commit).split():
                if each not in self.copied:
                    self._copy(bare, each)
                    self.copied.add(each)
            known = {found["ref"] for found in self.call("GET", f"{repository}/git/matching-refs/heads")}
            if ref in known:
                self.call("PATCH", f"{repository}/git/{ref}", {"sha": commit, "force": True})
            else:
                self.call("POST", f"{repository}/git/refs", {"ref": ref, "sha": commit})
        for pull in self.call("GET", f"{repository}/pulls"):
            git(bare, "update-ref", f"refs/pull/{pull['number']}/head", pull["head"]["sha"])

    def _copy(self, bare: Path, commit: str) -> None:
        repository, entries = "/repos/acme/shop", []
        for line in filter(None, git(bare, "ls-tree", "-r", "-z", commit).split("\0")):
            (mode, kind, name), path = line.split("\t")[0].split(), line.split("\t")[1]
            content = subprocess.run(
                ["git", "cat-file", "blob", name], cwd=bare, check=True, capture_output=True
            ).stdout
            sent = {"content": base64.b64encode(content).decode(), "encoding": "base64"}
            assert self.call("POST", f"{repository}/git/blobs", sent)["sha"] == name
            entries.append({"path": path, "mode": mode, "type": kind, "sha": name})
        tree = self.call("POST", f"{repository}/git/trees", {"tree": entries})["sha"]
        assert tree == git(bare, "rev-parse", f"{commit}^{{tree}}").strip()
        form = "%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
        parents, *who, message = git(bare, "show", "-s", f"--format={form}", commit).split("\0")
        author, committer = (dict(zip(("name", "email", "date"), who[at : at + 3], strict=True)) for at in (0, 3))
        sent = {"message": message.removesuffix("\n"), "tree": tree, "parents": parents.split()}
        made = self.call("POST", f"{repository}/git/commits", {**sent, "author": author, "committer": committer})
        assert made["sha"] == commit, (made, commit)


@contextmanager
def emulated_github(place: Path, files: dict[str, str], hooks: str = "", secret: str = "") -> Iterator[EmulatedGithub]:
    """The repository acme/shop with these files, an App installed on it, and its webhooks sent to `hooks`."""
    key = place / "app.pem"
    key.write_text(_private_key())
    app = {
        "app_id": APP_ID,
        "slug": "rainy-brain",
        "name": "Rainy Brain",
        "private_key": key.read_text(),
        "permissions": dict.fromkeys(("checks", "contents", "issues", "pull_requests"), "write") | {"metadata": "read"},
        "events": ["issues", "issue_comment", "pull_request", "pull_request_review", "check_run"],
        "installations": [{"installation_id": 1, "account": "acme", "repository_selection": "all"}],
        **({"webhook_url": hooks, "webhook_secret": secret} if hooks else {}),
    }
    tokens = {TOKEN: {"login": "acme", "scopes": ["repo"]}, "mallory": {"login": "mallory", "scopes": ["repo"]}}
    users = [{"login": name} for name in ("acme", "mallory", "rainy-brain")]
    repository = {"owner": "acme", "name": "shop", "auto_init": True}
    config = {"tokens": tokens, "github": {"users": users, "repos": [repository], "apps": [app]}}
    bare = place / "served/acme/shop.git"
    bare.mkdir(parents=True)
    git(bare, "init", "-q", "--bare", "-b", "main")
    git(bare, "config", "http.receivepack", "true")
    work = place / "source"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    for name, content in files.items():
        (work / name).write_text(content)
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "first")
    git(work, "push", "-q", str(bare), "main")
    # JSON is YAML too.
    with emulated(place, "github", json.dumps(config)) as [url], git_server(place / "served") as server:
        github = EmulatedGithub(url, server)
        github.copy_pushes()
        server.pushed = github.copy_pushes
        yield github


def git(place: Path, *words: str) -> str:
    environ = {**OUTSIDE, **_WHO, **_DATE}
    done = subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, text=True, env=environ)
    return done.stdout


def _private_key() -> str:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
