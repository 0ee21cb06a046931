"""Verification, attempts and escalation as steps of a task: each once, however often the world ends in between."""

import asyncio
from pathlib import Path

import pytest

from sidecar.engine.operations import Resume, SendMessage
from sidecar.engine.state import TaskState
from sidecar.models.port import ModelTurn, UserTurn
from sidecar.wire.tasks import Status
from sidecar.work.changes import needs_verification
from tests.unit.engine.house import House, Json, a_house
from tests.unit.engine.test_crashes import MortalJournal
from tests.unit.work.replies import hearing

CHECK = "grep -q right out.txt"
WRITE = "write_file"


def write(content: str, path: str = "out.txt") -> Json:
    return {"calls": [{"tool": WRITE, "args": {"path": path, "content": content}}]}


def says(text: str) -> Json:
    return {"text": text}


async def begun(house: House, coder: list[Json], task: str = "write it", **options: object) -> str:
    models = house.script("proof", {"coder": coder, "reviewer": [{"text": '{"passed": true}'}]})
    given = {"approvals": "auto", "intent": "edit_code", "verify": [CHECK], **options}
    return await house.execute(task, models=models, **given)


async def told(house: House, task_id: str, kind: str) -> list[Json]:
    return [event for event in await house.events(task_id) if event["type"] == kind]


MENDED = [write("wrong"), says("Done."), write("still right"), says("Mended.")]


@pytest.mark.timeout(300)
async def test_a_task_that_is_sent_back_survives_any_cut_and_verifies_everything_once(tmp_path: Path) -> None:
    for cut in range(8, 60, 2):
        directory = tmp_path / f"cut{cut}"
        directory.mkdir()
        journal = MortalJournal()
        journal.left = cut
        async with a_house(directory, journal) as house:
            task_id = await begun(house, MENDED)
            dead, over = asyncio.create_task(journal.died.wait()), asyncio.create_task(house.ended(task_id))
            async with asyncio.timeout(5):
                await asyncio.wait((dead, over), return_when=asyncio.FIRST_COMPLETED)
            for waiting in (dead, over):
                waiting.cancel()
            await asyncio.gather(dead, over, return_exceptions=True)
            journal.left = -1
        journal.left, journal.died = 10**9, asyncio.Event()
        async with a_house(directory, journal) as house:
            task = await house.ended(task_id)
            assert (task.status, task.verified) == (Status.COMPLETED, True), (cut, task.error)
            found = await told(house, task_id, "verification")
            assert [(each["passed"], each["attempt"]) for each in found] == [(False, 1), (True, 2)], cut
            assert [each["attempt"] for each in await told(house, task_id, "retry")] == [2]
            assert (house.workspace / "out.txt").read_text() == "still right"


async def test_an_attempt_goes_on_with_the_workers_own_conversation(tmp_path: Path) -> None:
    with hearing() as requests:
        async with a_house(tmp_path) as house:
            await house.ended(await begun(house, MENDED))
    last = [request for request in requests if request.agent == "coder"][-1]
    words = [turn.text for turn in last.history if isinstance(turn, ModelTurn | UserTurn)]
    assert "Done." in words
    (sent_back,) = [text for text in words if "doesn't pass" in text]
    assert f"`{CHECK}`, exit code 1" in sent_back


async def test_a_resumed_attempt_is_told_the_same_conversation_again(tmp_path: Path) -> None:
    journal = MortalJournal()
    async with a_house(tmp_path, journal) as house:
        slow = {**write("still right"), "delayMs": 60_000}
        task_id = await begun(house, [write("wrong"), says("Done."), slow])
        await house.until(task_id, "retry")
    with hearing() as requests:
        async with a_house(tmp_path, journal) as house:
            house.script("proof", {"coder": MENDED, "reviewer": [{"text": '{"passed": true}'}]})
            task = await house.ended(task_id)
            assert (task.status, task.verified) == (Status.COMPLETED, True)
    words = [turn.text for turn in requests[-1].history if isinstance(turn, ModelTurn | UserTurn)]
    assert words.count("Done.") == 1
    assert sum("doesn't pass" in text for text in words) == 1


async def test_a_model_that_has_nothing_more_to_say_needs_a_person_and_goes_on_when_it_has(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        task_id = await begun(house, MENDED[:2])
        task = await house.ended(task_id)
        assert task.status is Status.ESCALATED
        (escalation,) = await told(house, task_id, "escalation")
        assert "could not begin" in escalation["reason"]
        # What came to nothing is told as a turn of its own, so the script has one more.
        house.script("proof", {"coder": [*MENDED[:2], says(""), *MENDED[2:]], "reviewer": []})
        await house.submit(SendMessage(task_id, "Write that it is right."))
        task = await house.ended(task_id)
        assert (task.status, task.verified) == (Status.COMPLETED, True)
        assert task.error is None


async def test_the_persons_message_is_heard_in_the_first_new_attempt(tmp_path: Path) -> None:
    wrong = [write("wrong"), says("Done.")] * 3
    with hearing() as requests:
        async with a_house(tmp_path) as house:
            task_id = await begun(house, [*wrong, write("right"), says("Now.")])
            assert (await house.ended(task_id)).status is Status.ESCALATED
            heard = len(requests)
            await house.submit(SendMessage(task_id, "The word is right."))
            task = await house.ended(task_id)
            assert (task.status, task.verified) == (Status.COMPLETED, True)
    first = requests[heard]
    assert "The word is right." in [turn.text for turn in first.history if isinstance(turn, UserTurn)]


async def test_an_escalated_task_can_be_escalated_again_and_again(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        task_id = await begun(house, [write("wrong"), says("Done.")] * 20)
        for round_ in range(1, 4):
            task = await house.ended(task_id)
            assert (task.status, task.verified) == (Status.ESCALATED, False)
            assert len(await told(house, task_id, "escalation")) == round_
            assert len(await told(house, task_id, "verification")) == 3 * round_
            await house.submit(Resume(task_id))


async def test_without_a_language_model_nobody_tries_in_vain(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        task_id = await house.execute("run `echo wrong > out.txt`", approvals="auto", verify=[CHECK])
        task = await house.ended(task_id)
        assert (task.status, task.verified) == (Status.ESCALATED, False)
        (escalation,) = await told(house, task_id, "escalation")
        assert escalation["attempts"] == 1
        assert "No language model" in escalation["reason"]
        assert not await told(house, task_id, "retry")


async def test_what_only_reads_and_what_changes_nothing_costs_no_step(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        for options in ({"intent": "explain_code", "verify": [CHECK]}, {"intent": "edit_code", "verify": "auto"}):
            task = await house.ended(await begun(house, [says("Nothing to do.")], **options))
            assert (task.status, task.verified) == (Status.COMPLETED, None)
            assert "verify" not in [event["agent"] for event in await told(house, task.id, "step")]
            assert task.result is not None
            assert task.result.verification is None


async def test_a_file_that_is_only_said_to_be_written_is_found_out_though_nothing_was_done(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        lie = says("I created `notes.md` with everything that you asked for.")
        task_id = await begun(house, [lie, write("Notes.", "notes.md"), says("Now I wrote notes.md.")], verify="auto")
        task = await house.ended(task_id)
        assert (task.status, task.verified) == (Status.COMPLETED, None)
        (verification,) = await told(house, task_id, "verification")
        assert not verification["passed"]
        assert "notes.md was reported as written" in verification["checks"][0]["evidence"]
        assert len(await told(house, task_id, "retry")) == 1
        assert (house.workspace / "notes.md").read_text() == "Notes."


@pytest.mark.timeout(5)
@pytest.mark.parametrize("piece", ["created ", "created a", "a.", "\ncreated"])
def test_the_longest_words_are_no_trouble_at_the_end_of_a_round(piece: str) -> None:
    needs_verification(TaskState(), "do it", [piece * (200_000 // len(piece))])


async def test_what_the_persons_own_command_did_is_no_claim_of_an_agent(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        task = await house.ended(await house.execute("run `echo done > out.txt`", approvals="auto"))
        assert (task.status, task.verified) == (Status.COMPLETED, None)
        assert task.result is not None
        assert task.result.files_modified == ["out.txt"]
        assert "verify" not in [event["agent"] for event in await told(house, task.id, "step")]


async def test_a_command_in_the_background_cannot_change_what_was_checked(tmp_path: Path) -> None:
    later = {"tool": "run_command", "args": {"command": "sleep 60; echo wrong > out.txt", "background": True}}
    coder = [write("right"), {"calls": [later]}, says("Done.")]
    async with a_house(tmp_path) as house:
        task = await house.ended(await begun(house, coder))
        assert (task.status, task.verified) == (Status.COMPLETED, True)
        events = await house.events(task.id)
        kinds = [event["type"] for event in events]
        assert "diff" not in kinds[kinds.index("verification") :]


async def test_a_check_that_changes_what_it_checks_proves_nothing(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        task = await house.ended(await begun(house, [write("right"), says("Done.")], verify=["echo x >> out.txt"]))
        assert (task.status, task.verified) == (Status.COMPLETED, None)
        assert task.result is not None
        assert "changed again during the checks" in str(task.result.verification)


async def test_a_change_is_checked_under_one_name_however_its_path_was_written(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        inside = write("def one():\n    return 1\n", f"{house.workspace}/lib/one.py")
        task_id = await begun(house, [inside, write("two = 2\n", "lib/two.py"), says("Done.")], verify="auto")
        task = await house.ended(task_id)
        assert task.status is Status.COMPLETED, task.error


async def test_a_large_file_is_not_called_broken_because_only_its_beginning_was_read(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        (house.workspace / "data.json").write_text("[" + "1, " * 400_000 + "1]")
        grown = {"calls": [{"tool": "run_command", "args": {"command": "sed -i 's/^./[2, /' data.json"}}]}
        task_id = await begun(house, [grown, says("Done.")], verify="auto")
        task = await house.ended(task_id)
        assert (task.status, task.verified) == (Status.COMPLETED, None), task.error
        assert not await told(house, task_id, "retry")
