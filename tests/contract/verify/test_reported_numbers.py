"""The numbers of a report, compared with a real repository and real files."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.verify.change import FileVersions
from sidecar.verify.claims import check_claims, parse_claims
from sidecar.verify.counts import parse_counts
from sidecar.verify.facts import TaskFacts
from tests.support.check_runner import host
from tests.support.claims import claim_problems, problems
from tests.support.workbench import Workbench
from tools.git import read_head
from tools.ledger import GitHead


def git_in(folder: Path) -> Callable[..., str]:
    def git(*words: str, **environ: str) -> str:
        argv = ["git", "-c", "user.name=x", "-c", "user.email=x@x", *words]
        environ = {**os.environ, **environ}
        ran = subprocess.run(argv, cwd=folder, check=True, capture_output=True, timeout=20, env=environ)
        return ran.stdout.decode().strip()

    return git


async def test_reported_commits_are_counted_from_where_the_task_began(bench: Workbench) -> None:
    git = git_in(bench.workspace)
    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "the user's, in the same second")
    start = TaskFacts(GitHead(commit=await read_head(host(bench)), at=int(time.time())))
    two, one = "Created 2 commits.", "Created one commit."
    assert "0 commits are made by this task" in await claim_problems(bench, two, facts=start)
    assert "this task made none" in await claim_problems(bench, "I committed everything.", facts=start)
    assert "0 commits" in await claim_problems(bench, one, facts=TaskFacts())  # it ran no command at all
    git("commit", "-q", "--allow-empty", "-m", "first")
    assert await claim_problems(bench, one, facts=start) == ""
    assert "1 commit is made by this task" in await claim_problems(bench, two, facts=start)
    git("checkout", "-q", "-b", "other")
    git("commit", "-q", "--allow-empty", "-m", "second")
    git("checkout", "-q", "main")
    assert await claim_problems(bench, two, facts=start) == ""


async def test_commits_of_an_old_branch_are_not_the_tasks(bench: Workbench) -> None:
    git = git_in(bench.workspace)
    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("checkout", "-q", "-b", "old")
    for _ in range(3):
        git("commit", "-q", "--allow-empty", "-m", "old", GIT_COMMITTER_DATE="2020-01-01T00:00:00")
    git("checkout", "-q", "main")
    start = TaskFacts(GitHead(commit=await read_head(host(bench)), at=int(time.time())))
    git("checkout", "-q", "old")
    assert "0 commits are made by this task" in await claim_problems(bench, "Created 2 commits.", facts=start)


async def test_commits_in_a_repository_inside_the_workspace_are_not_held_against_anyone(bench: Workbench) -> None:
    start = TaskFacts(GitHead(commit=None, at=int(time.time())))
    bench.write("app/a.py", "x = 1\n")
    git = git_in(bench.workspace / "app")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    made = FileVersions("app/a.py", None, b"x = 1\n")
    counts = parse_counts("Created 1 commit.")
    found = await check_claims(parse_claims("I committed it."), counts, [], [made], start, host(bench), "mark")
    assert problems(found) == ""


async def test_reported_numbers_of_files_are_compared_with_the_change(bench: Workbench) -> None:
    calc = ("old", "new")
    assert "1 file is changed" in await claim_problems(bench, "Modified 3 files.", calc__py=calc)
    assert "0 files are created" in await claim_problems(bench, "Created 1 file.", calc__py=calc)
    assert "0 new tests" in await claim_problems(bench, "Added 3 tests.", calc__py=calc)
    assert await claim_problems(bench, "Modified 1 file.", calc__py=calc) == ""
    unknown = TaskFacts(all_files_known=False)
    assert await claim_problems(bench, "Modified 3 files.", facts=unknown, calc__py=calc) == ""


@pytest.mark.parametrize("words", ["1 file changed on branch `main`.", "2 commits", "Files changed: 3"])
async def test_what_the_repository_holds_is_no_claim_of_a_task_that_only_looked(bench: Workbench, words: str) -> None:
    looked, asked = TaskFacts(), TaskFacts(asked_to_change=True)
    assert await claim_problems(bench, words, facts=looked) == ""
    assert "was reported, but 0" in await claim_problems(bench, words, facts=asked)
    assert "was reported, but 0" in await claim_problems(bench, "I changed 1 file.", facts=looked)


@pytest.mark.parametrize("packed", [False, True])
async def test_the_head_is_read_as_git_reads_it(bench: Workbench, packed: bool) -> None:
    git = git_in(bench.workspace)
    assert await read_head(host(bench)) is None
    git("init", "-q")
    assert await read_head(host(bench)) == ""
    git("commit", "-q", "--allow-empty", "-m", "first")
    if packed:
        git("pack-refs", "--all")
    assert await read_head(host(bench)) == git("rev-parse", "HEAD")
    git("checkout", "-q", "--detach")
    assert await read_head(host(bench)) == git("rev-parse", "HEAD")
