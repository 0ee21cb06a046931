"""Watching a task in the terminal: its events, the keys that were pressed, and Ctrl-C, one after the other.

Everything comes through one queue, and only this loop writes to the screen.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from sidecar.commands.client import Client, Json
from sidecar.commands.endings import short
from sidecar.commands.errors import CommandFailed, Refused
from sidecar.commands.exits import EXIT_CANCELLED, EXIT_DETACHED, EXIT_FAILED, EXIT_OK
from sidecar.commands.follow import Follower, Seen
from sidecar.commands.sidecars import Workplace, running
from sidecar.commands.telling import Telling

TICK_SECONDS = 0.1
QUESTION = "  Allow it? [y]es, [n]o, [a]lways in this task: "
_ANSWERS: dict[str, Json] = {
    "y": {"decision": "allow", "scope": "once"},
    "n": {"decision": "deny", "scope": "once"},
    "a": {"decision": "allow", "scope": "task"},
}


@dataclass(frozen=True, slots=True)
class Notice:
    text: str


@dataclass(frozen=True, slots=True)
class Typed:
    line: str


@dataclass(frozen=True, slots=True)
class Ended:
    error: CommandFailed | None = None


class Interrupt:
    pass


class Watch:
    def __init__(
        self, task_id: str, data_dir: Path, telling: Telling, workplace: Workplace | None, *, cancels: bool
    ) -> None:
        self._task_id = task_id
        self._data_dir = data_dir
        self._telling = telling
        self._workplace = workplace
        #: Whether Ctrl-C cancels the task before a second one leaves it; else the first one leaves it.
        self._cancels = cancels
        self._inbox: SimpleQueue[Seen | Notice | Typed | Ended | Interrupt] = SimpleQueue()
        self._status = "queued"
        #: What the last verification said of the files as they are; nothing after a later change of them.
        self._verified: bool | None = None
        self._asked = ""
        self._reading_keys = False

    def run(self, client: Client) -> int:
        """The exit code: how the task ended, or that it was left."""
        threading.Thread(target=self._read_events, args=(client,), daemon=True).start()
        try:
            with self._interrupts():
                return self._loop()
        finally:
            self._telling.rest()

    def _loop(self) -> int:
        while True:
            match self._next():
                case Seen() as seen:
                    self._take(seen)
                case Notice(text):
                    self._telling.notice(text)
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
                    self._telling.tick()

    def _next(self) -> Seen | Notice | Typed | Ended | Interrupt | None:
        try:
            return self._inbox.get(timeout=TICK_SECONDS if self._telling.live else None)
        except Empty:
            return None

    def _take(self, seen: Seen) -> None:
        event = seen.event
        if event["type"] == "status":
            self._status = event["status"]
        elif event["type"] == "verification":
            self._verified = event["passed"]
        elif event["type"] == "diff":
            self._verified = None
        if event["type"] == "approval" and event["state"] != "requested" and event["approvalId"] == self._asked:
            # Somebody else was faster than the person at this terminal.
            self._telling.answered(here=False)
            self._asked = ""
        self._telling.take(seen)
        question = self._telling.question()
        if question is not None and question["approvalId"] != self._asked:
            self._ask(question)

    # -- questions ---------------------------------------------------------------------------------------------------

    def _ask(self, question: dict[str, Any]) -> None:
        self._asked = question["approvalId"]
        if not self._telling.asks:
            self._telling.notice(
                f"  Waiting for your answer: brain approve {short(self._task_id)} --allow (or --deny), "
                "in another terminal. --approvals auto asks less, readonly nothing."
            )
            return
        _forget_keys()
        self._telling.ask(QUESTION)
        if not self._reading_keys:
            self._reading_keys = True
            threading.Thread(target=self._read_keys, daemon=True).start()

    def _answer(self, line: str) -> None:
        question = self._telling.question()
        if question is None or question["approvalId"] != self._asked:
            return
        answer = _ANSWERS.get(line.strip().lower()[:1])
        if answer is None:
            self._telling.answered(here=True)
            self._telling.ask(QUESTION)
            return
        self._telling.answered(here=True)
        self._submit(f"approvals/{self._asked}", answer)

    def _read_keys(self) -> None:
        with suppress(OSError):
            # Not sys.stdin: a thread that waits inside its lock would keep the interpreter from ending.
            while data := os.read(sys.stdin.fileno(), 4_096):
                self._inbox.put(Typed(data.decode(errors="replace")))

    # -- Ctrl-C ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _interrupts(self) -> Iterator[None]:
        # A SimpleQueue may be filled from a signal handler; nothing else is safe there.
        before = signal.signal(signal.SIGINT, lambda *_: self._inbox.put(Interrupt()))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupted(self) -> bool:
        """Whether the watching goes on."""
        again = f"brain show --follow {short(self._task_id)}"
        self._telling.answered(here=False)
        if self._cancels:
            self._cancels = False
            self._telling.notice("Ctrl-C: cancelling the task. Once more leaves it alone.")
            self._submit("cancel")
            return True
        state = "is still being cancelled" if self._status == "cancelling" else "goes on"
        self._telling.notice(f"Detached; the task {state}. Watch it again: {again}")
        return False

    # -- in the background -------------------------------------------------------------------------------------------

    def _read_events(self, client: Client) -> None:
        follower = Follower(self._task_id, self._data_dir, self._workplace)
        try:
            for seen in follower.events(client, lambda text: self._inbox.put(Notice(text))):
                self._inbox.put(seen)
        except CommandFailed as error:
            self._inbox.put(Ended(error))
        else:
            self._inbox.put(Ended())

    def _submit(self, operation: str, body: Json | None = None) -> None:
        """Not here: a sidecar that does not answer must not keep a second Ctrl-C waiting."""

        def post() -> None:
            try:
                client = running(self._data_dir)
                if client is None:
                    self._inbox.put(Notice("The sidecar does not answer; the task was not told."))
                    return
                client.post(f"/api/brain/tasks/{self._task_id}/{operation}", body)
            except Refused as refusal:
                # Somebody else answered or ended it in between; the events say so.
                if refusal.status != 409:
                    self._inbox.put(Notice(str(refusal)))
            except CommandFailed as error:
                self._inbox.put(Notice(str(error)))

        threading.Thread(target=post, daemon=True).start()


def _exit_code(status: str, verified: bool | None) -> int:
    if status == "completed" and verified is False:
        return EXIT_FAILED
    return {"completed": EXIT_OK, "cancelled": EXIT_CANCELLED}.get(status, EXIT_FAILED)


def _forget_keys() -> None:
    """What was typed before the question was seen is no answer to it."""
    with suppress(ImportError, OSError, ValueError):
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
