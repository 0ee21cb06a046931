"""Tasks that name a Git remote: a worker clones it, and the result is a branch there and a diff in the journal."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.e2e.support import RunningSidecar, clean_environ
from tests.support.fleet import running_fleet
from tests.support.remotes import TOKEN, ServedProject, check_result, git, served_project, start_edits
from tests.support.servers import Postgres
from tests.waiting import wait_until


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ServedProject]:
    with served_project(tmp_path) as served:
        yield served


@pytest.fixture
def sidecar(tmp_path: Path, project: ServedProject) -> Iterator[RunningSidecar]:
    (tmp_path / "workspace").mkdir()
    running = RunningSidecar(
        tmp_path / "data", tmp_path / "workspace", (), clean_environ(tmp_path, **project.settings)
    ).start()
    yield running
    running.close()


def test_the_result_is_a_branch_of_the_remote_and_a_diff_in_the_journal(
    sidecar: RunningSidecar, project: ServedProject, tmp_path: Path
) -> None:
    task = sidecar.wait_for_end(start_edits(sidecar, project.url))
    check_result(project, task)
    assert task["workspace"] == project.url and "worktree" not in task
    assert project.file(task["resultBranch"], "log.txt") == "once"
    files = {each["path"] for each in sidecar.get(f"/api/brain/tasks/{task['id']}/diff").json["files"]}
    assert {"run.sh", "notes/c.txt", "log.txt"} <= files
    states = [event["state"] for event in sidecar.events(task["id"]) if event["type"] == "branch"]
    assert states == ["cloned", "pushed"]
    wait_until(lambda: not list((tmp_path / "data/clones").iterdir()), what="the clone to go with the run")
    assert git(project.bare, "rev-parse", "trunk") == git(project.work, "rev-parse", "HEAD")
    refused = sidecar.post(f"/api/brain/tasks/{task['id']}/merge", {})
    assert (refused.status, refused.json["code"]) == (409, "remote_workspace"), refused.body
    # The token went to the remote, and nowhere else.
    assert any(sent for _, sent in project.server.requests)
    for file in (tmp_path / "data").rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file


def test_a_message_continues_on_the_same_branch(sidecar: RunningSidecar, project: ServedProject) -> None:
    task_id = start_edits(sidecar, project.url)
    sidecar.wait_for_end(task_id)
    more = [
        {"text": "d", "calls": [{"tool": "read_file", "args": {"path": "notes/c.txt"}}]},
        {"text": "e", "calls": [{"tool": "write_file", "args": {"path": "notes/d.txt", "content": "d\n"}}]},
        {"text": "Added d"},
    ]
    sidecar.script("remote", more)
    assert sidecar.post(f"/api/brain/tasks/{task_id}/messages", {"text": "add d"}).status == 202
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "completed", task
    assert project.commits(task["resultBranch"]) == ["Added d", "Said hi"]
    assert project.file(task["resultBranch"], "notes/d.txt") == "d"


def test_a_rewind_is_one_more_commit_and_the_task_goes_on_from_there(
    postgres: Postgres, project: ServedProject, tmp_path: Path
) -> None:
    """The node that rewinds shares only the database with the worker."""
    with running_fleet(tmp_path, postgres.new_database(), **project.settings) as fleet:
        node, _ = fleet.node(), fleet.worker(data="one")
        task_id = start_edits(node, project.url)
        branch = node.wait_for_end(task_id)["resultBranch"]
        address = f"/api/brain/tasks/{task_id}/rewind"
        shown = node.post(address, {"seq": 0, "preview": True})
        assert shown.status == 200 and project.commits(branch) == ["Said hi"], shown.body
        done = node.post(address, {"seq": 0})
        assert done.status == 200 and done.json == shown.json, done.body
        assert {each["path"] for each in done.json["files"]} == {"run.sh", "notes/c.txt", "log.txt"}
        assert project.commits(branch) == ["Rewind to event 0", "Said hi"]
        assert git(project.bare, "diff", "trunk", branch) == ""
        # It is ignored, so no content was kept, and no commit has it.
        assert [each["path"] for each in done.json["notRestored"]] == ["left.tmp"]

        more = [{"text": "d", "calls": [{"tool": "write_file", "args": {"path": "d.txt", "content": "d\n"}}]}]
        node.script("remote", [*more, {"text": "Added d"}])
        assert node.post(f"/api/brain/tasks/{task_id}/messages", {"text": "add d instead"}).status == 202
        task = node.wait_for_end(task_id)
        assert task["status"] == "completed", task
        assert project.commits(branch) == ["Added d", "Rewind to event 0", "Said hi"]
        assert git(project.bare, "diff", "--name-only", "trunk", branch) == "d.txt"

        git(project.work, "fetch", "-q", str(project.bare), branch)
        git(project.work, "checkout", "-q", "FETCH_HEAD")
        git(project.work, "commit", "-q", "--allow-empty", "-m", "Theirs")
        git(project.work, "push", "-q", str(project.bare), f"HEAD:refs/heads/{branch}")
        assert node.post(address, {"seq": 0}).status == 200
        assert project.commits(branch)[0] == "Theirs"
        kept = [event for event in node.events(task_id) if event["type"] == "branch"][-1]
        assert kept["state"] == "kept" and "not pushed" in kept["why"]
        assert not list((tmp_path / "data").rglob("clones/*"))


def test_another_worker_searches_a_clone_with_the_index_that_the_first_one_built(
    postgres: Postgres, project: ServedProject, tmp_path: Path
) -> None:
    """They share only the database."""
    search = [{"text": "s", "calls": [{"tool": "find_code", "args": {"query": "notes"}}]}, {"text": "done"}]
    with running_fleet(tmp_path, postgres.new_database(), **project.settings) as fleet:
        node, first = fleet.node(), fleet.worker(data="one")
        uploads: list[object] = []
        for _ in range(2):
            task_id = node.execute(
                "search",
                context={"repository": {"remote": project.url}},
                models=node.script("search", search),
                approvals="auto",
                agentType="coder",
                intent="edit_code",
            )
            task = node.wait_for_end(task_id)
            assert task["status"] == "completed", task
            found = [e for e in node.events(task["id"]) if e["type"] == "tool" and e["tool"] == "find_code"][-1]
            assert found["status"] == "success", found
            uploads.append(_indexes(node.environ["BRAIN_DATABASE_URL"]))
            first.kill()
            fleet.worker(data="two")
        assert uploads[0] == uploads[1]


def _indexes(url: str) -> list[tuple[object, ...]]:
    """The one that is shared, as soon as it is there."""
    with psycopg.connect(url, autocommit=True) as connection:
        query = "SELECT repository, upload FROM code_indexes"
        wait_until(lambda: connection.execute(query).fetchall(), what="a shared index")
        return connection.execute(query).fetchall()


def test_a_fork_begins_on_its_own_branch_with_the_files_of_that_event(
    sidecar: RunningSidecar, project: ServedProject
) -> None:
    task_id = start_edits(sidecar, project.url)
    branch = sidecar.wait_for_end(task_id)["resultBranch"]
    seq = next(event["seq"] for event in sidecar.events(task_id) if event["type"] == "diff")
    more = [{"text": "d", "calls": [{"tool": "write_file", "args": {"path": "d.txt", "content": "d\n"}}]}]
    # The first reply is the other task's.
    models = sidecar.script("forked", [{"text": "a"}, *more, {"text": "Added d"}])
    forked = sidecar.post(
        f"/api/brain/tasks/{task_id}/fork", {"seq": seq, "task": "add d", "options": {"models": models}}
    )
    assert forked.status == 202, forked.body
    new = sidecar.wait_for_end(forked.json["taskId"])
    assert new["status"] == "completed", new
    assert project.commits(new["resultBranch"]) == ["Added d", f"Files of {task_id} at event {seq}"]
    changed = git(project.bare, "diff", "--name-only", "trunk", new["resultBranch"]).splitlines()
    assert changed == ["d.txt", "run.sh"]
    assert project.commits(branch) == ["Said hi"]


def test_a_fork_that_changes_nothing_names_the_branch_with_its_files(
    sidecar: RunningSidecar, project: ServedProject
) -> None:
    task_id = start_edits(sidecar, project.url)
    sidecar.wait_for_end(task_id)
    models = sidecar.script("forked", [{"text": "a"}, {"text": "Nothing to do"}])
    for seq, files in ((None, ["log.txt", "notes/c.txt", "run.sh"]), (1, None)):
        body = {"task": "look", "options": {"models": models}} | ({} if seq is None else {"seq": seq})
        forked = sidecar.post(f"/api/brain/tasks/{task_id}/fork", body)
        assert forked.status == 202, forked.body
        new = sidecar.wait_for_end(forked.json["taskId"])
        assert new["status"] == "completed", new
        if files is None:  # its files are those of trunk
            assert "resultBranch" not in new
        else:
            assert git(project.bare, "diff", "--name-only", "trunk", new["resultBranch"]).splitlines() == files


def test_what_others_pushed_to_the_branch_stays_and_the_result_is_kept(
    sidecar: RunningSidecar, project: ServedProject
) -> None:
    task_id = start_edits(sidecar, project.url, slow=1.5)
    sidecar.wait_for_event(task_id, lambda event: event["type"] == "branch")
    (project.work / "theirs.txt").write_text("theirs\n")
    git(project.work, "add", ".")
    git(project.work, "commit", "-qm", "Theirs")
    git(project.work, "push", "-q", str(project.bare), f"HEAD:refs/heads/brain/{task_id}")
    task = sidecar.wait_for_end(task_id)
    assert task["status"] == "completed"
    assert project.commits(f"brain/{task_id}") == ["Theirs"]
    kept = [event for event in sidecar.events(task_id) if event["type"] == "branch"][-1]
    assert kept["state"] == "kept" and "brain diff" in kept["why"]
    assert sidecar.get(f"/api/brain/tasks/{task_id}/diff").json["files"]


def test_another_worker_that_shares_only_the_database_goes_on(
    postgres: Postgres, project: ServedProject, tmp_path: Path
) -> None:
    with running_fleet(tmp_path, postgres.new_database(), **project.settings) as fleet:
        node, first = fleet.node(), fleet.worker(data="one")
        task_id = start_edits(node, project.url, slow=60)
        node.wait_for_event(
            task_id,
            lambda event: event["type"] == "tool" and event["status"] == "running" and event["tool"] == "run_command",
        )
        # Nobody but its worker changes the files of a task that runs.
        (hunk,) = node.get(f"/api/brain/tasks/{task_id}/diff").json["files"][0]["hunks"]
        refused = node.post(f"/api/brain/tasks/{task_id}/hunks", {"reject": [hunk["id"]]})
        assert (refused.status, refused.json["code"]) == (409, "task_active")
        (project.work / "greet.py").write_text("later\n")
        git(project.work, "commit", "-qam", "Later")
        git(project.work, "push", "-q", str(project.bare), "HEAD:refs/heads/trunk")
        fleet.worker(data="two")
        assert first.stop() == 0
        task = node.wait_for_end(task_id)
        check_result(project, task)
        # It began with the commit that the first worker found.
        assert project.file(task["resultBranch"], "greet.py").startswith("def greet")
        wait_until(lambda: not list((tmp_path / "two/workers/0/clones").iterdir()), what="the clone to go")
