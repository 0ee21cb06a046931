"""S19, S32: a task can name only remotes that you allowed; what a remote holds starts nothing and trusts nothing."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, clean_environ
from tests.support.crew import part, propose, start_on_remote, write
from tests.support.remotes import TOKEN, ServedProject, git, served_project
from tools.errors import ToolError
from tools.local.environment import sidecar_mark
from tools.local.processes import Processes
from tools.local.reaper import Reaper, process_table
from tools.local.repository import mirror
from tools.local.repository.clones import GitClones
from tools.local.repository.mirror import Mirrors
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
    for options in ({}, {"crew": True}):
        context = {"repository": {"remote": project.url}, "workspace": str(tmp_path)}
        body = {"task": "x", "context": context, "options": options}
        assert sidecar.post("/api/brain/execute", body).json["code"] == "workspace_or_repository"
    assert not ran.exists() and not project.server.requests


def test_s32_a_branch_that_is_none_ends_the_task(sidecar: RunningSidecar, project: ServedProject) -> None:
    for branch in ("--upload-pack=x", "../x", "a b", "no-such-branch", "-q", "x\ny", "refs/../x"):
        context = {"repository": {"remote": project.url, "branch": branch}}
        task = sidecar.wait_for_end(sidecar.execute("look", context=context))
        assert (task["status"], task["error"]["code"]) == ("failed", "no_clone"), task


def set_traps(project: ServedProject, tmp_path: Path) -> Path:
    """Push what would start programs in a careless clone; returns the file that they would make."""
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
    project.push("Evil")
    return ran


def test_s32_a_hostile_remote_starts_nothing_and_is_not_trusted(
    sidecar: RunningSidecar, project: ServedProject, tmp_path: Path
) -> None:
    """Hooks, filters, submodules, links and configuration in the repository; then a task that looks and commits."""
    ran = set_traps(project, tmp_path)
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


@pytest.mark.timeout(240)
def test_s32_a_crew_on_a_hostile_remote_starts_nothing_and_merges_only_what_its_parts_wrote(
    sidecar: RunningSidecar, project: ServedProject, tmp_path: Path
) -> None:
    """A part also plants hooks and a repository of its own in its clone."""
    ran = set_traps(project, tmp_path)
    plant = (
        f"mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch {ran}\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/*"
    )
    nested = "git init -q inner; cd inner; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"
    escape = {"calls": [{"tool": "write_file", "args": {"path": "outside/x", "content": "x"}}]}
    commands = [{"calls": [{"tool": "run_command", "args": {"command": each}}]} for each in (plant, nested)]
    script = {
        "strategist": [propose(part("one", "backend", ["a.txt"], []), part("two", "qa", ["b.txt"], [], ["one"]))],
        "architect": [{"calls": [{"tool": "review_plan", "args": {"approved": True}}]}],
        "backend": [write("a.txt", "a\n"), escape, *commands, {"text": "done"}],
        "qa": [write("b.txt", "b\n"), {"text": "done"}],
    }
    task_id = start_on_remote(sidecar, project, script, verify="off")
    task = sidecar.wait_for_end(task_id, seconds=180)
    assert task["status"] == "escalated" and "inner is a repository of its own" in task["error"]["message"], task
    sidecar.script("crew", {**script, "backend": [write("a.txt", "a\n"), escape, commands[0], {"text": "done"}]})
    assert sidecar.post(f"/api/brain/tasks/{task_id}/resume", {}).status == 202
    task = sidecar.wait_for_end(task_id, seconds=180)
    assert task["status"] == "completed", task["error"]
    names = git(project.bare, "diff", "--name-only", "trunk", task["resultBranch"]).splitlines()
    assert names == ["a.txt", "b.txt"]
    assert not ran.exists() and not (tmp_path / "data/x").exists()


@pytest.fixture
async def clones(project: ServedProject, tmp_path: Path) -> AsyncIterator[GitClones]:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    mark = sidecar_mark(data)
    processes = Processes(data, mark, Reaper(process_table(), mark))
    yield GitClones(data / "clones", Mirrors(data / "mirrors", processes, Sandboxes()), [project.url])
    await processes.close()


async def test_s32_what_a_part_changed_is_read_whatever_its_files_are_called(
    project: ServedProject, clones: GitClones, tmp_path: Path
) -> None:
    before = git(project.work, "rev-parse", "HEAD")
    names = [b"-rf", b"a\nb", b'"q"\t\\', "ünï".encode(), b"\xff\xfe", b":(top)x", b"$(touch ran)"]
    for name in names:
        (project.work / os.fsdecode(name)).write_bytes(name)
    (project.work / "link").symlink_to("/etc/passwd")
    (project.work / "greet.py").unlink()
    (project.work / "run.sh").chmod(0o644)
    project.push("Names")
    found = {
        each.path: each for each in await clones.changed(project.url, before, git(project.work, "rev-parse", "HEAD"))
    }
    contents = {each.now.content for path, each in found.items() if path not in ("greet.py", "run.sh") and each.now}
    assert contents == {*names, b"/etc/passwd"}
    assert found["greet.py"].now is None and found["greet.py"].base is not None
    assert found["run.sh"].base and found["run.sh"].now
    assert (found["run.sh"].base.mode & 0o777, found["run.sh"].now.mode & 0o777) == (0o755, 0o644)


async def test_s32_a_part_that_changes_too_much_or_a_submodule_is_not_merged(
    project: ServedProject, clones: GitClones, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = git(project.work, "rev-parse", "HEAD")
    for number in range(30):
        (project.work / f"{number}.txt").write_text("x")
    project.push("Many")
    many = git(project.work, "rev-parse", "HEAD")
    monkeypatch.setattr(mirror, "MAX_CHANGED", 20)
    with pytest.raises(ToolError, match="more than 20 files"):
        await clones.changed(project.url, before, many)
    git(project.work, "update-index", "--add", "--cacheinfo", f"160000,{before},inner")
    git(project.work, "commit", "-qm", "Inner")
    git(project.work, "push", "-q", str(project.bare), "HEAD:refs/heads/trunk")
    with pytest.raises(ToolError, match="repository of its own"):
        await clones.changed(project.url, many, git(project.work, "rev-parse", "HEAD"))


async def test_s32_a_merge_is_made_although_somebody_deleted_the_branch_of_the_part(
    project: ServedProject, clones: GitClones
) -> None:
    base = git(project.work, "rev-parse", "HEAD")
    place = await clones.checkout("t", project.url, base)
    for path in ("a.txt", "left.txt"):
        (Path(place) / path).write_text("a\n")
    gone, when = "0123456789" * 4, "2026-01-01T00:00:00Z"
    commit = await clones.commit("t", project.url, base, "Merge", when, ["a.txt", "gone.txt"], gone)
    await clones.push("t", project.url, commit, "brain/t")
    assert git(project.bare, "log", "-1", "--format=%P", "brain/t") == base
    assert git(project.bare, "diff", "--name-only", "trunk", "brain/t") == "a.txt"


async def test_s32_a_branch_that_others_moved_is_not_deleted(project: ServedProject, clones: GitClones) -> None:
    before = git(project.work, "rev-parse", "HEAD")
    (project.work / "theirs.txt").write_text("theirs\n")
    project.push("Theirs", "brain/part")
    with pytest.raises(ToolError):
        await clones.delete(project.url, "brain/part", before)
    assert project.commits("brain/part") == ["Theirs"]
    await clones.delete(project.url, "brain/part", git(project.work, "rev-parse", "HEAD"))
    assert "part" not in git(project.bare, "branch")


async def test_s32_a_commit_that_names_billions_of_files_is_not_checked_out(
    project: ServedProject, clones: GitClones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert (await clones.find(project.url, "bomb"))[1] == commit
    with pytest.raises(ToolError, match="more than"):
        await clones.checkout("t", project.url, commit)
    assert not (tmp_path / "data/clones/t").exists()
    assert (await clones.find(project.url, ""))[0] == "trunk"
