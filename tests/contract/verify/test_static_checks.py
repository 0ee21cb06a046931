"""The checks that need nothing to be run: whether it parses, and whether what was said is so."""

import subprocess

from tests.support.claims import claim_problems
from tests.support.workbench import Workbench


async def test_a_commit_that_was_said_to_be_made_must_exist_and_hold_the_change(bench: Workbench) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@x"]
        subprocess.run(["git", *identity, *words], cwd=bench.workspace, check=True, capture_output=True, timeout=20)

    words = "I committed the change."
    assert "no Git repository" in await claim_problems(bench, words, calc__py=("old", "new"))
    git("init", "-q")
    assert "there are no commits" in await claim_problems(bench, words, calc__py=("old", "new"))
    git("commit", "-q", "--allow-empty", "-m", "first")
    assert "calc.py is not in any commit" in await claim_problems(bench, words, calc__py=("old", "new"))
    git("add", ".")
    git("commit", "-q", "-m", "second")
    assert await claim_problems(bench, words, calc__py=("old", "new")) == ""
    assert "0badc0ffee" in await claim_problems(bench, "I committed it as 0badc0ffee.", calc__py=("old", "new"))
