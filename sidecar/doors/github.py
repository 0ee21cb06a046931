"""Reads deliveries of GitHub: labels and mentions start tasks, comments and reviews steer them, `stop` cancels them.

Only people in `allow` of doors.toml count. That a pull request was merged, or that a check failed on our own
commit, is no order; what a check prints is as untrusted as any other text.
"""

from sidecar.doors.actions import Action, EndWork, Ignore, Json, StartTask, Steer, StopTask, list_at, look_up, text_at
from sidecar.doors.settings import GithubDoor

#: The name of our own check, which never steers a task.
CHECK = "rainy-brain"
_MAX_TEXT = 50_000
_MAX_OUTPUT = 8_000
_ORDERS = {
    ("issues", "labeled"),
    ("issues", "unlabeled"),
    ("issues", "closed"),
    ("issue_comment", "created"),
    ("pull_request", "labeled"),
    ("pull_request", "review_requested"),
    ("pull_request_review", "submitted"),
    ("pull_request_review_comment", "created"),
}
_REVIEW = """\
Review the pull request {number} of {repository}: {title}

{body}

The workspace is a clone of its head. `git diff` against {base} shows the change; that is what you review, and nothing \
else. Name the file and the line of each issue."""


def subject(event: str, payload: Json) -> str:
    """The issue or pull request, the branch of a check, or the review of one commit of a pull request."""
    repository = text_at(payload, "repository.full_name").lower()
    if event == "check_run":
        branch = text_at(payload, "check_run.check_suite.head_branch")
        return f"github:{repository}@{branch}" if branch else ""
    number = text_at(payload, "issue.number") or text_at(payload, "pull_request.number")
    if not number:
        return ""
    if event == "pull_request" and text_at(payload, "action") in ("labeled", "review_requested"):
        return review_subject(repository, number, text_at(payload, "pull_request.head.sha"))
    return f"github:{repository}#{number}"


def review_subject(repository: str, number: int | str, commit: str) -> str:
    return f"github:{repository.lower()}#{number}/review/{commit}"


def read_event(event: str, payload: Json, door: GithubDoor) -> Action:
    action = text_at(payload, "action")
    if (event, action) == ("pull_request", "closed"):
        return EndWork(merged=look_up(payload, "pull_request.merged") is True)
    if (event, action) == ("check_run", "completed"):
        return _read_check(payload)
    if (event, action) not in _ORDERS:
        return Ignore(f"{event} {action}".strip() + " asks for nothing")
    sender = text_at(payload, "sender.login")
    if text_at(payload, "sender.type") == "Bot" or sender.lower() not in {name.lower() for name in door.allow}:
        return Ignore(f"{sender or 'the sender'} is not in `allow` of doors.toml")
    match event:
        case "issue_comment":
            return _read_comment(payload, door)
        case "pull_request_review" | "pull_request_review_comment":
            return _read_review(payload)
        case "pull_request":
            return _read_request(payload, door)
    if look_up(payload, "issue.pull_request") is not None:
        return Ignore("a pull request, of which GitHub tells by another event")
    if action == "closed":
        return StopTask()
    if text_at(payload, "label.name") != door.label:
        return Ignore("another label")
    return _start(payload, door, "") if action == "labeled" else StopTask()


def _read_comment(payload: Json, door: GithubDoor) -> Action:
    text = text_at(payload, "comment.body")
    words = [word.strip(",.:;!?").lower() for word in text.split()]
    if door.mention.lower() not in words:
        return Ignore("the comment doesn't mention us")
    if sorted(words) == sorted([door.mention.lower(), "stop"]):
        return StopTask()
    if look_up(payload, "issue.pull_request") is not None:
        return Steer(text[:_MAX_TEXT])
    return _start(payload, door, text)


def _read_review(payload: Json) -> Action:
    """On our own pull request every review counts, whether it mentions us or not."""
    place = "review" if look_up(payload, "comment") is None else "comment"
    text = text_at(payload, f"{place}.body")
    if not text.strip():
        return Ignore("the review has no text of its own")
    path, line = text_at(payload, "comment.path"), text_at(payload, "comment.line")
    where = f" about {path}{f', line {line}' if line else ''}" if path else ""
    # A reviewer who doesn't ask a question wants the pull request changed, in whatever words.
    command = "" if text.rstrip().endswith("?") else "/edit "
    return Steer(f"{command}A reviewer of the pull request says{where}:\n{text}"[:_MAX_TEXT])


def _read_check(payload: Json) -> Action:
    name, ended = text_at(payload, "check_run.name"), text_at(payload, "check_run.conclusion")
    if ended not in ("failure", "timed_out") or name == CHECK:
        return Ignore(f"the check {name} ended with {ended or 'nothing'}")
    parts = [text_at(payload, f"check_run.output.{part}") for part in ("title", "summary", "text")]
    output = "\n".join(part for part in parts if part)[:_MAX_OUTPUT]
    text = f"The check {name} failed on the pull request. Fix what made it fail.\n\nIt printed:\n{output}"
    return Steer(text, text_at(payload, "check_run.head_sha") or "unknown", "mend")


def _read_request(payload: Json, door: GithubDoor) -> Action:
    """A commit is reviewed once, however often that is asked."""
    asked = {text_at(each, "login").lower() for each in list_at(payload, "pull_request.requested_reviewers")}
    asked.add(text_at(payload, "requested_reviewer.login").lower())
    if door.mention.lower().removeprefix("@") not in asked and text_at(payload, "label.name") != door.label:
        return Ignore("the review of someone else is asked for, or another label given")
    return review(look_up(payload, "pull_request"), text_at(payload, "repository.full_name"), door)


def review(pull: object, repository: str, door: GithubDoor) -> Action:
    """Review a pull request, as GitHub describes it."""
    workspace = _workspace(repository, door)
    number = text_at(pull, "number")
    if workspace is None or not number:
        return Ignore(f"{repository} is not in `repositories` of doors.toml")
    base = text_at(pull, "base.sha")
    title, body = text_at(pull, "title"), text_at(pull, "body")
    text = _REVIEW.format(number=number, repository=repository, title=title, body=body, base=base)
    options = {"approvals": "readonly", "intent": "review_code"}
    return StartTask(text[:_MAX_TEXT], workspace, options, repository=repository, pull=int(number), base=base)


def _start(payload: Json, door: GithubDoor, comment: str) -> Action:
    repository = text_at(payload, "repository.full_name")
    workspace = _workspace(repository, door)
    if workspace is None:
        return Ignore(f"{repository} is not in `repositories` of doors.toml")
    number = text_at(payload, "issue.number")
    parts = [
        f"Resolve issue #{number} of {repository}: {text_at(payload, 'issue.title')}",
        text_at(payload, "issue.body"),
        comment and f"The latest comment says:\n{comment}",
    ]
    text = "\n\n".join(part for part in parts if part)
    further, options = comment[:_MAX_TEXT], {"approvals": door.approvals}
    return StartTask(text[:_MAX_TEXT], workspace, options, further, repository, f"issue {number}")


def _workspace(repository: str, door: GithubDoor) -> str | None:
    return {name.lower(): path for name, path in door.repositories.items()}.get(repository.lower())
