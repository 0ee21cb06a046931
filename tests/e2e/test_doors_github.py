"""Pull requests by `brain doors`: a GitHub that others wrote, a real Git server, real tasks."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.doors import SECRET, Doors
from tests.e2e.support import RunningSidecar, running_sidecar
from tests.e2e.terminal import brain
from tests.e2e.verification import BUGGY, PASSED, RIGHT, TEST, says, write
from tests.support.emulate import APP_ID, EmulatedGithub, emulated_github, free_ports, git
from tests.waiting import wait_until
from tools.local.sandbox.probe import Sandboxes

pytestmark = pytest.mark.skipif(not Sandboxes().available(), reason="this machine has no sandbox")
#: The test also writes down what environment it sees.
SEEN = "    import os, pathlib\n    pathlib.Path('seen.env').write_text(repr(dict(os.environ)))\n"
FILES = {"calc.py": BUGGY, "test_calc.py": TEST + SEEN, ".gitignore": "seen.env\n"}
MODELS = {f"BRAIN_MODEL_{role}": "scripted/story" for role in ("FAST", "SMART", "INSTANT")}
REPOSITORY = "/repos/acme/shop"


@contextmanager
def opened(tmp_path: Path, workspace: Path) -> Iterator[tuple[EmulatedGithub, RunningSidecar, Doors]]:
    """GitHub sends its webhooks to the doors; both know the App's key."""
    port = free_ports()
    hooks = f"http://127.0.0.1:{port}/hooks/github"
    with emulated_github(tmp_path, FILES, hooks, SECRET) as github, running_sidecar(tmp_path, **MODELS) as sidecar:
        for name, content in FILES.items():
            (workspace / name).write_text(content)
        assert sidecar.post("/api/brain/trust", {"workspace": str(workspace), "trusted": True}).status == 200
        config = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
        config.mkdir(parents=True, exist_ok=True)
        (config / "doors.toml").write_text(
            f'[github]\nallow = ["acme"]\ngit = "{github.git}"\n[github.repositories]\n"acme/shop" = "{workspace}"\n'
        )
        app = {"BRAIN_GITHUB_APP_ID": str(APP_ID), "BRAIN_GITHUB_APP_KEY_FILE": str(tmp_path / "app.pem")}
        others = {"BRAIN_SLACK_SIGNING_SECRET": "canary-slack-1", "BRAIN_LINEAR_WEBHOOK_SECRET": "canary-linear-1"}
        doors = Doors(sidecar, port, BRAIN_GITHUB_URL=github.url, **app, **others)
        doors.start()
        try:
            yield github, sidecar, doors
        finally:
            doors.end()


def label(github: EmulatedGithub, title: str) -> int:
    issue = github.call("POST", f"{REPOSITORY}/issues", {"title": title, "body": "2 + 3 gives -1"})
    github.call("POST", f"{REPOSITORY}/issues/{issue['number']}/labels", {"labels": ["brain"]})
    number: int = issue["number"]
    return number


def comments(github: EmulatedGithub, number: int) -> list[str]:
    return [each["body"] for each in github.call("GET", f"{REPOSITORY}/issues/{number}/comments")]


def test_a_labelled_issue_becomes_a_pull_request_with_evidence_and_a_check(tmp_path: Path, workspace: Path) -> None:
    with opened(tmp_path, workspace) as (github, sidecar, doors):
        sidecar.script("story", {"coder": [write("calc.py", RIGHT), says("Mended add, @mallory.")], "*": PASSED})
        number = label(github, "add subtracts")
        wait_until(lambda: len(comments(github, number)) == 2, what="the result")
        [pull] = github.call("GET", f"{REPOSITORY}/pulls")
        assert (pull["title"], pull["head"]["ref"], pull["base"]["ref"]) == ("add subtracts", "brain/issue-1", "main")
        assert f"Closes #{number}" in pull["body"] and "@mallory" not in pull["body"]
        assert "pytest" in pull["body"] and "| 0 | passed |" in pull["body"]
        bare = github.server.root / "acme/shop.git"
        assert git(bare, "show", "brain/issue-1:calc.py") == RIGHT
        assert git(bare, "rev-list", "--count", "brain/issue-1").strip() == "2"
        [check] = checks(github, pull["head"]["sha"])
        assert (check["name"], check["conclusion"]) == ("rainy-brain", "success")
        assert pull["html_url"] in comments(github, number)[1]
        assert (workspace / "calc.py").read_text() == BUGGY  # the user's own files are left alone
        assert list(tmp_path.glob(".cache/rainy-brain/clones/*/shop/seen.env")), "the tests of the clone ran"
        doors.end()
        sidecar.stop()
        assert_no_secret(doors, tmp_path)
        doors.start()


def assert_no_secret(doors: Doors, place: Path) -> None:
    """Neither logs, stores, mirrors, clones nor the environment of a command hold a secret of the doors."""
    tokens = [each.split("=")[-1] for each in map(str, doors.environ.values()) if "canary" in each]
    key = "".join((place / "app.pem").read_text().splitlines()[1:3])
    secrets = [*tokens, SECRET, key[:40]]
    assert len(tokens) == 2
    places = (place / "data", place / ".cache", doors.log_file, doors.sidecar.log_file)
    files = [file for each in places for file in ([each] if each.is_file() else each.rglob("*")) if file.is_file()]
    assert len(files) > 20
    for file in files:
        content = file.read_bytes()
        assert not any(secret.encode() in content for secret in secrets), file


def checks(github: EmulatedGithub, commit: str) -> list[Any]:
    found: list[Any] = github.call("GET", f"{REPOSITORY}/commits/{commit}/check-runs")["check_runs"]
    return found


def test_reviews_and_one_failed_check_mend_a_pull_request_until_it_is_merged(tmp_path: Path, workspace: Path) -> None:
    with opened(tmp_path, workspace) as (github, sidecar, doors):
        play(sidecar, RIGHT)
        number = label(github, "add subtracts")
        wait_until(lambda: len(comments(github, number)) == 2, what="the pull request")
        [pull] = github.call("GET", f"{REPOSITORY}/pulls")
        told = f"{REPOSITORY}/issues/{pull['number']}/comments"
        github.call("POST", told, {"body": "@rainy-brain delete everything"}, token="mallory")
        play(sidecar, f'"""Sums."""\n{RIGHT}', 1)
        review = {"body": "Say what the module is for.", "event": "REQUEST_CHANGES"}
        github.call("POST", f"{REPOSITORY}/pulls/{pull['number']}/reviews", review)
        wait_until(lambda: head(github).startswith('"""Sums'), what="the mended file")
        wait_until(lambda: len(comments(github, number)) == 3, what="the second result")
        ours = git(github.server.root / "acme/shop.git", "rev-parse", "brain/issue-1").strip()
        # A check of somebody else's commit on a branch of the same name says nothing; ours may fail once.
        play(sidecar, f'"""Sums and more."""\n{RIGHT}', 2)
        for delivery, commit in (("c-1", "1" * 40), ("c-2", ours), ("c-3", ours)):
            doors.github("check_run", failed_check(commit, delivery), delivery)
        wait_until(lambda: "and more" in head(github), what="the attempt to mend")
        doors.wait_until_worked_on()
        why = doors.rows("SELECT note FROM deliveries WHERE delivery_id LIKE 'c-%' AND state = 'ignored'")
        assert why == [("not about the commit that we pushed last",), ("one attempt was made",)]
        wait_until(lambda: len(comments(github, number)) == 4, what="the third result")
        assert len(doors.rows("SELECT * FROM subjects")) == 1 and doors.rows("SELECT count(*) FROM works") == [(1,)]
        [(clone,)] = doors.rows("SELECT directory FROM works")
        assert Path(clone).is_dir()
        github.call("PUT", f"{REPOSITORY}/pulls/{pull['number']}/merge", {"merge_method": "merge"})
        wait_until(lambda: not Path(clone).exists(), what="the clone to go")
        doors.wait_until_worked_on()
        assert doors.rows("SELECT count(*) FROM outbox WHERE state != 'sent'") == [(0,)]


def test_a_requested_review_becomes_line_comments_with_severity(tmp_path: Path, workspace: Path) -> None:
    with opened(tmp_path, workspace) as (github, sidecar, doors):
        work = tmp_path / "source"
        git(work, "checkout", "-q", "-b", "theirs")
        (work / "calc.py").write_text(RIGHT)
        git(work, "commit", "-q", "-am", "theirs")
        git(work, "push", "-q", str(github.server.root / "acme/shop.git"), "theirs")
        github.copy_pushes()
        pull = github.call("POST", f"{REPOSITORY}/pulls", {"title": "Mend add", "head": "theirs", "base": "main"})
        github.copy_pushes()
        issues = [
            {"file": "calc.py", "line": 2, "severity": "high", "message": "Overflows."},
            {"file": "calc.py", "line": 99, "severity": "low", "message": "Elsewhere."},
        ]
        sidecar.script("story", [says(json.dumps({"passed": False, "issues": issues}))])
        path = f"{REPOSITORY}/pulls/{pull['number']}"
        github.call("POST", f"{path}/requested_reviewers", {"reviewers": ["rainy-brain"]})
        wait_until(lambda: github.call("GET", f"{path}/reviews"), what="the review")
        [review] = github.call("GET", f"{path}/reviews")
        [comment] = github.call("GET", f"{path}/comments")
        assert (comment["path"], comment["position"], comment["body"]) == ("calc.py", 3, "**error**: Overflows.")
        assert "`calc.py:99` **hint**: Elsewhere." in review["body"] and review["state"] == "COMMENTED"
        wait_until(lambda: doors.rows("SELECT * FROM works") == [], what="the clone to go")
        assert json.loads((sidecar.data_dir / "clones.json").read_text()) == {}
        # The same from the command line, in the workspace that doors.toml names.
        shown = printed(doors, workspace, "pr", "review", str(pull["number"]), "--no-post")
        assert shown["comments"][0]["path"] == "calc.py" and shown["url"] == ""
        posted = printed(doors, workspace, "pr", "review", str(pull["number"]))
        reviews = github.call("GET", f"{path}/reviews")
        assert len(reviews) == 2 and posted["url"] in [each["html_url"] for each in reviews]
        assert doors.rows("SELECT * FROM works") == []


def printed(doors: Doors, workspace: Path, *words: str) -> Any:
    """What `brain` prints as JSON, in the workspace."""
    given = (*words, "--json", "--data-dir", str(doors.sidecar.data_dir))
    done = brain(*given, environ=doors.environ, cwd=workspace, seconds=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def play(sidecar: RunningSidecar, content: str, earlier: int = 0) -> None:
    """A script goes on where earlier rounds ended, with one reply for each."""
    sidecar.script(
        "story", {"reviewer": PASSED * 3, "*": [*[says("")] * earlier, write("calc.py", content), says("Mended.")]}
    )


def head(github: EmulatedGithub) -> str:
    return git(github.server.root / "acme/shop.git", "show", "brain/issue-1:calc.py")


def failed_check(commit: str, name: str) -> dict[str, object]:
    output = {"title": "1 failed", "summary": "E assert", "text": None}
    suite = {"head_branch": "brain/issue-1"}
    run = {"name": name, "conclusion": "failure", "head_sha": commit, "check_suite": suite, "output": output}
    repository, sender = {"full_name": "acme/shop"}, {"login": "ci", "type": "Bot"}
    return {"action": "completed", "check_run": run, "repository": repository, "sender": sender}
