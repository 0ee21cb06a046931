"""Translates a task's events into `session/update`s, live or replayed. It knows no client and no clock.

Replaying the durable events of a task gives what was streamed live: the same messages, calls and plans, except that a
live message arrives in parts.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sidecar.acp import calls
from sidecar.client.prose import STRUCTURED, without_json

Json = dict[str, Any]

_PLAN = {"pending": "pending", "running": "in_progress", "done": "completed", "failed": "completed"}
_ENDED = frozenset({"success", "error", "cancelled", "unknown"})
_OUTPUT_PAUSE = 0.25


class Translator:
    """One per task. `own` are texts that the client sent itself and already shows."""

    def __init__(self, workspace: str, *, replay: bool, diffs: calls.Diffs = calls.diff_blocks) -> None:
        self._workspace = workspace
        self._diffs = diffs
        self._replay = replay
        self._seen = 0
        self.own: list[str] = []
        self._streamed: dict[str, str] = {}
        self._complete: set[str] = set()
        self._calls: set[str] = set()
        self._output: dict[str, str] = {}
        self._output_at = 0.0
        self._verified = ""

    @property
    def last_seq(self) -> int:
        return self._seen

    def live(self) -> None:
        """The replay has caught up with the task."""
        self._replay = False

    def translate(self, event: Json) -> list[Json]:
        """The updates for this event; none for a repeated one."""
        seq = event.get("seq")
        if seq is not None:
            if seq <= self._seen:
                return []
            self._seen = seq
        handle = getattr(self, f"_on_{event['type']}", None)
        return list(handle(event)) if handle is not None else []

    # -- one method per event type ------------------------------------------------------------------------------------

    def _on_delta(self, event: Json) -> Iterator[Json]:
        key = event["messageId"]
        if event["agent"] in STRUCTURED or key in self._complete:
            return
        if event["kind"] == "thinking":
            yield self._chunk("agent_thought_chunk", event, f"{key}.thinking", event["text"])
            return
        before = self._streamed.get(key, "")
        text = event["text"].removeprefix(before) if event.get("whole") else event["text"]
        self._streamed[key] = before + text
        if text:
            yield self._chunk("agent_message_chunk", event, key, text)

    def _on_message(self, event: Json) -> Iterator[Json]:
        key, text = event["messageId"], event["text"]
        if event["role"] == "user":
            if self._replay or text not in self.own:
                yield self._chunk("user_message_chunk", event, key, text)
            else:
                self.own.remove(text)
            return
        if event["agent"] in STRUCTURED:
            text = without_json(text).strip()
        streamed = self._streamed.pop(key, "")
        again = key in self._complete or not text.startswith(streamed)
        self._complete.add(key)
        rest = text if again else text[len(streamed) :]
        if rest:
            # A repeated or corrected message is a new one: the client can't take back what it shows.
            yield self._chunk("agent_message_chunk", event, f"{key}.{event['seq']}" if again else key, rest)

    def _on_tool(self, event: Json) -> Iterator[Json]:
        call_id, done = event["callId"], event["status"] in _ENDED
        if call_id not in self._calls:
            self._calls.add(call_id)
            first = {**event, "status": "running"} if done else event
            yield {"sessionUpdate": "tool_call", **calls.started(first, self._workspace)}
        elif not done:
            status = calls.started(event, self._workspace)["status"]
            yield {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": status}
        if done:
            self._output.pop(call_id, None)
            yield {"sessionUpdate": "tool_call_update", **calls.ended(event, self._workspace, self._diffs)}

    def _on_tool_output(self, event: Json) -> Iterator[Json]:
        call_id = event["callId"]
        before = "" if event.get("whole") else self._output.get(call_id, "")
        self._output[call_id] = (before + event["text"])[-calls.OUTPUT_LIMIT :]
        at = datetime.fromisoformat(event["at"]).timestamp() if event.get("at") else 0.0
        if at - self._output_at >= _OUTPUT_PAUSE and call_id in self._calls:
            # An update repeats all output so far, so not every line gets its own.
            self._output_at = at
            yield {"sessionUpdate": "tool_call_update", **calls.output(call_id, self._output[call_id])}

    def _on_usage(self, event: Json) -> Iterator[Json]:
        used, size = event.get("contextTokens"), event.get("contextLimit")
        if used and size:
            cost = {"cost": {"amount": event["costUsd"], "currency": "USD"}} if event["costUsd"] else {}
            yield {"sessionUpdate": "usage_update", "used": used, "size": size, **cost}

    def _on_plan(self, event: Json) -> Iterator[Json]:
        entries = [
            {
                "content": f"{item['title']} (failed)" if item["state"] == "failed" else item["title"],
                "priority": "medium",
                "status": _PLAN[item["state"]],
            }
            for item in event["items"]
        ]
        yield {"sessionUpdate": "plan", "entries": entries}

    def _on_verdict(self, event: Json) -> Iterator[Json]:
        if event["approved"] and not event["issues"]:
            return
        lines = ["The review found problems:" if event["issues"] else "The review did not approve the change."]
        for issue in event["issues"]:
            place = ":".join(str(issue[name]) for name in ("path", "line") if issue.get(name))
            lines.append(f"- {issue['severity']}: {f'{place}: ' if place else ''}{issue['text']}")
        yield self._note(event, "\n".join(lines))

    def _on_question(self, event: Json) -> Iterator[Json]:
        if event["state"] == "asked":
            choices = "".join(f"\n- {choice}" for choice in event.get("choices") or [])
            yield self._note(event, event["text"] + choices)
        elif event.get("by") == "policy":
            yield self._note(event, f"You couldn't be asked; answered: {event['answer']}")
        else:
            yield self._chunk("user_message_chunk", event, f"question.{event['seq']}", event["answer"])

    def _on_verification(self, event: Json) -> Iterator[Json]:
        ran = [check for check in event["checks"] if check.get("command")]
        failed = [check["name"] for check in event["checks"] if not check["passed"]]
        if failed:
            self._verified = f"Not verified: {', '.join(failed)} failed."
        else:
            self._verified = f"Verified: {', '.join(check['name'] for check in ran)} passed." if ran else ""
        yield from ()

    def _on_diff(self, event: Json) -> Iterator[Json]:
        self._verified = "Not verified: nothing ran after the last change." if event["files"] else self._verified
        yield from ()

    def _on_retry(self, event: Json) -> Iterator[Json]:
        yield self._note(event, f"Attempt {event['attempt']} of {event['of']}: {event['error']}")

    def _on_escalation(self, event: Json) -> Iterator[Json]:
        hints = "".join(f"\n- {hint}" for hint in event["suggestions"])
        yield self._note(event, f"This needs you: {event['reason']}{hints}")

    def _on_error(self, event: Json) -> Iterator[Json]:
        yield self._note(event, event["message"])

    def _on_complete(self, event: Json) -> Iterator[Json]:
        if self._verified:
            yield self._note(event, self._verified)

    def _on_status(self, event: Json) -> Iterator[Json]:
        if event.get("rewoundTo") is not None:
            self._calls.clear()
            yield self._note(event, event.get("reason") or "The task was rewound.")

    # -----------------------------------------------------------------------------------------------------------------

    def _note(self, event: Json, text: str) -> Json:
        """A paragraph of its own, from us rather than from a model."""
        return self._chunk("agent_message_chunk", event, f"note.{event['seq']}", f"\n\n{text}\n\n")

    def _chunk(self, kind: str, event: Json, message: str, text: str) -> Json:
        whole_id = f"{event['taskId']}.{message}"
        return {"sessionUpdate": kind, "messageId": whole_id, "content": calls.text_block(text)}
