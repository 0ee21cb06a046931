"""Watches a task in the terminal: events, typed lines and Ctrl-C come through one queue.

Only this loop writes to the screen.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import quote

from sidecar.client.client import Client, Json
from sidecar.client.errors import ClientError, Refused
from sidecar.client.follow import Follower, Seen, find_again, prompt_id
from sidecar.client.sidecars import Launcher, find_sidecar
from sidecar.commands.errors import (
    EXIT_CANCELLED,
    EXIT_DETACHED,
    EXIT_FAILED,
    EXIT_OK,
)
from sidecar.commands.output import TaskOutput
from sidecar.commands.text import short

TICK_SECONDS = 0.1
#: After so long without an event, the sidecar is asked why.
SILENT_SECONDS = 5.0
QUESTION = "  Allow? [y]es, [n]o, [n REASON], [a]lways in this task: "
#: Whole lines: a sentence that begins with one of these letters is no answer.
ANSWERS: dict[str, Json] = {
    "y": {"decision": "allow", "scope": "once"},
    "n": {"decision": "deny", "scope": "once"},
    "a": {"decision": "allow", "scope": "task"},
}
ANSWERS |= {"yes": ANSWERS["y"], "no": ANSWERS["n"], "always": ANSWERS["a"]}


@dataclass(frozen=True, slots=True)
class Notice:
    text: str


@dataclass(frozen=True, slots=True)
class Typed:
    line: str


@dataclass(frozen=True, slots=True)
class Ended:
    error: ClientError | None = None


class Interrupt:
    pass


class Watch:
    def __init__(
        self,
        task_id: str,
        data_dir: Path,
        output: TaskOutput,
        launcher: Launcher | None,
        *,
        cancels: bool,
        after: int = 0,
    ) -> None:
        self._task_id = task_id
        self._data_dir = data_dir
        self._output = output
        self._launcher = launcher
        self._after = after
        #: Whether the first Ctrl-C cancels the task; otherwise it detaches.
        self._cancels = cancels
        self._inbox: SimpleQueue[Seen | Notice | Typed | Ended | Interrupt] = SimpleQueue()
        self._status = "queued"
        #: The last verification; `None` after a later change.
        self._verified: bool | None = None
        self._asked = ""
        self._reading_keys = False
        self._last_event = time.monotonic()
        self._ended = threading.Event()

    def run(self, client: Client) -> int:
        """The exit code: how the task ended, or that you detached."""
        threading.Thread(target=self._read_events, args=(client,), daemon=True).start()
        threading.Thread(target=self._ask_why_silent, daemon=True).start()
        try:
            with self._interrupts():
                return self._loop()
        finally:
            self._ended.set()
            self._output.clear()

    def _loop(self) -> int:
        while True:
            match self._next():
                case Seen() as seen:
                    self._take(seen)
                case Notice(text):
                    self._output.notice(text)
                    self._asked = ""
                case Typed(line):
                    self._answer(line)
                case Interrupt():
                    if not self._interrupted():
                        return EXIT_DETACHED
                case Ended(error):
                    if error is not None:
                        raise error
                    return _exit_code(self._status, self._verified)
                case None:
                    self._output.tick()

    def _next(self) -> Seen | Notice | Typed | Ended | Interrupt | None:
        try:
            return self._inbox.get(timeout=TICK_SECONDS if self._output.live else None)
        except Empty:
            return None

    def _take(self, seen: Seen) -> None:
        event = seen.event
        self._last_event = time.monotonic()
        if event["type"] == "status":
            self._status = event["status"]
        elif event["type"] == "verification":
            self._verified = event["passed"]
        elif event["type"] == "diff":
            self._verified = None
        if prompt_id(event) == self._asked != "" and event["state"] not in ("requested", "asked"):
            # Answered elsewhere, such as in the panel.
            self._output.answered(here=False)
            self._asked = ""
        self._output.take(seen)
        prompt = self._output.approval() or self._output.question()
        if prompt is not None and prompt_id(prompt) != self._asked:
            self._ask(prompt)

    # -- questions ---------------------------------------------------------------------------------------------------

    def _ask(self, prompt: dict[str, Any]) -> None:
        self._asked = prompt_id(prompt)
        if not self._output.interactive:
            act = "approve" if prompt["type"] == "approval" else "answer"
            self._output.notice(f"  Waiting for you; in another terminal: brain {act} {short(self._task_id)}")
            return
        discard_typed()
        self._output.ask(_line(prompt))
        if not self._reading_keys:
            self._reading_keys = True
            threading.Thread(target=self._read_keys, daemon=True).start()

    def _answer(self, line: str) -> None:
        prompt = self._output.approval() or self._output.question()
        if prompt is None or prompt_id(prompt) != self._asked:
            return
        self._output.answered(here=True)
        if prompt["type"] == "approval" and (decided := parse_decision(line)) is not None:
            answer, reason = decided
            told = [("messages", {"text": reason})] if reason else []
            self._submit(*told, (f"approvals/{quote(self._asked, safe='')}", answer))
        elif prompt["type"] == "question" and (chosen := choose(prompt, line)) is not None:
            self._submit((f"questions/{quote(self._asked, safe='')}", {"answer": chosen}))
        else:
            self._output.ask(_line(prompt))

    def _read_keys(self) -> None:
        with suppress(OSError):
            # Not sys.stdin: a thread that waits inside its lock would keep the interpreter from exiting.
            while data := os.read(sys.stdin.fileno(), 4_096):
                self._inbox.put(Typed(data.decode(errors="replace")))

    # -- Ctrl-C ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _interrupts(self) -> Iterator[None]:
        # SimpleQueue.put is safe in a signal handler.
        before = signal.signal(signal.SIGINT, lambda *_: self._inbox.put(Interrupt()))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupted(self) -> bool:
        """Whether to keep watching."""
        again = f"brain show --follow {short(self._task_id)}"
        self._output.answered(here=False)
        if self._cancels:
            self._cancels = False
            self._output.notice("Cancelling the task. Press Ctrl-C again to detach.")
            self._submit(("cancel", None))
            return True
        state = "is still being cancelled" if self._status == "cancelling" else "continues"
        self._output.notice(f"Detached; the task {state}. Watch it again: {again}")
        return False

    # -- in the background -------------------------------------------------------------------------------------------

    def _read_events(self, client: Client) -> None:
        follower = Follower(self._task_id, find_again(self._data_dir, self._launcher, self._task_id), self._after)
        try:
            for seen in follower.events(client, lambda text: self._inbox.put(Notice(text))):
                self._inbox.put(seen)
        except ClientError as error:
            self._inbox.put(Ended(error))
        else:
            self._inbox.put(Ended())

    def _ask_why_silent(self) -> None:
        """Tell why no event comes, such as a full disk: an event could not say it."""
        notice = ""
        while not self._ended.wait(SILENT_SECONDS):
            if time.monotonic() - self._last_event < SILENT_SECONDS:
                continue
            with suppress(ClientError):
                try:
                    if (client := find_sidecar(self._data_dir)) is not None:
                        client.get("/ready")
                        notice = ""
                except Refused as refusal:
                    if refusal.status == 503 and str(refusal) != notice:
                        notice = str(refusal)
                        self._inbox.put(Notice(notice))

    def _submit(self, *operations: tuple[str, Json | None]) -> None:
        """Post in a thread: a sidecar that doesn't answer must not block a second Ctrl-C."""

        def post() -> None:
            try:
                client = find_sidecar(self._data_dir)
                if client is None:
                    self._inbox.put(Notice("The sidecar doesn't answer; the request wasn't sent."))
                    return
                for operation, body in operations:
                    client.post(f"/api/brain/tasks/{self._task_id}/{operation}", body)
            except Refused as refusal:
                # 409: answered or ended elsewhere in the meantime; the events say so.
                if refusal.status != 409:
                    self._inbox.put(Notice(str(refusal)))
            except ClientError as error:
                self._inbox.put(Notice(str(error)))

        threading.Thread(target=post, daemon=True).start()


def _line(prompt: dict[str, Any]) -> str:
    if prompt["type"] == "approval":
        return QUESTION
    return "  Your choice (number or word): " if prompt.get("choices") else "  Your answer: "


def parse_decision(typed: str) -> tuple[Json, str] | None:
    """What an approval was answered, and the reason after an `n`."""
    text = typed.strip()
    if (answer := ANSWERS.get(text.lower())) is not None:
        return answer, ""
    word, _, reason = text.partition(" ")
    return (ANSWERS["n"], reason.strip()) if word in ("n", "N") and reason.strip() else None


def choose(question: dict[str, Any], typed: str) -> str | None:
    """The answer that was typed: one of the choices, by its number or its words; or any text if there are none."""
    text, choices = typed.strip(), question.get("choices") or []
    if not choices:
        return text or None
    if text.isdecimal() and 1 <= int(text) <= len(choices):
        return str(choices[int(text) - 1])
    return next((str(each) for each in choices if each.casefold() == text.casefold()), None)


def _exit_code(status: str, verified: bool | None) -> int:
    if status == "completed" and verified is False:
        return EXIT_FAILED
    return {"completed": EXIT_OK, "cancelled": EXIT_CANCELLED}.get(status, EXIT_FAILED)


def discard_typed() -> None:
    """Drop lines typed before the question was shown."""
    with suppress(ImportError, OSError, ValueError):
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
