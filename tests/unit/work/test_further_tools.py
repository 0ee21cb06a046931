"""Tools that organize the work: a list of what is left, a question for another agent, the right to edit."""

from pathlib import Path

from sidecar.engine.operations import AnswerApproval
from sidecar.models.port import ToolTurn
from sidecar.wire.tasks import ApprovalRequest, Status
from sidecar.work.router import route, unsure
from tests.support.engine import engine_harness
from tests.support.models import recorded_requests
from tests.support.plans import ended


async def test_a_todo_list_is_shown_as_plan_items(tmp_path: Path) -> None:
    items = [{"title": "Read", "state": "done"}, {"title": "Write", "state": "running"}]
    script = [{"calls": [{"tool": "todo", "args": {"items": items}}]}, {"text": "ok"}]
    async with engine_harness(tmp_path) as harness:
        task, events = await ended(harness, script, intent="edit_code", review="never")
    assert task.status is Status.COMPLETED
    (plan,) = [event for event in events if event["type"] == "plan"]
    assert [(item["id"], item["title"], item["state"]) for item in plan["items"]] == [
        ("1", "Read", "done"),
        ("2", "Write", "running"),
    ]


async def test_a_delegated_question_has_a_fresh_context_reads_only_and_only_its_answer_comes_back(
    tmp_path: Path,
) -> None:
    ask = {"tool": "delegate", "args": {"task": "What is in a.txt?"}}
    script = {
        "coder": [{"calls": [ask]}, {"text": "It says 42."}],
        "delegate": [{"calls": [{"tool": "read_file", "args": {"path": "a.txt"}}]}, {"text": "a.txt:1 says 42."}],
    }
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "a.txt").write_text("42\n")
        with recorded_requests() as requests:
            task, events = await ended(harness, script, "look", intent="edit_code", review="never")
    assert task.status is Status.COMPLETED, task.error
    helper = [request for request in requests if request.agent == "delegate"]
    assert [turn.text for turn in helper[0].history] == ["What is in a.txt?"]  # type: ignore[union-attr]
    assert not {"edit_file", "run_command", "delegate", "todo"} & {tool.name for tool in helper[0].tools}
    last = requests[-1].history[-1]
    assert isinstance(last, ToolTurn)
    assert [back.content for back in last.returns] == ["a.txt:1 says 42."]
    shown = [event["status"] for event in events if event["type"] == "tool" and event["tool"] == "delegate"]
    assert shown == ["running", "success"]


async def test_a_follow_up_still_knows_what_a_delegated_question_found(tmp_path: Path) -> None:
    ask = {"tool": "delegate", "args": {"task": "What?"}}
    script = {"coder": [{"calls": [ask]}, {"text": "ok"}], "delegate": [{"text": "The answer is 42."}]}
    async with engine_harness(tmp_path) as harness:
        task, _ = await ended(harness, script, intent="chat")
        with recorded_requests() as requests:
            script = {"coder": [{"text": "unused"}, {"text": "42"}], "delegate": []}
            await ended(harness, script, "so?", intent="chat", conversationId=task.conversation_id)
    assert "The answer is 42." in str(requests[0].history)


async def test_an_agent_that_may_only_read_gets_the_right_to_edit_by_your_approval(tmp_path: Path) -> None:
    wants = {"calls": [{"tool": "set_mode", "args": {"mode": "edit", "why": "to fix a typo"}}]}
    write = {"calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "fixed\n"}}]}
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", [wants, write, {"text": "Fixed."}])
        with recorded_requests() as requests:
            task_id = await harness.execute("what is this?", models=models, intent="explain_code", approvals="ask")
            asked = await harness.until(task_id, "approval", state="requested")
            answer = ApprovalRequest(decision="allow", scope="once")
            await harness.submit(AnswerApproval(task_id, asked["approvalId"], answer))
            task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED, task.error
        assert (harness.workspace / "a.txt").read_text() == "fixed\n"
    assert "write_file" not in {tool.name for tool in requests[0].tools}
    assert "write_file" in {tool.name for tool in requests[1].tools}
    assert [tool.name for tool in requests[1].tools][: len(requests[0].tools)] == [t.name for t in requests[0].tools]


async def test_an_agent_that_runs_commands_may_ask_for_the_right_to_edit(tmp_path: Path) -> None:
    wants = {"calls": [{"tool": "set_mode", "args": {"mode": "edit", "why": "to make it pass"}}]}
    write = {"calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "fixed\n"}}]}
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", [wants, write, {"text": "Fixed."}])
        with recorded_requests() as requests:
            options = {"intent": "run_command", "approvals": "ask", "verify": "off"}
            task_id = await harness.execute("run the tests", models=models, **options)
            asked = await harness.until(task_id, "approval", state="requested")
            await harness.allow(task_id, asked["approvalId"])
            task = await harness.ended(task_id)
        assert task.status is Status.COMPLETED, task.error
        assert (harness.workspace / "a.txt").read_text() == "fixed\n"
    assert "write_file" not in {tool.name for tool in requests[0].tools}


async def test_an_agent_that_runs_commands_alone_cannot_ask_for_the_right_to_edit(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        with recorded_requests() as requests:
            await ended(harness, [{"text": "ran"}], "run the tests", intent="run_command", approvals="auto")
    assert "set_mode" not in {tool.name for tool in requests[0].tools}


async def test_without_the_approval_it_stays_without_the_right(tmp_path: Path) -> None:
    wants = {"calls": [{"tool": "set_mode", "args": {"mode": "edit", "why": "to fix a typo"}}]}
    write = {"calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "fixed\n"}}]}
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", [wants, write, {"text": "I would fix it."}])
        for options in ({"approvals": "auto"}, {"approvals": "readonly"}):
            task = await harness.ended(
                await harness.execute("explain it", models=models, intent="explain_code", **options)
            )
            assert task.status is Status.COMPLETED, task.error
            assert not (harness.workspace / "a.txt").exists()


async def test_an_unsure_request_asks_before_its_first_edit_and_only_then(tmp_path: Path) -> None:
    writes = [
        {"calls": [{"tool": "write_file", "args": {"path": f"{name}.txt", "content": "x\n"}}]} for name in ("a", "b")
    ]
    async with engine_harness(tmp_path) as harness:
        models = harness.script("play", {"coder": [*writes, {"text": "Done."}]})
        open_ones = ("dates in March", "hm, the button", "the colours", "this here", "login", "the second one")
        sentence = next(each for each in open_ones if unsure(found := route(each)) and found.intent == "edit_code")
        request = {"models": models, "approvals": "ask", "verify": "off", "review": "never"}
        task_id = await harness.execute(sentence, **request)
        asked = await harness.until(task_id, "approval", state="requested")
        await harness.allow(task_id, asked["approvalId"])
        task = await harness.ended(task_id)
        events = await harness.events(task_id)
    assert task.status is Status.COMPLETED
    assert len([event for event in events if event["type"] == "approval" and event["state"] == "requested"]) == 1


async def test_a_refused_tool_names_only_what_helps(tmp_path: Path) -> None:
    write = {"tool": "write_file", "args": {"path": "a.txt", "content": "x"}}
    planner = [{"calls": [write]}, {"text": '{"steps": ["a"]}'}]
    async with engine_harness(tmp_path) as harness:
        with recorded_requests() as requests:
            await ended(harness, {"planner": planner, "*": [{"text": "ok"}]}, intent="refactor_code", review="never")
            await ended(harness, [{"calls": [write]}, {"text": "ok"}], "what?", intent="chat", approvals="ask")
    refused = [request.history[-1] for request in requests if isinstance(request.history[-1], ToolTurn)]
    texts = [turn.returns[0].content for turn in refused]
    assert all(len(text) < 200 for text in texts), texts
    assert "set_mode" in texts[1]
    assert not (harness.workspace / "a.txt").exists()
