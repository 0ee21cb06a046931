"""S32: clone, fetch and push run in a bare copy of ours, and our token goes to the host that a person named."""

import base64
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.security.sandboxed import sandboxes_of
from tests.support.git_server import GitServer, git_server
from tools.errors import InvalidArguments, ToolError
from tools.local.environment import sidecar_mark
from tools.local.processes import Processes
from tools.local.reaper import Reaper, process_table
from tools.local.repository.mirror import GitRemote, Mirrors

TOKEN = "canary-token-0123456789"
WHO = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
TRAP = "#!/bin/sh\ntouch {place}\n"


def git(place: Path, *words: str) -> str:
    outside = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(["git", *WHO, *words], cwd=place, check=True, capture_output=True, text=True, env=outside)
    return done.stdout.strip()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    bare = tmp_path / "served/app.git"
    bare.mkdir(parents=True)
    git(bare, "init", "-q", "--bare")
    git(bare, "config", "http.receivepack", "true")
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    (work / "a.txt").write_text("one\n")
    (work / ".gitmodules").write_text('[submodule "s"]\n\tpath = s\n\turl = http://localhost:1/evil.git\n')
    git(work, "add", ".")
    git(work, "commit", "-qm", "one")
    git(work, "push", "-q", str(bare), "HEAD:refs/heads/main")
    with git_server(tmp_path / "served") as serving:
        yield serving


@pytest.fixture(params=["bubblewrap", "landlock"])
async def mirrors(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Mirrors]:
    """A person whose own Git configuration, template and hooks would all run something."""
    home, data = tmp_path / "home", tmp_path / "data"
    (home / "template/hooks").mkdir(parents=True)
    for name in ("post-checkout", "pre-push", "reference-transaction", "post-index-change"):
        hook = home / "template/hooks" / name
        hook.write_text(TRAP.format(place=tmp_path / "ran"))
        hook.chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[init]\n\ttemplateDir = {home}/template\n[core]\n\thooksPath = {home}/template/hooks\n"
        '[url "http://localhost:1/"]\n\tinsteadOf = http://localhost\n[credential]\n\thelper = "!touch ran"\n'
    )
    monkeypatch.setenv("HOME", str(home))
    data.mkdir(mode=0o700)
    mark = sidecar_mark(data)
    processes = Processes(data, mark, Reaper(process_table(), mark))
    yield Mirrors(data / "mirrors", processes, sandboxes_of(request.param), lambda remote: TOKEN)
    await processes.close()
    assert not (tmp_path / "ran").exists()


async def test_s32_a_mirror_clones_fetches_and_pushes(mirrors: Mirrors, server: GitServer, tmp_path: Path) -> None:
    remote = GitRemote.parse(server.url("app.git"))
    clone = tmp_path / "clone"
    await mirrors.clone(remote, str(clone), "main")
    assert (clone / "a.txt").read_text() == "one\n"
    assert git(clone, "config", "remote.origin.url") == server.url("app.git")
    assert not (clone / ".git/hooks").exists() and not (clone / "s/.git").exists()
    # A workspace that would send the push elsewhere, and run programs on the way.
    (clone / ".git/hooks").mkdir()
    hook = clone / ".git/hooks/pre-push"
    hook.write_text(TRAP.format(place=tmp_path / "ran"))
    hook.chmod(0o755)
    git(clone, "config", "url.http://localhost:1/.pushInsteadOf", "http://localhost")
    git(clone, "config", "http.proxy", "http://localhost:1")
    git(clone, "config", "core.sshCommand", f"touch {tmp_path}/ran")
    (clone / "a.txt").write_text("two\n")
    git(clone, "-c", "core.hooksPath=/dev/null", "commit", "-qam", "two")
    commit = git(clone, "rev-parse", "HEAD")
    await mirrors.push(remote, str(clone), commit, "feature/two")
    assert git(tmp_path / "served/app.git", "rev-parse", "feature/two") == commit
    place = await mirrors.fetch(remote)
    assert git(Path(place), f"--git-dir={place}", "rev-parse", "feature/two") == commit
    header = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    assert {sent for _, sent in server.requests} == {header}
    for folder in (tmp_path / "data", clone):
        for file in folder.rglob("*"):
            assert not file.is_file() or TOKEN.encode() not in file.read_bytes()
    assert Path(place).stat().st_mode & 0o077 == 0


async def test_s32_a_push_is_never_by_force(mirrors: Mirrors, server: GitServer, tmp_path: Path) -> None:
    work = tmp_path / "work"
    git(work, "commit", "-q", "--amend", "-m", "other history")
    with pytest.raises(ToolError, match="git push failed"):
        await mirrors.push(GitRemote.parse(server.url("app.git")), str(work), git(work, "rev-parse", "HEAD"), "main")


async def test_s32_a_remote_that_leads_elsewhere_gets_no_further(
    mirrors: Mirrors, server: GitServer, tmp_path: Path
) -> None:
    with git_server(tmp_path / "served") as other:
        server.redirect = f"http://localhost:{other.port}"
        with pytest.raises(ToolError, match="git fetch failed") as raised:
            await mirrors.fetch(GitRemote.parse(server.url("app.git")))
        assert other.requests == []
        assert TOKEN not in str(raised.value)
        server.redirect = None
        # The old protocol lets a server name further places for its objects.
        plain = tmp_path / "served/plain"
        (plain / "objects/info").mkdir(parents=True)
        (plain / "info").mkdir()
        (plain / "HEAD").write_text("ref: refs/heads/main\n")
        (plain / "info/refs").write_text(f"{'1' * 40}\trefs/heads/main\n")
        for name in ("alternates", "http-alternates"):
            (plain / "objects/info" / name).write_text(f"http://localhost:{other.port}/app.git/objects\n")
        with pytest.raises(ToolError):
            await mirrors.fetch(GitRemote.parse(server.url("plain")))
        assert other.requests == []


@pytest.mark.parametrize(
    "named",
    [
        "ext::sh -c touch% ran",
        "--upload-pack=touch ran",
        "-oProxyCommand=touch ran",
        "https://-oProxyCommand=x/y",
        "file:///etc",
        "/etc",
        "../x",
        "ssh://host/x",
        "git://host/x",
        "ftp://host/x",
        "http://example.com/x",
        "https://user:password@host/x",
        "https://user@host/x",
        "https://host@evil/x",
        "https://host\\@evil/x",
        "https://host/x?y=z",
        "https://host/x#y",
        "https://host/../x",
        "https://host/x\nhost: y",
        "https://host%0aevil/x",
        "https://ho st/x",
        "https://host:99999/x",
        "https://[::1]/x",
        "https:///x",
        "https://host",
        "https::https://host/x",
        "fd::17/x",
        "transport::address",
        "",
    ],
)
def test_s32_only_plain_addresses_are_remotes(named: str) -> None:
    with pytest.raises(InvalidArguments):
        GitRemote.parse(named)


def test_s32_remotes_that_people_write() -> None:
    assert GitRemote.parse("https://github.com/a/b.git").url == "https://github.com/a/b.git"
    assert GitRemote.parse("git@github.com:a/b.git").url == "https://github.com/a/b.git"
    assert GitRemote.parse("https://git.example:8443/a/b/").url == "https://git.example:8443/a/b"


@pytest.mark.parametrize("branch", ["-f", "--force", "a..b", "+main", "a b", "a:b", "x.lock", "", "/x", "a//b", "@{u}"])
async def test_s32_a_branch_is_a_name_and_nothing_else(branch: str, tmp_path: Path) -> None:
    mark = sidecar_mark(tmp_path)
    nowhere = Mirrors(tmp_path, Processes(tmp_path, mark, Reaper(process_table(), mark)), sandboxes_of("none"))
    remote = GitRemote.parse("http://localhost:1/x")
    with pytest.raises(InvalidArguments):
        await nowhere.push(remote, str(tmp_path), "1" * 40, branch)
    with pytest.raises(InvalidArguments):
        await nowhere.push(remote, str(tmp_path), branch or "HEAD", "main")


async def test_s32_a_commit_reads_only_the_files_of_a_workspace_and_is_the_same_when_repeated(
    mirrors: Mirrors, server: GitServer, tmp_path: Path
) -> None:
    remote, clone = GitRemote.parse(server.url("app.git")), tmp_path / "clone"
    await mirrors.clone(remote, str(clone), "main")
    base = await mirrors.head(remote, "main")
    # What its repository would run when files are staged and committed, or let them be ignored.
    git(clone, "config", "filter.evil.clean", f"touch {tmp_path}/ran; cat")
    git(clone, "config", "core.fsmonitor", f"touch {tmp_path}/ran")
    (clone / ".git/info").mkdir(exist_ok=True)
    (clone / ".git/info/exclude").write_text("*\n")
    (clone / ".gitattributes").write_text("* filter=evil\n")
    assert await mirrors.head(remote, "nothing") == ""
    (clone / "new.txt").write_text("new\n")
    (clone / "a.txt").unlink()
    made = [await mirrors.commit(remote, str(clone), base, "Mend it", "2026-01-02T03:04:05Z") for _ in range(2)]
    assert made[0] and made[0] == made[1]
    await mirrors.push(remote, str(clone), made[0], "brain/1")
    await mirrors.push(remote, str(clone), made[0], "brain/1")
    served = tmp_path / "served/app.git"
    assert git(served, "show", "--name-status", "--format=%s|%an", "brain/1").splitlines() == [
        "Mend it|Rainy Brain",
        "",
        "A\t.gitattributes",
        "D\ta.txt",
        "A\tnew.txt",
    ]
    await mirrors.fetch(remote)
    assert await mirrors.parent(remote, made[0]) == (base, "Mend it")
    assert await mirrors.commit(remote, str(clone), made[0], "Again", "2026-01-02T03:04:06Z") == ""


async def test_s32_a_clone_of_a_pull_request_has_its_head(mirrors: Mirrors, server: GitServer, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "a.txt").write_text("from a fork\n")
    git(work, "commit", "-qam", "theirs")
    git(work, "push", "-q", str(tmp_path / "served/app.git"), "HEAD:refs/pull/7/head")
    await mirrors.clone(GitRemote.parse(server.url("app.git")), str(tmp_path / "clone"), pull=7)
    assert (tmp_path / "clone/a.txt").read_text() == "from a fork\n"
