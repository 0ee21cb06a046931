"""Agent sessions of Linear: delegating or mentioning starts a task, prompts steer it, the stop signal cancels it."""

from collections.abc import Mapping

from sidecar.doors.actions import Action, Ignore, Json, StartTask, StopTask, text_at
from sidecar.doors.settings import LinearDoor

#: The event of a delivery that we made ourselves, for an issue that we picked.
PICKED = "picked"
_MAX_TEXT = 50_000


def subject(event: str, payload: Json) -> str:
    session = text_at(payload, "agentSession.id")
    return f"linear:{session}" if session else ""


def read_event(event: str, payload: Json, door: LinearDoor, repositories: Mapping[str, str]) -> Action:
    """`repositories` are those of GitHub by the workspace they belong to: the change becomes a pull request there."""
    action = text_at(payload, "action")
    if text_at(payload, "type") != "AgentSessionEvent" or action not in ("created", "prompted"):
        return Ignore("not an agent session")
    person = (
        ("agentActivity.user.id", "agentActivity.user.email")
        if action == "prompted"
        else ("agentSession.creator.id", "agentSession.creator.email")
    )
    if event != PICKED and not {text_at(payload, path) for path in person} & set(door.allow):
        return Ignore("the sender is not in `allow` of doors.toml")
    if text_at(payload, "agentActivity.signal") == "stop":
        return StopTask()
    team = text_at(payload, "agentSession.issue.team.key")
    workspace = door.teams.get(team)
    if workspace is None:
        return Ignore(f"team {team or '?'} is not in `teams` of doors.toml")
    said = text_at(payload, "agentActivity.content.body") or text_at(payload, "agentSession.comment.body")
    identifier = text_at(payload, "agentSession.issue.identifier")
    issue = f"{identifier}: {text_at(payload, 'agentSession.issue.title')}"
    description = text_at(payload, "agentSession.issue.description")
    text = "\n\n".join(part for part in (f"Resolve issue {issue}", description, said) if part)
    repository, options = repositories.get(workspace, ""), {"approvals": door.approvals}
    return StartTask(text[:_MAX_TEXT], workspace, options, said[:_MAX_TEXT], repository, identifier)
