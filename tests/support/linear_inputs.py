"""Every input that the door to Linear sends, one of each shape, made by the code that sends them."""

import json

from sidecar.doors.channels import ReportedTask, TaskOrigin
from sidecar.doors.linear_channel import LinearChannel, activity_id, first_thought
from sidecar.doors.linear_picker import pick_filter
from sidecar.doors.settings import LinearPick

_CHECKS = [{"name": "tests", "command": "pytest", "exitCode": 0, "passed": True}]
_EVENTS = [
    {"type": "status", "status": "running"},
    {"type": "plan", "items": [{"id": "1", "title": "Look", "state": "running"}]},
    {"type": "tool", "tool": "run_command", "status": "success", "args": {"command": "ls"}, "summary": "3 files"},
    {"type": "approval", "state": "requested", "approvalId": "a", "argv": ["rm", "x"], "why": "It deletes."},
    {"type": "question", "state": "asked", "questionId": "q", "text": "Which?", "choices": ["one", "two"]},
    {"type": "question", "state": "asked", "questionId": "q", "text": "Why?"},
    {"type": "escalation", "reason": "stuck", "suggestions": ["look"]},
    {"type": "complete", "result": {"summary": "done", "verification": {"passed": True, "checks": _CHECKS}}},
    {"type": "error", "message": "failed"},
    {"type": "cancelled"},
]


def _inputs() -> list[tuple[str, object]]:
    channel = LinearChannel(None)  # type: ignore[arg-type] - it only writes here
    events = [{**event, "taskId": "t", "seq": at} for at, event in enumerate(_EVENTS)]
    task = ReportedTask("t", lambda: TaskOrigin("linear:s"))
    letters = [first_thought("linear:s", "k"), *(letter for event in events for letter in channel.write(event, task))]
    found: list[tuple[str, object]] = []
    for letter in letters:
        wanted = json.loads(letter.body)
        if "activity" in wanted:
            sent = {"id": activity_id(letter.key), "agentSessionId": "s", **wanted["activity"]}
            found.append(("AgentActivityCreateInput", sent))
        elif "plan" in wanted:
            found.append(("AgentSessionUpdateInput", {"plan": wanted["plan"]}))
    link = {"addedExternalUrls": [{"label": "Pull request", "url": "https://example.org/1"}]}
    return [
        *found,
        ("AgentSessionUpdateInput", link),
        ("IssueUpdateInput", {"stateId": "s"}),
        ("AttachmentCreateInput", {"issueId": "i", "url": "https://example.org/1", "title": "Pull request"}),
        ("AgentSessionCreateOnIssue", {"issueId": "i"}),
        ("IssueFilter", pick_filter(LinearPick(team="ENG", label="brain"))),
    ]


INPUTS = _inputs()
