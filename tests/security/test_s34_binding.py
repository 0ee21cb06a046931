"""S34: an approval holds for what would run when you gave it; what changed since is asked about, and shown."""

from pathlib import Path

import pytest

from tests.e2e.support import Json, RunningSidecar
from tests.security.corpus_binding import BOUND, UNBOUND, Bound
from tools.executor.binding import ApprovalBinding, ApprovedTexts, bind, render_difference


def plant(place: Path, case: Bound) -> None:
    for name, content in case.files.items():
        write(place / name, content)


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    if not file.suffix:
        file.chmod(0o755)


def bound(place: Path, command: object, *, whole: bool = True) -> ApprovalBinding:
    return bind("run_command", {}, str(place), command, None, str(place), whole=whole)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", BOUND, ids=lambda case: f"{case.command}: {case.name}"[-80:])
def test_s34_a_changed_file_is_another_act_and_is_named(tmp_path: Path, case: Bound) -> None:
    plant(tmp_path, case)
    before = bound(tmp_path, case.command)
    assert bound(tmp_path, case.command).digest == before.digest
    write(tmp_path / case.name, case.content)
    after = bound(tmp_path, case.command)
    assert after.digest != before.digest
    assert after.act == before.act
    names, _ = render_difference(before.parts, after.parts, str(tmp_path))
    assert any(name.endswith(case.name.rpartition("/")[2]) for name in names)


@pytest.mark.parametrize("case", UNBOUND, ids=lambda case: f"{case.command}: {case.name}"[-80:])
def test_s34_a_file_that_it_does_not_run_changes_nothing(tmp_path: Path, case: Bound) -> None:
    plant(tmp_path, case)
    before = bound(tmp_path, case.command)
    write(tmp_path / case.name, case.content)
    assert bound(tmp_path, case.command).digest == before.digest


def test_s34_tests_that_run_with_no_more_rights_than_in_a_trusted_workspace_may_change(tmp_path: Path) -> None:
    write(tmp_path / "tests/test_a.py", "1")
    write(tmp_path / "tests/conftest.py", "1")
    before = bound(tmp_path, "pytest", whole=False)
    write(tmp_path / "tests/test_a.py", "2")
    assert bound(tmp_path, "pytest", whole=False).digest == before.digest
    write(tmp_path / "tests/conftest.py", "2")
    assert bound(tmp_path, "pytest", whole=False).digest != before.digest


def test_s34_changed_environment_and_programs_are_named_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "bin/tool", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    texts = ApprovedTexts(tmp_path / "approved")
    first = bound(tmp_path, "tool x")
    texts.remember(first.act, first.parts)
    write(tmp_path / "bin/tool", "#!/bin/sh\nevil\n")
    monkeypatch.setenv("LANG", "evil")
    second = bound(tmp_path, "tool x")
    before = ApprovedTexts(tmp_path / "approved").recall(second.act)
    assert before is not None
    names, _ = render_difference(before, second.parts, str(tmp_path))
    assert {"the environment variable LANG", "the program tool"} <= set(names)
    assert (tmp_path / "approved").stat().st_mode & 0o777 == 0o700


def test_s34_a_link_turned_to_another_file_is_another_act(tmp_path: Path) -> None:
    write(tmp_path / "a.sh", "true\n")
    write(tmp_path / "b.sh", "true\n")
    (tmp_path / "link.sh").symlink_to("a.sh")
    before = bound(tmp_path, "sh link.sh")
    (tmp_path / "link.sh").unlink()
    (tmp_path / "link.sh").symlink_to("b.sh")
    assert bound(tmp_path, "sh link.sh").digest != before.digest


# -- the real process ----------------------------------------------------------------------------------------------


def run(sidecar: RunningSidecar, *calls: Json, **options: object) -> str:
    models = sidecar.script("bound", [*({"calls": [call]} for call in calls), {"text": "done"}])
    return sidecar.execute("x", models=models, agentType="coder", intent="edit_code", verify="off", **options)


def command(line: str) -> Json:
    return {"tool": "run_command", "args": {"command": line}}


def asked(sidecar: RunningSidecar, task: str, after: int = 0) -> Json:
    return sidecar.wait_for_event(
        task, lambda e: e["type"] == "approval" and e["state"] == "requested" and e["seq"] > after
    )


def allow(sidecar: RunningSidecar, task: str, question: Json, scope: str = "once") -> None:
    path = f"/api/brain/tasks/{task}/approvals/{question['approvalId']}"
    assert sidecar.post(path, {"decision": "allow", "scope": scope}).status == 200


def test_s34_a_script_swapped_between_question_and_answer_asks_again_with_the_difference(
    sidecar: RunningSidecar,
) -> None:
    script = sidecar.workspace / "b.sh"
    script.write_text("touch good\n")
    task = run(sidecar, command("sh b.sh"))
    first = asked(sidecar, task)
    script.write_text("touch evil\n")
    allow(sidecar, task, first)
    second = asked(sidecar, task, first["seq"])
    assert "b.sh changed since" in second["why"]
    assert "-touch good\n+touch evil" in second["diff"]
    assert (first.get("since"), second["since"]) == (None, "asked")
    assert not (sidecar.workspace / "evil").exists()
    script.write_text("touch good\n")
    allow(sidecar, task, second)
    # This call with this content was allowed by the first answer.
    assert sidecar.wait_for_end(task)["status"] == "completed"
    assert (sidecar.workspace / "good").exists()
    assert not (sidecar.workspace / "evil").exists()


@pytest.mark.parametrize("scope", ["task", "workspace"])
def test_s34_a_script_that_the_model_rewrote_after_it_was_allowed_asks_again(
    sidecar: RunningSidecar, scope: str
) -> None:
    (sidecar.workspace / "b2.sh").write_text("touch good\n")
    rewrite = {"tool": "write_file", "args": {"path": "b2.sh", "content": "touch evil\n"}}
    task = run(sidecar, command("sh b2.sh"), command("sh b2.sh"), rewrite, command("sh b2.sh"))
    first = asked(sidecar, task)
    allow(sidecar, task, first, scope)
    second = asked(sidecar, task, first["seq"])
    assert "b2.sh changed since you last allowed" in second["why"]
    assert "+touch evil" in second["diff"]
    assert (sidecar.workspace / "good").exists()
    assert not (sidecar.workspace / "evil").exists()
    sidecar.post(f"/api/brain/tasks/{task}/cancel")


def test_s34_a_file_edited_while_its_write_question_was_open_is_asked_about_again(sidecar: RunningSidecar) -> None:
    file = sidecar.workspace / "notes.txt"
    file.write_text("one\n")
    edit = {"tool": "edit_file", "args": {"path": "notes.txt", "oldText": "one", "newText": "two"}}
    task = run(sidecar, {"tool": "read_file", "args": {"path": "notes.txt"}}, edit, approvals="edits")
    first = asked(sidecar, task)
    assert "-one\n+two" in first["diff"]
    file.write_text("mine\none\n")
    allow(sidecar, task, first)
    second = asked(sidecar, task, first["seq"])
    assert " mine" in second["diff"]
    assert file.read_text() == "mine\none\n"
    allow(sidecar, task, second)
    assert sidecar.wait_for_end(task)["status"] == "completed"
    assert file.read_text() == "mine\ntwo\n"
