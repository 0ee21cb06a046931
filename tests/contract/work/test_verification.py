"""Verification, attempts and escalation as steps of a task: each once, however often the world ends in between."""

import asyncio
from pathlib import Path

import pytest

from sidecar.engine.operations import Resume, SendMessage
from sidecar.engine.state import TaskState
from sidecar.models.port import ModelTurn, UserTurn
from sidecar.wire.tasks import Status
from sidecar.work.changes import needs_verification
from tests.support.crashing_journal import CrashingJournal
from tests.support.engine import EngineHarness, Json, engine_harness
from tests.support.models import recorded_requests
from tests.waiting import SECONDS

CHECK = "grep -q right out.txt"
WRITE = "write_file"


def write(content: str, path: str = "out.txt") -> Json:
    return {"calls": [{"tool": WRITE, "args": {"path": path, "content": content}}]}


def says(text: str) -> Json:
    return {"text": text}


async def begun(harness: EngineHarness, coder: list[Json], task: str = "write it", **options: object) -> str:
    models = harness.script("proof", {"coder": coder, "reviewer": [{"text": '{"passed": true}'}]})
    given = {"approvals": "auto", "intent": "edit_code", "verify": [CHECK], **options}
    return await harness.execute(task, models=models, **given)


async def told(harness: EngineHarness, task_id: str, kind: str) -> list[Json]:
    return [event for event in await harness.events(task_id) if event["type"] == kind]


MENDED = [write("wrong"), says("Done."), write("still right"), says("Mended.")]


@pytest.mark.timeout(300)
async def test_a_task_that_is_sent_back_survives_any_cut_and_verifies_everything_once(tmp_path: Path) -> None:
    for cut in range(8, 60, 2):
        directory = tmp_path / f"cut{cut}"
        directory.mkdir()
        journal = CrashingJournal()
        journal.left = cut
        async with engine_harness(directory, journal) as harness:
            task_id = await begun(harness, MENDED)
            dead, over = asyncio.create_task(journal.died.wait()), asyncio.create_task(harness.ended(task_id))
            async with asyncio.timeout(SECONDS):
                await asyncio.wait((dead, over), return_when=asyncio.FIRST_COMPLETED)
            for waiting in (dead, over):
                waiting.cancel()
            await asyncio.gather(dead, over, return_exceptions=True)
            journal.left = -1
        journal.left, journal.died = 10**9, asyncio.Event()
        async with engine_harness(directory, journal) as harness:
            task = await harness.ended(task_id)
            assert (task.status, task.verified) == (Status.COMPLETED, True), (cut, task.error)
            found = await told(harness, task_id, "verification")
            assert [(each["passed"], each["attempt"]) for each in found] == [(False, 1), (True, 2)], cut
            assert [each["attempt"] for each in await told(harness, task_id, "retry")] == [2]
            assert (harness.workspace / "out.txt").read_text() == "still right"


async def test_an_attempt_goes_on_with_the_workers_own_conversation(tmp_path: Path) -> None:
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            await harness.ended(await begun(harness, MENDED))
    last = [request for request in requests if request.agent == "coder"][-1]
    words = [turn.text for turn in last.history if isinstance(turn, ModelTurn | UserTurn)]
    assert "Done." in words
    (sent_back,) = [text for text in words if "doesn't pass" in text]
    assert f"`{CHECK}`, exit code 1" in sent_back


async def test_a_resumed_attempt_is_told_the_same_conversation_again(tmp_path: Path) -> None:
    journal = CrashingJournal()
    async with engine_harness(tmp_path, journal) as harness:
        slow = {**write("still right"), "delayMs": 60_000}
        task_id = await begun(harness, [write("wrong"), says("Done."), slow])
        await harness.until(task_id, "retry")
    with recorded_requests() as requests:
        async with engine_harness(tmp_path, journal) as harness:
            harness.script("proof", {"coder": MENDED, "reviewer": [{"text": '{"passed": true}'}]})
            task = await harness.ended(task_id)
            assert (task.status, task.verified) == (Status.COMPLETED, True)
    words = [turn.text for turn in requests[-1].history if isinstance(turn, ModelTurn | UserTurn)]
    assert words.count("Done.") == 1
    assert sum("doesn't pass" in text for text in words) == 1


async def test_a_model_that_has_nothing_more_to_say_needs_a_user_and_goes_on_when_it_has(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task_id = await begun(harness, MENDED[:2])
        task = await harness.ended(task_id)
        assert task.status is Status.ESCALATED
        (escalation,) = await told(harness, task_id, "escalation")
        assert "could not begin" in escalation["reason"]
        # What came to nothing is told as a turn of its own, so the script has one more.
        harness.script("proof", {"coder": [*MENDED[:2], says(""), *MENDED[2:]], "reviewer": []})
        await harness.submit(SendMessage(task_id, "Write that it is right."))
        task = await harness.ended(task_id)
        assert (task.status, task.verified) == (Status.COMPLETED, True)
        assert task.error is None


async def test_the_users_message_is_heard_in_the_first_new_attempt(tmp_path: Path) -> None:
    wrong = [write("wrong"), says("Done.")] * 3
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            task_id = await begun(harness, [*wrong, write("right"), says("Now.")])
            assert (await harness.ended(task_id)).status is Status.ESCALATED
            heard = len(requests)
            await harness.submit(SendMessage(task_id, "The word is right."))
            task = await harness.ended(task_id)
            assert (task.status, task.verified) == (Status.COMPLETED, True)
    first = requests[heard]
    assert "The word is right." in [turn.text for turn in first.history if isinstance(turn, UserTurn)]


async def test_an_escalated_task_can_be_escalated_again_and_again(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task_id = await begun(harness, [write("wrong"), says("Done.")] * 20)
        for round_ in range(1, 4):
            task = await harness.ended(task_id)
            assert (task.status, task.verified) == (Status.ESCALATED, False)
            assert len(await told(harness, task_id, "escalation")) == round_
            assert len(await told(harness, task_id, "verification")) == 3 * round_
            await harness.submit(Resume(task_id))


async def test_without_a_language_model_no_one_tries_in_vain(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task_id = await harness.execute("run `echo wrong > out.txt`", approvals="auto", verify=[CHECK])
        task = await harness.ended(task_id)
        assert (task.status, task.verified) == (Status.ESCALATED, False)
        (escalation,) = await told(harness, task_id, "escalation")
        assert escalation["attempts"] == 1
        assert "No language model" in escalation["reason"]
        assert not await told(harness, task_id, "retry")


async def test_what_only_reads_and_what_changes_nothing_costs_no_step(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        for options in ({"intent": "explain_code", "verify": [CHECK]}, {"intent": "edit_code", "verify": "auto"}):
            task = await harness.ended(await begun(harness, [says("Nothing to do.")], **options))
            assert (task.status, task.verified) == (Status.COMPLETED, None)
            assert "verify" not in [event["agent"] for event in await told(harness, task.id, "step")]
            assert task.result is not None
            assert task.result.verification is None


async def test_an_agent_that_may_only_read_is_not_believed_that_it_edited(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        lie = says("I fixed the docstring in out.txt, and it says so now.")
        honest = says("I may only read, so out.txt is unchanged.")
        coder = [write("right"), lie, honest]
        task = await harness.ended(await begun(harness, coder, intent="explain_code", verify="auto"))
        assert (task.status, task.verified) == (Status.COMPLETED, None)
        assert task.result is not None and task.result.summary == honest["text"]
        (verification,) = await told(harness, task.id, "verification")
        assert not verification["passed"]

        explained = says("I fixed it: the docstring was changed in the last commit.")
        task = await harness.ended(await begun(harness, [explained], intent="explain_code", verify="auto"))
        assert task.result is not None and task.result.summary == explained["text"]


async def test_a_file_that_is_only_said_to_be_written_is_found_out_though_nothing_was_done(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        lie = says("I created `notes.md` with everything that you asked for.")
        task_id = await begun(harness, [lie, write("Notes.", "notes.md"), says("Now I wrote notes.md.")], verify="auto")
        task = await harness.ended(task_id)
        assert (task.status, task.verified) == (Status.COMPLETED, None)
        (verification,) = await told(harness, task_id, "verification")
        assert not verification["passed"]
        assert "notes.md was reported as written" in verification["checks"][0]["evidence"]
        assert len(await told(harness, task_id, "retry")) == 1
        assert (harness.workspace / "notes.md").read_text() == "Notes."


@pytest.mark.timeout(5)
@pytest.mark.parametrize("piece", ["created ", "created a", "a.", "\ncreated"])
def test_the_longest_words_are_no_trouble_at_the_end_of_a_round(piece: str) -> None:
    needs_verification(TaskState(), "do it", [piece * (200_000 // len(piece))])


async def test_what_the_users_own_command_did_is_no_claim_of_an_agent(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await harness.execute("run `echo done > out.txt`", approvals="auto"))
        assert (task.status, task.verified) == (Status.COMPLETED, None)
        assert task.result is not None
        assert task.result.files_modified == ["out.txt"]
        assert "verify" not in [event["agent"] for event in await told(harness, task.id, "step")]


async def test_a_command_in_the_background_cannot_change_what_was_checked(tmp_path: Path) -> None:
    later = {"tool": "run_command", "args": {"command": "sleep 60; echo wrong > out.txt", "background": True}}
    coder = [write("right"), {"calls": [later]}, says("Done.")]
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await begun(harness, coder))
        assert (task.status, task.verified) == (Status.COMPLETED, True)
        events = await harness.events(task.id)
        kinds = [event["type"] for event in events]
        assert "diff" not in kinds[kinds.index("verification") :]


async def test_a_check_that_changes_what_it_checks_proves_nothing(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await begun(harness, [write("right"), says("Done.")], verify=["echo x >> out.txt"]))
        assert (task.status, task.verified) == (Status.COMPLETED, None)
        assert task.result is not None
        assert "changed again during the checks" in str(task.result.verification)


async def test_a_change_is_checked_under_one_name_however_its_path_was_written(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        inside = write("def one():\n    return 1\n", f"{harness.workspace}/lib/one.py")
        task_id = await begun(harness, [inside, write("two = 2\n", "lib/two.py"), says("Done.")], verify="auto")
        task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED, task.error


async def test_a_large_file_is_not_called_broken_because_only_its_beginning_was_read(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "data.json").write_text("[" + "1, " * 400_000 + "1]")
        grown = {"calls": [{"tool": "run_command", "args": {"command": "sed -i 's/^./[2, /' data.json"}}]}
        task_id = await begun(harness, [grown, says("Done.")], verify="auto")
        task = await harness.ended(task_id)
        assert (task.status, task.verified) == (Status.COMPLETED, None), task.error
        assert not await told(harness, task_id, "retry")


@pytest.mark.parametrize(
    ("command", "verified"),
    [
        ("python3 -m unittest -q", True),
        ("python3 -m unittest -q test_no", False),
        ("python3 -m unittest -q test_no | tail -1", None),
        ("python3 -m unittest -q test_no || true", None),
        ("python3 -m unittest -h", None),
        ("true", None),
    ],
)
async def test_tests_that_the_task_ran_itself_are_its_proof(
    tmp_path: Path, command: str, verified: bool | None
) -> None:
    async with engine_harness(tmp_path) as harness:
        for name, outcome in (("test_yes", "True"), ("test_no", "False")):
            text = f"import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        assert {outcome}\n"
            (harness.workspace / f"{name}.py").write_text(text)
        if verified:
            (harness.workspace / "test_no.py").unlink()
        ran = {"calls": [{"tool": "run_command", "args": {"command": command}}]}
        task = await harness.ended(await begun(harness, [ran, says("It ran.")], verify="auto"))
        assert (task.status, task.verified) == (Status.COMPLETED, verified), task.error
        assert not await told(harness, task.id, "retry")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("I ran `make lint`, which passes.", "it did not run"),
        ("mypy reports no errors.", "it did not run"),
        ("`sh no.sh` passes.", "it failed the last time"),
        ("`sleep 300` passes.", "its end was never checked"),
        ("It is at out.txt:99.", "the file has 1 line"),
    ],
)
async def test_a_report_of_what_was_not_seen_goes_back(tmp_path: Path, said: str, why: str) -> None:
    commands: dict[str, Json] = {
        "sh no.sh": {"command": "sh no.sh"},
        "sleep 300": {"command": "sleep 300", "background": True},
    }
    ran = [{"tool": "run_command", "args": args} for command, args in commands.items() if command in said]
    first = {"calls": [*write("right\n")["calls"], *ran]}
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await begun(harness, [first, says(said), says("It says right.")]))
        assert (task.status, task.verified) == (Status.COMPLETED, True), task.error
        before, after = await told(harness, task.id, "verification")
    claims = [check for check in before["checks"] if check["name"] == "claims" and not check["passed"]]
    assert [why in check["evidence"] for check in claims] == [True] and after["passed"]


@pytest.mark.parametrize("lie", ["Coverage is now 94 %.", "The lookup is now 3x faster."])
@pytest.mark.parametrize(
    ("then", "verified", "printed"),
    [
        ("It says right. I measured nothing.", True, ""),
        ("", None, ""),  # it insists
        ("", True, "printf 'TOTAL 100 6 94%%\\nbefore 2.1 s\\nafter 0.7 s\\n'; true"),
    ],
)
async def test_a_figure_that_no_command_printed_goes_back_once(
    tmp_path: Path, lie: str, then: str, verified: bool | None, printed: str
) -> None:
    measured = [{"tool": "run_command", "args": {"command": printed}}] if printed else []
    again = [{"calls": measured}] if printed else []
    async with engine_harness(tmp_path) as harness:
        task = await harness.ended(await begun(harness, [write("right\n"), says(lie), *again, says(then or lie)]))
        assert (task.status, task.verified) == (Status.COMPLETED, verified), task.error
        first, *_ = await told(harness, task.id, "verification")
        assert task.result is not None
    evidence = [check["evidence"] for check in first["checks"] if check["name"] == "measurements"]
    assert ["no command of this task printed that figure" in each for each in evidence] == [True]
    assert ("Not measured: “" in str(task.result.verification)) == (verified is None)
