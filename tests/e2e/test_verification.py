"""Agents that lie, against the real process: what is said counts for nothing, what ran and passed does."""

from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar, running_sidecar
from tests.e2e.verification import (
    OTHER,
    PASSED,
    RIGHT,
    SECONDS,
    TEST,
    WRONG,
    VerifiedTask,
    delete,
    project,
    run_verified,
    says,
    write,
)


def test_a_change_that_the_tests_prove_is_verified(sidecar: RunningSidecar) -> None:
    project(sidecar)
    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed add.")])
    assert (story.task["status"], story.task["verified"]) == ("completed", True)
    (verification,) = story.verifications
    assert (verification["passed"], verification["attempt"]) == (True, 1)
    (run,) = [check for check in verification["checks"] if check["exitCode"] is not None]
    assert (run["exitCode"], run["passed"]) == (0, True)
    assert "pytest" in run["command"]
    assert story.task["result"]["verification"]["passed"] is True
    assert not story.retries


def test_tests_that_are_said_to_pass_and_fail_are_reported_and_mended_at_the_second_attempt(
    sidecar: RunningSidecar,
) -> None:
    project(sidecar)
    replies = [write("calc.py", WRONG), says("Fixed; all tests pass."), write("calc.py", RIGHT), says("Now it adds.")]
    story = run_verified(sidecar, replies)
    assert (story.task["status"], story.task["verified"]) == ("completed", True)
    assert [(each["passed"], each["attempt"]) for each in story.verifications] == [(False, 1), (True, 2)]
    assert "test_calc.py::test_add" in story.evidence(0)
    assert "6 == 5" in story.evidence(0)
    (retry,) = story.retries
    assert (retry["attempt"], retry["of"]) == (2, 3)
    assert "test_add" in retry["error"]
    assert any("fix the code" in hint for hint in retry["hints"])
    assert story.task["result"]["summary"].startswith("Now it adds.")


def test_the_same_wrong_fix_again_and_again_ends_with_a_user(sidecar: RunningSidecar) -> None:
    project(sidecar)
    story = run_verified(sidecar, [write("calc.py", WRONG), says("All tests pass.")] * 3)
    assert (story.task["status"], story.task["verified"]) == ("escalated", False)
    assert [each["attempt"] for each in story.verifications] == [1, 2, 3]
    assert [each["attempt"] for each in story.retries] == [2, 3]
    assert "exactly as they were after attempt 1" in story.retries[1]["hints"][0]
    (escalation,) = story.escalations
    assert escalation["attempts"] == 3
    assert "test_add" in escalation["reason"]
    assert len(escalation["suggestions"]) >= 3
    assert story.task["error"]["code"] == "not_verified"
    assert story.task["error"]["recoverable"]
    assert (sidecar.workspace / "calc.py").read_text() == WRONG


def test_an_escalated_task_goes_on_with_a_message_and_with_new_attempts(sidecar: RunningSidecar) -> None:
    project(sidecar)
    wrong = [write("calc.py", WRONG), says("Done.")] * 3
    story = run_verified(sidecar, [*wrong, says("I still think so."), write("calc.py", RIGHT), says("Fixed.")])
    assert story.task["status"] == "escalated"
    task_id = story.task["id"]
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/messages", {"text": "It has to add, not to multiply."})
    assert answer.status == 202
    again = VerifiedTask(sidecar, task_id)
    assert (again.task["status"], again.task["verified"]) == ("completed", True)
    assert [each["attempt"] for each in again.verifications] == [1, 2, 3, 1, 2]
    assert again.task["error"] is None


def test_an_escalated_task_that_the_user_mended_by_hand_is_checked_again(sidecar: RunningSidecar) -> None:
    project(sidecar)
    story = run_verified(sidecar, [write("calc.py", WRONG), says("Done.")] * 3)
    (sidecar.workspace / "calc.py").write_text(RIGHT)
    assert sidecar.post(f"/api/brain/tasks/{story.task['id']}/resume").status == 202
    again = VerifiedTask(sidecar, story.task["id"])
    assert (again.task["status"], again.task["verified"]) == ("completed", True)
    assert len(again.retries) == 2


def test_a_file_that_was_never_written_is_found_out(sidecar: RunningSidecar) -> None:
    project(sidecar)
    lie, truth = "I fixed add and created `docs/usage.md`.", "I did not write docs/usage.md; nobody asked for it."
    story = run_verified(sidecar, [write("calc.py", RIGHT), says(lie), says(truth)])
    first, second = story.verifications
    assert not first["passed"]
    (claims,) = [check for check in first["checks"] if check["name"] == "claims"]
    assert "docs/usage.md" in claims["evidence"]
    assert second["passed"]
    assert story.task["verified"] is True


def test_an_edit_after_the_agents_own_check_is_checked_again(sidecar: RunningSidecar) -> None:
    project(sidecar)
    tests = {"calls": [{"tool": "run_tests", "args": {}}]}
    replies = [write("calc.py", RIGHT), tests, write("calc.py", WRONG + "\n"), says("All tests pass.")]
    story = run_verified(sidecar, [*replies, write("calc.py", RIGHT), says("Back again.")])
    assert [each["passed"] for each in story.verifications] == [False, True]


def test_a_failing_test_that_was_deleted_is_no_pass(sidecar: RunningSidecar) -> None:
    project(sidecar, test_other__py=OTHER.replace("True", "1 + 1 == 2"))
    replies = [write("calc.py", WRONG), delete("test_calc.py"), says("All tests pass.")]
    story = run_verified(sidecar, [*replies, write("test_calc.py", TEST), write("calc.py", RIGHT), says("Mended.")])
    first, second = story.verifications
    assert not first["passed"]
    (vanished,) = [check for check in first["checks"] if check["name"] == "removed tests"]
    assert not vanished["passed"]
    assert vanished["exitCode"] == 1
    assert "test_calc.py::test_add was deleted; restored, it fails" in vanished["evidence"]
    assert any("Restore the removed ones" in hint for hint in story.retries[0]["hints"])
    assert second["passed"]
    assert story.task["verified"] is True


def test_a_failing_test_that_is_skipped_is_no_pass_either(sidecar: RunningSidecar) -> None:
    project(sidecar, test_other__py=OTHER.replace("True", "1 + 1 == 2"))
    skipped = (
        "import pytest\n\nfrom calc import add\n\n\n@pytest.mark.skip\ndef test_add():\n    assert add(2, 3) == 5\n"
    )
    story = run_verified(sidecar, [write("calc.py", WRONG), write("test_calc.py", skipped), says("Green.")])
    assert story.task["verified"] is False
    assert "is skipped now; restored, it fails" in story.evidence(0)


def test_a_failing_test_that_was_rewritten_to_suit_the_code_is_no_pass(sidecar: RunningSidecar) -> None:
    project(sidecar)
    suited = TEST.replace("== 5", "== 6")
    replies = [write("calc.py", WRONG), write("test_calc.py", suited), says("All tests pass.")]
    story = run_verified(sidecar, [*replies, write("calc.py", RIGHT), write("test_calc.py", TEST), says("Mended.")])
    assert [each["passed"] for each in story.verifications] == [False, True]
    assert story.evidence(0) == "test_calc.py::test_add was rewritten; restored, it fails: assert 6 == 5"


def test_a_test_that_had_to_change_with_the_code_is_only_noted(sidecar: RunningSidecar) -> None:
    project(sidecar, calc__py=RIGHT)
    suited = TEST.replace("== 5", "== 6")
    replies = [write("calc.py", WRONG), write("test_calc.py", suited), says("It multiplies now.")]
    story = run_verified(sidecar, replies, task="add is wrong: it should multiply")
    assert story.task["verified"] is True
    assert any("The task rewrote" in note for note in story.verifications[0]["notes"])


def test_a_test_that_the_user_wanted_gone_is_noted_and_not_held_against_it(sidecar: RunningSidecar) -> None:
    project(sidecar, test_other__py=OTHER.replace("True", "1 + 1 == 2"))
    replies = [write("calc.py", WRONG), delete("test_calc.py"), says("Removed.")]
    story = run_verified(sidecar, replies, task="multiply instead of add, and delete the tests of add")
    assert story.task["verified"] is True
    assert any("as you asked" in note for note in story.verifications[0]["notes"])


def test_a_new_test_that_asserts_nothing_is_found_out(sidecar: RunningSidecar) -> None:
    project(sidecar)
    empty = "from calc import add\n\n\ndef test_more():\n    add(1, 2)\n    assert True\n"
    full = empty.replace("assert True", "assert add(1, 2) == 3")
    replies = [write("calc.py", RIGHT), write("test_more.py", empty), says("Added a test.")]
    story = run_verified(sidecar, [*replies, write("test_more.py", full), says("It asserts now.")])
    assert [each["passed"] for each in story.verifications] == [False, True]
    assert "test_more asserts nothing" in story.evidence(0)


def test_a_test_that_failed_before_is_known_named_and_not_held_against_the_task(sidecar: RunningSidecar) -> None:
    broken = "def test_broken():\n    assert 1 == 2\n"
    project(sidecar, test_broken__py=broken)
    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed add.")])
    assert (story.task["status"], story.task["verified"]) == ("completed", True)
    (verification,) = story.verifications
    assert any("test_broken.py::test_broken" in note for note in verification["notes"])
    assert any("failed before the task too" in check["evidence"] for check in verification["checks"])


def test_a_test_that_is_flaky_is_named_and_not_held_against_the_task(sidecar: RunningSidecar) -> None:
    flaky = (
        "from pathlib import Path\n\nfrom calc import add\n\n\ndef test_flaky():\n"
        "    seen = Path(__file__).with_name('seen')\n    first = not seen.exists()\n    seen.touch()\n"
        "    assert not first, add(1, 2)\n"
    )
    project(sidecar, test_flaky__py=flaky)
    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed add.")])
    assert story.task["verified"] is True
    assert any("Flaky: test_flaky.py::test_flaky" in note for note in story.verifications[0]["notes"])


def test_commands_that_the_user_named_are_the_checks(sidecar: RunningSidecar) -> None:
    project(sidecar)
    check = "python3 -c 'import calc; assert calc.add(1, 1) == 2'"
    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed.")], approvals="ask", verify=[check, "true"])
    assert story.task["verified"] is True
    ran = [each for each in story.verifications[0]["checks"] if each["command"]]
    assert [(each["command"], each["exitCode"]) for each in ran] == [(check, 0), ("true", 0)]
    assert not [event for event in story.events if event["type"] == "approval"]


def test_a_named_command_that_fails_fails_the_task(sidecar: RunningSidecar) -> None:
    project(sidecar)
    story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed.")], verify=["echo no luck; exit 3"])
    assert (story.task["status"], story.task["verified"]) == ("escalated", False)
    (check,) = story.failed
    assert (check["exitCode"], check["evidence"]) == (3, "no luck")


def test_off_verifies_nothing(sidecar: RunningSidecar) -> None:
    project(sidecar)
    story = run_verified(sidecar, [write("calc.py", WRONG), says("All tests pass.")], verify="off")
    assert (story.task["status"], story.task["verified"]) == ("completed", None)
    assert not story.verifications
    assert story.task["result"]["verification"] is None


def test_in_an_untrusted_workspace_the_user_is_asked_and_a_no_proves_nothing(sidecar: RunningSidecar) -> None:
    project(sidecar)
    models = sidecar.script("ask", {"coder": [write("calc.py", RIGHT), says("Fixed.")], "reviewer": PASSED})
    task_id = sidecar.execute("fix the bug in add", models=models, intent="edit_code")
    asked = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval", seconds=SECONDS)
    assert asked["action"].startswith("run_tests")
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/approvals/{asked['approvalId']}", {"decision": "deny"})
    assert answer.status == 200
    story = VerifiedTask(sidecar, task_id)
    assert (story.task["status"], story.task["verified"]) == ("completed", None)
    assert any("not run" in note for note in story.task["result"]["verification"]["notes"])


def test_in_an_untrusted_workspace_one_yes_is_enough_for_one_verification(sidecar: RunningSidecar) -> None:
    project(sidecar)
    coder = [write("calc.py", WRONG), says("Fixed."), write("calc.py", RIGHT), says("Now.")]
    models = sidecar.script("ask", {"coder": coder, "reviewer": PASSED})
    task_id = sidecar.execute("fix the bug in add", models=models, intent="edit_code")
    for number in (1, 2):
        asked = sidecar.wait_for_event(
            task_id,
            lambda event, number=number: event["type"] == "approval" and f".verify{number}." in event["approvalId"],
            seconds=SECONDS,
        )
        place = f"/api/brain/tasks/{task_id}/approvals/{asked['approvalId']}"
        assert sidecar.post(place, {"decision": "allow"}).status == 200
    story = VerifiedTask(sidecar, task_id)
    assert [each["passed"] for each in story.verifications] == [False, True]
    assert story.task["verified"] is True
    assert len([event for event in story.events if event["type"] == "approval"]) == 4


def test_in_a_trusted_workspace_no_one_is_asked(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        project(sidecar)
        sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True})
        story = run_verified(sidecar, [write("calc.py", RIGHT), says("Fixed.")], approvals="ask")
        if any(event["type"] == "approval" for event in story.events):
            pytest.skip("this machine has no sandbox")
        assert story.task["verified"] is True


def test_work_that_is_reported_without_a_change_is_sent_back_and_then_needs_you(sidecar: RunningSidecar) -> None:
    project(sidecar)
    lie = says("Done: `add` returns the sum now, and it works.")
    story = run_verified(sidecar, [lie, write("calc.py", RIGHT), says("Now it adds.")])
    assert (story.task["status"], story.task["verified"]) == ("completed", True)
    assert "was reported, but this task changed no file" in story.evidence(0)
    story = run_verified(sidecar, [lie, lie, lie], task="fix the bug in the function", name="liar")
    assert (story.task["status"], story.task["verified"]) == ("escalated", False)


def test_a_bare_done_without_a_change_is_sent_back_if_the_task_asked_for_one(sidecar: RunningSidecar) -> None:
    project(sidecar)
    done = says("Done.")
    story = run_verified(sidecar, [done, write("calc.py", RIGHT), done], task="fix the bug in the function add")
    assert (story.task["status"], story.task["verified"]) == ("completed", True)
    assert "“Done.” was reported, but this task changed no file" in story.evidence(0)
    story = run_verified(sidecar, [done, done, done], task="fix the bug in the function add", name="liar")
    assert (story.task["status"], story.task["verified"]) == ("escalated", False)
    story = run_verified(sidecar, [done], task="wait", name="idle")
    assert (story.task["status"], story.task["verified"], story.verifications) == ("completed", None, [])


def test_a_report_that_is_corrected_leaves_nothing_failed_and_other_words_for_it_do(sidecar: RunningSidecar) -> None:
    project(sidecar)
    lie = says("Done: `add` returns the sum now, and it works.")
    story = run_verified(sidecar, [lie, says("Nothing was changed: the test is wrong.")])
    assert (story.task["status"], story.task["verified"]) == ("completed", None)
    same = says("The function returns the sum, as requested.")
    story = run_verified(sidecar, [lie, same, same], task="fix the bug in the function", name="liar")
    assert (story.task["status"], story.task["verified"]) == ("escalated", False)


def test_an_answer_that_says_that_nothing_changed_is_not_sent_back(sidecar: RunningSidecar) -> None:
    project(sidecar)
    story = run_verified(sidecar, [says("Nothing was changed: `add` is right, the test is wrong.")])
    assert (story.task["status"], story.retries) == ("completed", [])


def test_a_command_that_is_said_to_pass_and_never_ran_is_sent_back(sidecar: RunningSidecar) -> None:
    project(sidecar)
    lie = says("`npx vitest run --typecheck` passes.")
    story = run_verified(sidecar, [write("calc.py", RIGHT), lie, says("Now it adds.")])
    assert (story.task["status"], story.task["verified"]) == ("completed", True)
    assert "`npx vitest run --typecheck` was reported to pass, but it did not run" in story.evidence(0)
