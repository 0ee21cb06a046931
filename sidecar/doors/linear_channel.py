"""Updates a Linear session and its issue: thoughts, actions, questions, the result, the state.

Each activity has an id made of its message's key, so one that was created is found and never created again.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping

from sidecar.doors.actions import Json, list_at, look_up, text_at
from sidecar.doors.channels import ReportedTask
from sidecar.doors.linear import ACTIVITIES, ACTIVITY, ATTACH, SESSION, UPDATE_ISSUE, UPDATE_SESSION, LinearApi
from sidecar.doors.markdown import code, describe_checks, plain, verified
from sidecar.doors.outbox import NewMessage, OutboxMessage

_MAX_TEXT = 20_000
#: Tools that change something; reads would drown out everything else.
_TOLD_NAMES = """
run_command run_tests write_file create_file edit_file multi_edit apply_patch move_file delete_file rename_symbol
git_commit
"""
_TOLD = frozenset(_TOLD_NAMES.split())
_PLAN = {"pending": "pending", "running": "inProgress", "done": "completed", "failed": "canceled"}
_BEGUN = ("started", "completed", "canceled")


class LinearChannel:
    prefix = "linear:"

    def __init__(self, api: LinearApi) -> None:
        self._api = api

    def write(self, event: Json, task: ReportedTask) -> list[NewMessage]:
        said = [*_activities(event), *_changes(event)]
        if not said or not task.subject.startswith(self.prefix):
            return []
        key = f"linear.{task.id}.{event['seq']}"
        return [NewMessage(f"{key}.{at}", task.subject, json.dumps(each)) for at, each in enumerate(said)]

    async def send(self, outgoing: OutboxMessage) -> None:
        session, wanted = outgoing.target.removeprefix(self.prefix), json.loads(outgoing.body)
        match wanted:
            case {"activity": dict(activity)}:
                await self._create(session, activity, outgoing)
            case {"plan": plan}:
                await self._api.call(UPDATE_SESSION, {"id": session, "input": {"plan": plan}})
            case {"state": str(state)}:
                await self._move(session, state)
            case {"attach": str(url)}:
                await self._attach(session, url)
            case {"merged": True}:
                await self._move(session, "done")

    async def _create(self, session: str, activity: Json, outgoing: OutboxMessage) -> None:
        name = activity_id(outgoing.key)
        if outgoing.attempts:
            known = await self._api.call(ACTIVITIES, {"id": session})
            if any(text_at(each, "id") == name for each in list_at(known, "agentSession.activities.nodes")):
                return
        await self._api.call(ACTIVITY, {"input": {"id": name, "agentSessionId": session, **activity}})

    async def _move(self, session: str, wanted: str) -> None:
        """The issue to the team's state of that kind, never backwards."""
        issue = look_up(await self._api.call(SESSION, {"id": session}), "agentSession.issue")
        target = choose_state(list_at(issue, "team.states.nodes"), text_at(issue, "state.type"), wanted)
        if target and target != text_at(issue, "state.id"):
            await self._api.call(UPDATE_ISSUE, {"id": text_at(issue, "id"), "input": {"stateId": target}})

    async def _attach(self, session: str, url: str) -> None:
        """Linear keeps one attachment for each address."""
        issue = text_at(await self._api.call(SESSION, {"id": session}), "agentSession.issue.id")
        if issue:
            await self._api.call(ATTACH, {"input": {"issueId": issue, "url": url, "title": "Pull request"}})
        links = {"addedExternalUrls": [{"label": "Pull request", "url": url}]}
        await self._api.call(UPDATE_SESSION, {"id": session, "input": links})


def first_thought(subject: str, key: str) -> NewMessage:
    """Linear expects an answer from an agent within ten seconds, whatever the clone and the model take."""
    body = {"activity": {"content": {"type": "thought", "body": "Got it. I'm looking at the repository now."}}}
    return NewMessage(f"linear.first.{key}", subject, json.dumps(body))


def activity_id(key: str) -> str:
    """A UUID of version 4 by its form; the same key gives the same."""
    return str(uuid.UUID(bytes=hashlib.sha256(key.encode()).digest()[:16], version=4))


def choose_state(states: list[Json], current: str, wanted: str) -> str:
    """The id of the team's state for `started`, `review` or `done`; empty if the issue should stay where it is."""
    ordered = sorted(states, key=lambda each: float(text_at(each, "position") or 0))

    def find(kind: str, *names: str) -> str:
        fits = [each for each in ordered if text_at(each, "type") == kind]
        named = [each for each in fits if text_at(each, "name").lower() in names]
        return text_at((named or ([] if names == ("in review",) else fits) or [{}])[0], "id")

    match wanted:
        case "started" if current not in _BEGUN:
            return find("started", "in progress")
        case "review" if current not in ("completed", "canceled"):
            return find("started", "in review")
        case "done" if current != "completed":
            return find("completed", "done")
    return ""


def _activities(event: Json) -> list[Json]:
    match event["type"]:
        case "tool" if event.get("tool") in _TOLD and event.get("status") in ("success", "error", "unknown"):
            content = {"type": "action", "action": text_at(event, "tool"), "parameter": _parameter(event)}
            return [_activity({**content, "result": plain(text_at(event, "summary"))[:2_000]})]
        case "approval" if event.get("state") == "requested":
            return [_choice(_describe_approval(event), ["allow", "deny"])]
        case "question" if event.get("state") == "asked":
            text, choices = plain(text_at(event, "text")), list_at(event, "choices")
            return [_choice(text, choices) if choices else _say("elicitation", text)]
        case "escalation":
            listed = "".join(f"\n- {plain(str(each))}" for each in list_at(event, "suggestions"))
            return [_say("elicitation", f"I need a person: {plain(text_at(event, 'reason'))}{listed}")]
        case "complete":
            return [_say("response", f"{plain(text_at(event, 'result.summary'))}\n\n{describe_checks(event)}".strip())]
        case "error":
            return [_say("error", plain(text_at(event, "message")))]
        case "cancelled":
            return [_say("response", "I stopped.")]
    return []


def _changes(event: Json) -> list[Json]:
    """Of the session's plan and the issue's state."""
    match event["type"]:
        case "plan":
            items = [(text_at(each, "title"), text_at(each, "state")) for each in list_at(event, "items")]
            return [{"plan": [{"content": title, "status": _PLAN.get(state, "pending")} for title, state in items]}]
        case "status" if event.get("status") == "running":
            return [{"state": "started"}]
        case "complete" if verified(event) is True:
            return [{"state": "review"}]
    return []


def _activity(content: Mapping[str, object], **more: object) -> Json:
    return {"activity": {"content": dict(content), **more}}


def _say(kind: str, text: str) -> Json:
    return _activity({"type": kind, "body": text[:_MAX_TEXT] or "…"})


def _choice(text: str, choices: list[object]) -> Json:
    options = {"options": [{"value": str(each)} for each in choices]}
    return _activity({"type": "elicitation", "body": text[:_MAX_TEXT]}, signal="select", signalMetadata=options)


def _describe_approval(event: Json) -> str:
    line = " ".join(map(str, list_at(event, "argv"))) or text_at(event, "action")
    return f"May I run {code(line)}?\n\n{plain(text_at(event, 'why'))}"


def _parameter(event: Json) -> str:
    for name in ("command", "path", "target", "from"):
        found = look_up(event, f"args.{name}")
        if found:
            return (" ".join(map(str, found)) if isinstance(found, list) else str(found))[:500]
    return ""
