"""S32: looking at a repository runs nothing of it, in any tier, as root and as a plain user, trusted or not."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.scale import scaled
from tests.security.git_corpus import HOSTILE, GitBench, Tier, attack, git, make_canary, make_repository, make_sandbox
from tests.security.plain_user import run_as_plain_user
from tools.local.sandbox.probe import works

TIERS: tuple[Tier, ...] = ("bubblewrap", "landlock", "none")


def need(tier: Tier) -> None:
    if tier != "none" and not ((tier != "bubblewrap" or shutil.which("bwrap")) and works(make_sandbox(tier))):  # type: ignore[arg-type]
        pytest.skip(f"this machine has no {tier}")


@pytest.fixture(params=TIERS)
def tier(request: pytest.FixtureRequest) -> Tier:
    need(request.param)
    found: Tier = request.param
    return found


@pytest.fixture
async def bench(tier: Tier, tmp_path: Path) -> AsyncIterator[GitBench]:
    bench = GitBench(tmp_path, tier, trusted=False)
    yield bench
    await bench.executor.close()


@pytest.fixture
async def trusted_bench(tier: Tier, tmp_path: Path) -> AsyncIterator[GitBench]:
    bench = GitBench(tmp_path, tier, trusted=True)
    yield bench
    await bench.executor.close()


def test_s32_the_corpus_is_large_enough() -> None:
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("name", HOSTILE)
async def test_s32_a_hostile_repository_runs_nothing_even_without_a_sandbox(name: str, tmp_path: Path) -> None:
    """Without a sandbox, only the settings that Git is given protect; a canary could mark anything."""
    assert await attack(tmp_path / "a", name, "none", trusted=False) == []


@pytest.mark.parametrize("name", list(HOSTILE)[::6])
async def test_s32_trust_changes_nothing_for_a_look(name: str, tmp_path: Path) -> None:
    assert await attack(tmp_path / "a", name, "none", trusted=True) == []


@pytest.mark.parametrize("name", list(HOSTILE)[::5])
@pytest.mark.parametrize("cage", ["bubblewrap", "landlock"])
async def test_s32_nor_in_a_sandbox(name: str, cage: Tier, tmp_path: Path) -> None:
    need(cage)
    assert await attack(tmp_path / "a", name, cage, trusted=False) == []


@pytest.mark.timeout(600)
def test_s32_nor_as_a_plain_user() -> None:
    step = scaled(4, 1)
    done = run_as_plain_user("-m", "tests.security.git_corpus", "none", "untrusted", str(step), seconds=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(list(HOSTILE)[::step])} repositories; nothing ran" in done.stdout


async def test_s32_a_hostile_repository_is_named_and_read_all_the_same(bench: GitBench, tmp_path: Path) -> None:
    make_repository(bench.workspace, make_canary(tmp_path / "canary", tmp_path / "mark"))
    with (bench.workspace / ".git/config").open("a") as config:
        config.write('[filter "evil"]\n\tclean = evil-program\n[gpg]\n\tprogram = evil-program\n')
    for tool, args in (("git_status", {}), ("git_diff", {}), ("git_log", {}), ("git_show", {"ref": "HEAD"})):
        outcome = await bench.call(tool, **args)
        assert outcome.status == "success", outcome
        assert "filter.evil.clean, gpg.program" in outcome.content
        assert isinstance(outcome.details, dict) and "gpg.program" in str(outcome.details["notes"])
    assert "M a.txt" in (await bench.call("git_status")).content


async def test_s32_an_ordinary_repository_is_read_as_ever(bench: GitBench, tmp_path: Path) -> None:
    root = bench.workspace
    git(root, "init", "-q", ".")
    bench.write("a.txt", "one\n")
    assert (await bench.call("git_add", paths=["a.txt"])).status == "success"
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.com")
    made = await bench.call("git_commit", message="First")
    assert made.status == "success", made
    bench.write("a.txt", "two\n")
    assert "+two" in (await bench.call("git_diff")).content
    assert "Ada: First" in (await bench.call("git_log")).content
    assert "one" in (await bench.call("git_show", ref="HEAD:a.txt")).content
    assert "Not Committed Yet" in (await bench.call("git_blame", path="a.txt")).content
    assert (await bench.call("git_status")).details == {
        "branch": "main",
        "name": "main",
        "upstream": None,
        "ahead": 0,
        "behind": 0,
        "changes": [{"path": "a.txt", "state": " M"}],
    }
    assert git(root, "log", "--format=%an %s").strip() == "Ada First"


async def test_s32_a_worktree_and_a_submodule_are_read_where_they_belong(tier: Tier, tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q", ".")
    (main / "a.txt").write_text("one\n")
    git(main, "add", ".")
    git(main, "commit", "-qm", "one")
    git(main, "worktree", "add", "-q", "-b", "side", str(tmp_path / "workspace"))
    bench = GitBench(tmp_path, tier, trusted=False)
    bench.write("a.txt", "two\n")
    status = await bench.call("git_status")
    assert "on side" in status.content and "M a.txt" in status.content, status
    assert "+two" in (await bench.call("git_diff")).content
    git(main, "config", "user.name", "Ada")
    git(main, "config", "user.email", "ada@example.com")
    assert (await bench.call("git_add", paths=["a.txt"])).status == "success"
    made = await bench.call("git_commit", message="In the worktree")
    assert made.status == "success", made
    assert git(main, "log", "-1", "--format=%s", "side").strip() == "In the worktree"
    await bench.executor.close()


@pytest.mark.parametrize("how", ["file", "link", "commondir"])
async def test_s32_a_git_that_leads_to_a_repository_elsewhere_is_not_read(
    how: str, bench: GitBench, tmp_path: Path
) -> None:
    """A workspace from an archive can bring a `.git` that leads to a repository of yours."""
    private = tmp_path / "private"
    private.mkdir()
    git(private, "init", "-q", ".")
    (private / "secret.txt").write_text("canary-secret\n")
    git(private, "add", ".")
    git(private, "commit", "-qm", "private")
    if how == "file":
        bench.write(".git", f"gitdir: {private}/.git\n")
    elif how == "link":
        (bench.workspace / ".git").symlink_to(private / ".git")
    else:
        bench.write(".git/HEAD", "ref: refs/heads/main\n")
        bench.write(".git/commondir", f"{private}/.git\n")
    for tool, args in (("git_log", {}), ("git_show", {"ref": "HEAD:secret.txt"}), ("git_status", {})):
        outcome = await bench.call(tool, **args)
        assert outcome.error is not None and outcome.error.code == "no_git"
        assert "canary-secret" not in outcome.content


async def test_s32_a_repository_of_the_home_directory_is_not_the_workspaces(
    tier: Tier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    git(tmp_path, "init", "-q", ".")
    (tmp_path / "key").write_text("canary-key\n")
    git(tmp_path, "add", "key")
    git(tmp_path, "commit", "-qm", "dotfiles")
    bench = GitBench(tmp_path, tier, trusted=False)
    outcome = await bench.call("git_show", ref="HEAD:key")
    assert outcome.error is not None and outcome.error.code == "no_git"
    await bench.executor.close()


async def test_s32_hooks_do_not_run_where_you_do_not_trust(bench: GitBench, tmp_path: Path) -> None:
    mark = _repository_with_hook(bench, tmp_path)
    outcome = await bench.call("git_commit", message="x")
    assert outcome.status == "success", outcome
    assert not mark.exists()
    assert "hooks were not run" in outcome.content


async def test_s32_hooks_of_a_trusted_workspace_run_in_the_sandbox_or_not_at_all(
    trusted_bench: GitBench, tier: Tier, tmp_path: Path
) -> None:
    outside = _repository_with_hook(trusted_bench, tmp_path)
    outcome = await trusted_bench.call("git_commit", message="x")
    assert outcome.status == "success", outcome
    assert (trusted_bench.workspace / "hook-ran").exists() == (tier != "none")
    assert ("there is no sandbox" in outcome.content) == (tier == "none")
    assert not outside.exists()


def _repository_with_hook(bench: GitBench, tmp_path: Path) -> Path:
    """A hook that marks the workspace and a place outside of it."""
    mark = tmp_path / "outside"
    git(bench.workspace, "init", "-q", ".")
    git(bench.workspace, "config", "user.name", "Ada")
    git(bench.workspace, "config", "user.email", "ada@example.com")
    hook = bench.write(".git/hooks/pre-commit", f"#!/bin/sh\ntouch hook-ran\ntouch {mark}\nexit 0\n")
    hook.chmod(0o755)
    bench.write("a.txt", "one\n")
    git(bench.workspace, "add", "a.txt")
    return mark


async def test_s32_filters_of_the_repository_stage_only_where_you_trust(bench: GitBench) -> None:
    root = bench.workspace
    git(root, "init", "-q", ".")
    git(root, "config", "filter.up.clean", "tr a-z A-Z")
    bench.write(".gitattributes", "*.txt filter=up\n")
    bench.write("a.txt", "one\n")
    outcome = await bench.call("git_add", paths=["a.txt"])
    assert outcome.error is not None and outcome.error.code == "needs_trust"
    assert git(root, "ls-files") == ""


async def test_s32_filters_of_a_trusted_repository_run_when_it_stages(trusted_bench: GitBench, tier: Tier) -> None:
    root = trusted_bench.workspace
    git(root, "init", "-q", ".")
    git(root, "config", "filter.up.clean", "tr a-z A-Z")
    trusted_bench.write(".gitattributes", "*.txt filter=up\n")
    trusted_bench.write("a.txt", "one\n")
    outcome = await trusted_bench.call("git_add", paths=["a.txt"])
    if tier == "none":
        assert outcome.error is not None and "no sandbox" in outcome.error.message
        assert git(root, "ls-files") == ""
    else:
        assert git(root, "show", ":a.txt") == "ONE\n", outcome


async def test_s32_our_git_reaches_no_network_and_writes_nothing_when_it_looks(bench: GitBench, tier: Tier) -> None:
    if tier == "none":
        pytest.skip("about the sandbox")
    git(bench.workspace, "init", "-q", ".")
    launched = bench.backend._local(str(bench.workspace))  # type: ignore[attr-defined]
    cage = await launched._looking()
    assert cage is not None and not cage.writes and not cage.approved


@pytest.mark.parametrize("target", ["ci/hooks", "./ci/hooks/", "ci/../ci/hooks"])
async def test_s32_the_targets_of_hooks_path_are_protected(tier: Tier, tmp_path: Path, target: str) -> None:
    bench = GitBench(tmp_path, tier, trusted=True)
    git(bench.workspace, "init", "-q", ".")
    bench.write("ci/hooks/pre-commit", "#!/bin/sh\n")
    git(bench.workspace, "config", "core.hooksPath", target)
    bench.ledger.answer = "deny"
    outcome = await bench.call("write_file", path="ci/hooks/pre-commit", content="#!/bin/sh\nevil\n")
    assert outcome.error is not None and outcome.error.code == "denied", outcome
    new = await bench.call("create_file", path="ci/hooks/post-commit", content="#!/bin/sh\nevil\n")
    assert new.error is not None and new.error.code == "denied", new
    await bench.call("run_command", command="printf evil >> c?/hooks/pre-commit; printf evil > c?/hooks/post-merge")
    assert bench.read("ci/hooks/pre-commit") == b"#!/bin/sh\n"
    assert not (bench.workspace / "ci/hooks/post-merge").exists()
    assert (await bench.call("write_file", path="ci/other.txt", content="x")).status == "success"
    await bench.executor.close()


def test_s32_git_is_started_in_one_place_only() -> None:
    """Another way to start Git fails this test."""
    root = Path(__file__).parents[2]
    found = [
        str(place.relative_to(root))
        for folder in ("tools", "sidecar", "bridge")
        for place in (root / folder).rglob("*.py")
        if '["git"' in place.read_text()
    ]
    assert found == []
