"""Agent sessions of Linear: delegating or mentioning starts a task, prompts steer it, the stop signal cancels it.

`LinearApi` sends the GraphQL documents, which are written by hand.
"""

import json
from collections.abc import Mapping
from typing import Any

from sidecar.doors.actions import Action, Ignore, Json, StartTask, StopTask, list_at, look_up, text_at
from sidecar.doors.http import DoorsHttp, NotSent
from sidecar.doors.settings import LinearDoor

#: The event of a delivery that we made ourselves, for an issue that we picked.
PICKED = "picked"
_MAX_TEXT = 50_000

LINEAR_URL = "https://api.linear.app"
_RATE_LIMIT_SECONDS = 60.0
ACTIVITY = """
mutation Activity($input: AgentActivityCreateInput!) {
  agentActivityCreate(input: $input) { success agentActivity { id } }
}"""
ACTIVITIES = """
query Activities($id: String!) { agentSession(id: $id) { activities(last: 100) { nodes { id } } } }"""
SESSION = """
query Session($id: String!) {
  agentSession(id: $id) {
    id
    issue {
      id
      identifier
      state { id name type }
      team { id states(first: 100) { nodes { id name type position } } }
    }
  }
}"""
UPDATE_SESSION = """
mutation UpdateSession($id: String!, $input: AgentSessionUpdateInput!) {
  agentSessionUpdate(id: $id, input: $input) { success }
}"""
UPDATE_ISSUE = """
mutation UpdateIssue($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }"""
ATTACH = """
mutation Attach($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { success } }"""
CANDIDATES = """
query Candidates($filter: IssueFilter!) {
  issues(first: 100, filter: $filter) {
    nodes { id identifier title description priority createdAt state { type } delegate { id } team { id key } }
  }
}"""
CREATE_SESSION = """
mutation CreateSession($input: AgentSessionCreateOnIssue!) {
  agentSessionCreateOnIssue(input: $input) { success agentSession { id } }
}"""
SESSIONS = """
query Sessions {
  viewer { id }
  agentSessions(first: 250) { nodes { id appUser { id } issue { id } } }
}"""
DOCUMENTS = (ACTIVITY, ACTIVITIES, SESSION, UPDATE_SESSION, UPDATE_ISSUE, ATTACH, CANDIDATES, CREATE_SESSION, SESSIONS)


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


class LinearApi:
    def __init__(self, http: DoorsHttp, token: str, url: str = LINEAR_URL) -> None:
        self._http = http
        self._url = f"{url.rstrip('/')}/graphql"
        # A personal key is sent bare; a token of OAuth has its scheme.
        self._authorization = token if token.startswith("lin_api_") else f"Bearer {token}"

    async def call(self, document: str, variables: Json) -> Any:
        """The data; raises `NotSent` with the first error otherwise."""
        body = json.dumps({"query": document, "variables": variables}).encode()
        headers = {"Authorization": self._authorization, "Content-Type": "application/json"}
        answer = (await self._http.request("POST", self._url, headers, body, accepted=400)).json()
        if errors := list_at(answer, "errors"):
            limited = text_at(errors[0], "extensions.code") == "RATELIMITED"
            retried = text_at(errors[0], "extensions.type") in ("internal error", "lock timeout")
            again = _RATE_LIMIT_SECONDS if limited else 1 if retried else None
            raise NotSent(f"Linear refused: {text_at(errors[0], 'message')[:300]}", again, 400)
        data = look_up(answer, "data")
        if not isinstance(data, dict):
            raise NotSent("Linear's answer has no data", 1)
        for name, found in data.items():
            if isinstance(found, dict) and found.get("success") is False:
                raise NotSent(f"Linear did not carry out {name}", 1)
        return data
