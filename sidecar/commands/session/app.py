"""`brain` in a terminal: you type, the task's events appear above the prompt."""

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sidecar.client.client import Json
from sidecar.client.errors import ClientError
from sidecar.client.follow import ENDED, Seen, prompt_id
from sidecar.commands.parser import data_dir, newest_here, workspace
from sidecar.commands.session.answers import AnswerGate
from sidecar.commands.session.conversation import TerminalConversation, attach, find_images
from sidecar.commands.session.renderer import SessionRenderer
from sidecar.commands.session.slash import SLASH, AnyPrompt, SlashCommands
from sidecar.commands.text import clip, is_terminal, paragraph, safe_line, short, style_for, terminal_columns
from sidecar.commands.watch import choose, parse_decision

APPROVE = "  Allow? y once, a always in this task, n no, n REASON no and why; then Enter:"
TICK_SECONDS = 0.1
HISTORY_FILE = "typed"


def start(args: argparse.Namespace) -> int:
    """A session on a terminal; the panel without one, or if you asked for it."""
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if args.panel or args.no_open or not on_terminal:
        from sidecar.commands.panel import start as start_panel

        return start_panel(args)
    session = TerminalSession(data_dir(args), workspace(args))
    try:
        asyncio.run(session.run(continued=getattr(args, "continue")))
    finally:
        session.conversation.close()
    return 0


class TerminalSession:
    def __init__(self, directory: Path, place: Path) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.directory = directory
        self.style = style_for()
        self.renderer = SessionRenderer(self.style, self.columns)
        self.conversation = TerminalConversation(directory, place, self._on_event, self._on_notice)
        self.prompt: AnyPrompt
        self.facts: dict[str, Any] = {}
        self._gate = AnswerGate()
        self._slash = SlashCommands(self)
        self._since = time.monotonic()
        self._sending = asyncio.Lock()
        #: Messages that the sidecar doesn't have yet.
        self._outgoing: list[str] = []
        self._jobs: set[asyncio.Task[None]] = set()
        self._inbox: asyncio.Queue[Seen | str] = asyncio.Queue()

    async def run(self, *, continued: bool = False) -> None:
        self._loop = asyncio.get_running_loop()
        self.prompt = self._open_prompt()
        welcome = f"{self.style.bold('Rainy Brain')} in {_home_relative(self.conversation.workspace)}"
        sys.stdout.write(f"{welcome}  {self.style.dim('/help lists commands, Ctrl-D leaves')}\n")
        for work in (self._show_events(), self._tick(), self._connect(continued=continued)):
            self.spawn(work)
        with suppress(EOFError):
            await self.prompt.run()
        for job in self._jobs:
            job.cancel()
        if self.busy:
            name = short(self.conversation.task)
            sys.stdout.write(f"The task continues. Watch it: brain show --follow {name}\n")

    def _open_prompt(self) -> AnyPrompt:
        if not is_terminal():
            from sidecar.commands.session.plain import PlainPrompt

            return PlainPrompt(self.take, self._gate, lambda: self.busy)
        from sidecar.commands.session.prompt import PromptLine, SessionCompleter

        completer = SessionCompleter({name: about for name, (about, _) in SLASH.items()}, self._find_files)
        history = self.directory / HISTORY_FILE
        return PromptLine(
            self.take, self.stop, self._show_fold, self._gate, completer, history, self._live, self._status_line
        )

    async def _connect(self, *, continued: bool) -> None:
        """Start the sidecar while you type."""
        client = await asyncio.to_thread(self.conversation.client)
        self.prompt.redraw()
        if continued:
            await self.open_task(await asyncio.to_thread(newest_here, client, self.conversation.workspace))

    @property
    def columns(self) -> int:
        return terminal_columns()

    # -- what you type -----------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        return bool(self.conversation.task) and self.renderer.status not in ENDED and self.renderer.seen > 0

    def take(self, line: str) -> None:
        """One submitted line."""
        asked = self._asked()
        in_answer = self._gate.submit(prompt_id(asked), time.monotonic())
        text = line.strip()
        if not text:
            return
        if asked is not None and self._answer(asked, text, counts=in_answer):
            return
        if text.startswith("!"):
            self.spawn(self._run_command(text[1:].strip()))
        elif (command := self._slash.find(text)) is not None:
            self.spawn(command)
        else:
            self.spawn(self._send(text))

    def _answer(self, asked: Json, text: str, *, counts: bool) -> bool:
        """Whether the line is settled: it answered, or it looks like an answer but was typed too early."""
        reason = ""
        if asked["type"] == "approval":
            answer, reason = parse_decision(text) or (None, "")
        else:
            chosen = choose(asked, text)
            answer = None if chosen is None else {"answer": chosen}
        if answer is None:
            if asked["type"] == "question" and counts and not text.startswith(("/", "!")):
                self.spawn(self.say("Answer with one of the choices, by number or word."))
                return True
            return False
        if not counts:
            if asked["type"] == "question" and not asked.get("choices"):
                return False
            self.spawn(self.say("You typed that before the question was shown, so it doesn't count. Type it again."))
            return True
        self.spawn(asyncio.to_thread(self.conversation.answer, asked, answer, reason))
        return True

    async def _send(self, text: str) -> None:
        images = find_images(text, self.conversation.workspace)
        attachments = [attach(path) for path in images]
        if attachments:
            await self.say(f"Attached {', '.join(path.name for path in images)}.")
        self._outgoing.append(text)
        try:
            # One after the other: the second message belongs to the task that the first one starts.
            async with self._sending:
                if not self.conversation.task or self.conversation.fresh:
                    self.reset_renderer()
                await asyncio.to_thread(self.conversation.send, text, attachments)
        finally:
            self._outgoing.remove(text)

    async def _run_command(self, command: str) -> None:
        """Your own command, in your shell; the agents don't see it."""
        if not command:
            await self.say("Write the command after the exclamation mark: !git status")
            return
        windows = sys.platform == "win32"
        argv = ["cmd", "/c", command] if windows else [os.environ.get("SHELL") or "/bin/sh", "-c", command]

        def run() -> None:
            sys.stdout.write(f"{self.style.dim(f'$ {command}')}\n")
            sys.stdout.flush()
            code = subprocess.run(argv, cwd=self.conversation.workspace, check=False).returncode
            if code:
                sys.stdout.write(self.style.red(f"exit code {code}") + "\n")

        await self.prompt.run_program(run)

    def stop(self) -> None:
        """Esc: cancel the running task."""
        if self.busy and self.renderer.status != "cancelling":
            self.spawn(asyncio.to_thread(self.conversation.act, "cancel"))

    # -- what the task reports ---------------------------------------------------------------------------------------

    def _on_event(self, seen: Seen) -> None:
        self._loop.call_soon_threadsafe(self._inbox.put_nowait, seen)

    def _on_notice(self, text: str) -> None:
        self._loop.call_soon_threadsafe(self._inbox.put_nowait, text)

    async def _show_events(self) -> None:
        while True:
            got = [await self._inbox.get()]
            while not self._inbox.empty():
                got.append(self._inbox.get_nowait())
            lines = [line for each in got for line in self._render(each)]
            if lines:
                await self.prompt.print(lines)
            asked = self._asked()
            if asked is not None:
                # Its words are on the screen now, and the prompt says what the keys do.
                self._gate.show(prompt_id(asked), time.monotonic())
            self.prompt.ask(_question(asked))

    def _render(self, got: Seen | str) -> list[str]:
        if isinstance(got, str):
            return [self.style.yellow(row) for row in paragraph(got, self.columns, "")]
        event = got.event
        if event.get("taskId") != self.conversation.task:
            return []
        if event.get("seq") is not None:
            self._since = time.monotonic()
        if event["type"] in ("model", "usage"):
            self.facts[event["type"]] = event
        if event["type"] == "delta" and not is_terminal():
            return []
        self.renderer.resize(self.columns)
        return self.renderer.render(event, got.connected_at)

    def _asked(self) -> Json | None:
        if self.renderer.status == "cancelling":
            return None
        waiting = [*self.renderer.open_approvals.values(), *self.renderer.open_questions.values()]
        return waiting[0] if waiting else None

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            if self.busy:
                self.prompt.redraw()

    def _live(self, columns: int) -> Sequence[str]:
        lines = self.renderer.live(time.monotonic() - self._since, columns) if self.busy else []
        return [*lines, *(self.style.dim(clip(f"› {safe_line(text)}", columns - 1)) for text in self._outgoing)]

    def _status_line(self) -> str:
        model, usage = self.facts.get("model"), self.facts.get("usage")
        if not self.conversation.connected:
            return self.style.dim("Starting the sidecar …")
        parts = [f"mode {self.conversation.options['approvals']}"]
        parts += [f"{model['provider']}/{model['model']}"] if model else []
        parts += [f"${usage['costUsd']:.4f}"] if usage and usage["costUsd"] else []
        parts += ["Esc stops, Enter queues a message"] if self.busy else []
        return self.style.dim(" · ".join(parts))

    # -- for commands ------------------------------------------------------------------------------------------------

    def spawn(self, work: Awaitable[object]) -> None:
        """Run in the background; a failure becomes a line."""

        async def run() -> None:
            try:
                await work
            except (ClientError, OSError) as error:
                await self.prompt.print([self.style.red(row) for row in paragraph(str(error), self.columns, "")])

        job = asyncio.ensure_future(run())
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def say(self, text: str) -> None:
        await self.prompt.print([self.style.dim(row) for row in paragraph(text, self.columns, "")])

    def reset_renderer(self) -> None:
        self.renderer = SessionRenderer(self.style, self.columns)

    async def open_task(self, task_id: str) -> None:
        """Show an earlier task; what you send next continues it."""
        self.reset_renderer()
        await asyncio.to_thread(self.conversation.attach, task_id)
        self.conversation.follow()

    def _show_fold(self) -> None:
        self.spawn(self.prompt.print(self.renderer.last_fold or [self.style.dim("No folded calls yet.")]))

    def _find_files(self, part: str) -> Sequence[str]:
        pattern = "".join(char if char not in "*?[]{}!\\" else "?" for char in part)
        call = {"tool": "find_files", "args": {"pattern": f"**/*{pattern}*" if "/" not in part else f"{pattern}*"}}
        body = {"workspace": str(self.conversation.workspace), "calls": [call]}
        try:
            (result,) = self.conversation.post("/api/brain/tools/batch", body)["results"]
        except (ClientError, ValueError):
            return ()
        details = result.get("details")
        paths = details.get("paths", []) if isinstance(details, dict) else []
        return [path for path in paths if isinstance(path, str)]


def _question(asked: Json | None) -> str:
    if asked is None:
        return ""
    if asked["type"] == "approval":
        return APPROVE
    return "  Your choice (number or word):" if asked.get("choices") else "  Your answer:"


def _home_relative(path: Path) -> str:
    text, home = str(path), str(Path.home())
    return f"~{text.removeprefix(home)}" if text == home or text.startswith(f"{home}/") else text
