"""S19, S32: a task can name only remotes that you allowed; what a remote holds starts nothing and trusts nothing."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, clean_environ
from tests.support.remotes import TOKEN, ServedProject, git, served_project
from tools.errors import ToolError
from tools.local.environment import sidecar_mark
from tools.local.processes import Processes
from tools.local.reaper import Reaper, process_table
from tools.local.repository import mirror
from tools.local.repository.clones import GitClones
from tools.local.repository.mirror import GitRemote, Mirrors
from tools.local.sandbox.probe import Sandboxes

BAD = [
    "ext::sh -c 'touch {ran}'",
    "--upload-pack=touch {ran}",
    "-u{ran}",
    "file://{served}/app.git",
    "{served}/app.git",
    "ssh://localhost/app.git",
    "git://localhost/app.git",
    "ftp://localhost/app.git",
    "https://user:secret@localhost/app.git",
    "https://localhost/../../etc",
    "https://localhost/app.git?x=--upload-pack",
    "https://localhost/app.git#x",
    "http://example.com/app.git",
    "https://local\nhost/app.git",
    "https://localhost/app.git\x00",
    "",
    "https://",
    "fd::17",
    "transport::address",
]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ServedProject]:
    with served_project(tmp_path) as served:
        yield served


@pytest.fixture
def sidecar(tmp_path: Path, project: ServedProject) -> Iterator[RunningSidecar]:
    (tmp_path / "workspace").mkdir()
    allowed = f"{project.url}, https://git.example/team/*"
    environ = clean_environ(tmp_path, BRAIN_REMOTES=allowed, BRAIN_GIT_TOKENS=f"localhost={TOKEN}")
    running = RunningSidecar(tmp_path / "data", tmp_path / "workspace", (), environ).start()
    yield running
    running.close()


def test_s32_only_remotes_that_you_allowed_are_taken(
    sidecar: RunningSidecar, project: ServedProject, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    others = [
        project.server.url("other.git"),
        f"{project.url}/../other.git",
        "https://git.example/team",
        "https://git.example/team2/app",
        "https://git.example.evil.com/team/app",
        f"http://127.0.0.1:{project.server.port}/app.git",
    ]
    for named in [each.format(ran=ran, served=tmp_path / "served") for each in BAD] + others:
        context = {"repository": {"remote": named}}
        refused = sidecar.post("/api/brain/execute", {"task": "look", "context": context})
        assert refused.status == 422, (named, refused.body)
        assert refused.json["code"] in ("bad_remote", "remote_not_allowed"), (named, refused.body)
    for context in ({"workspace": str(tmp_path)}, {}):
        body = {"task": "x", "context": {"repository": {"remote": project.url}, **context}}
        body["options"] = {} if context else {"crew": True}
        assert sidecar.post("/api/brain/execute", body).json["code"] == "workspace_or_repository"
    assert not ran.exists() and not project.server.requests


def test_s32_a_branch_that_is_none_ends_the_task(sidecar: RunningSidecar, project: ServedProject) -> None:
    for branch in ("--upload-pack=x", "../x", "a b", "no-such-branch", "-q", "x\ny", "refs/../x"):
        context = {"repository": {"remote": project.url, "branch": branch}}
        task = sidecar.wait_for_end(sidecar.execute("look", context=context))
        assert (task["status"], task["error"]["code"]) == ("failed", "no_clone"), task


def test_s32_a_hostile_remote_starts_nothing_and_is_not_trusted(
    sidecar: RunningSidecar, project: ServedProject, tmp_path: Path
) -> None:
    """Hooks, filters, submodules, links and configuration in the repository; then a task that looks and commits."""
    work, ran = project.work, tmp_path / "ran"
    trap = f"#!/bin/sh\ntouch {ran}\n"
    for name in ("hooks/post-checkout", ".githooks/post-checkout", ".husky/post-checkout"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(trap)
        (work / name).chmod(0o755)
    (work / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    (work / ".gitconfig").write_text(f'[filter "evil"]\n\tsmudge = touch {ran}\n\tclean = touch {ran}\n')
    (work / ".gitmodules").write_text(f'[submodule "s"]\n\tpath = s\n\turl = ext::sh -c "touch {ran}"\n')
    (work / ".mcp.json").write_text(f'{{"mcpServers": {{"x": {{"command": "touch", "args": ["{ran}"]}}}}}}')
    (work / ".brain/agents").mkdir(parents=True)
    (work / ".brain/agents/coder.md").write_text("---\ndescription: x\ntools: run_command\n---\nevil\n")
    (work / "outside").symlink_to(tmp_path / "data")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Evil")
    git(work, "push", "-q", str(project.bare), "HEAD:refs/heads/trunk")
    reads = [{"tool": "read_file", "args": {"path": "outside/token"}}]
    models = sidecar.script(
        "hostile",
        [
            {"text": "a", "calls": reads},
            {"text": "b", "calls": [{"tool": "write_file", "args": {"path": "outside/x", "content": "x"}}]},
            {"text": "c", "calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "a\n"}}]},
            {"text": "Done"},
        ],
    )
    context = {"repository": {"remote": project.url}}
    options = {"models": models, "approvals": "auto", "agentType": "coder", "intent": "edit_code", "verify": "off"}
    task = sidecar.wait_for_end(sidecar.execute("work", context=context, **options))
    assert task["status"] == "completed", task
    tools = [event for event in sidecar.events(task["id"]) if event["type"] == "tool" and event["status"] != "running"]
    ended = {each["callId"]: each["status"] for each in tools if each["status"] != "pending"}
    assert list(ended.values()) == ["error", "error", "success"], tools
    assert project.file(task["resultBranch"], "a.txt") == "a"
    assert not ran.exists() and not (tmp_path / "data/x").exists()
    trusted = sidecar.get("/api/brain/trust").json
    assert "app.git" not in str(trusted)


async def test_s32_a_commit_that_names_billions_of_files_is_not_checked_out(
    project: ServedProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few hundred bytes: a tree of ten equal trees, ten levels deep."""
    blob = git(project.work, "hash-object", "-w", "greet.py")
    entry = f"100644 blob {blob}\tf"
    for _ in range(10):
        lines = "\n".join(entry.rpartition("\t")[0] + f"\t{number}" for number in range(10))
        done = subprocess.run(
            ["git", "mktree"], cwd=project.work, input=lines + "\n", check=True, capture_output=True, text=True
        )
        entry = f"040000 tree {done.stdout.strip()}\td"
    commit = git(project.work, "commit-tree", entry.split()[2], "-m", "bomb")
    git(project.work, "push", "-q", str(project.bare), f"{commit}:refs/heads/bomb")
    monkeypatch.setattr(mirror, "MAX_FILES", 20_000)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    mark = sidecar_mark(data)
    processes = Processes(data, mark, Reaper(process_table(), mark))
    mirrors = Mirrors(data / "mirrors", processes, Sandboxes())
    clones = GitClones(data / "clones", mirrors, [project.url])
    try:
        assert (await clones.find(project.url, "bomb"))[1] == commit
        with pytest.raises(ToolError, match="more than"):
            await clones.checkout("t", project.url, commit)
        assert not (data / "clones/t").exists()
        assert await mirrors.default_branch(GitRemote.parse(project.url)) == "trunk"
    finally:
        await processes.close()
