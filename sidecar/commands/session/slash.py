"""The commands of a session that begin with `/`. Any other slash word goes to the agents."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from sidecar.commands.parser import directories, task_id
from sidecar.commands.session.conversation import TerminalConversation
from sidecar.commands.summary import render_restored
from sidecar.commands.table import APPROVALS, EFFORTS, ROLES
from sidecar.commands.text import Style, clip, paint_diff, paragraph, safe, safe_line, short
from sidecar.wire.intents import SLASH_COMMANDS

_LISTED = 10
_OWN = {
    "help": "list these commands and keys",
    "model": "show the models, or choose one: /model provider/name",
    "effort": f"how much models that reason should think: /effort {'|'.join(EFFORTS)}",
    "mode": f"what needs your approval: /mode {'|'.join(APPROVALS)}",
    "undo": "undo the task's last change of files; `/undo all`: all of them",
    "diff": "show what the task changed",
    "resume": "list earlier tasks here, or go back to one: /resume 2",
    "retry": "resume the task from its last checkpoint",
    "clear": "start a new conversation",
    "stop": "cancel the running task, like Esc",
    "panel": "open the panel",
    "quit": "leave, like Ctrl-D",
}
_KEYS = (
    "Enter sends; Alt-Enter begins a new line; @ names a file; !command runs in your shell.",
    "Esc stops the task; Ctrl-R searches what you typed; Ctrl-O shows folded calls; Ctrl-D leaves.",
    "Name an image by its path to attach it. What you send while a task runs waits for its next step.",
)
#: Every slash word: what it is for, and whether the session handles it.
SLASH = {name: (about, True) for name, about in _OWN.items()}
SLASH |= {
    name: (command.hint[:1].lower() + command.hint[1:], False)
    for name, command in SLASH_COMMANDS.items()
    if command.hint
}


class AnyPrompt(Protocol):
    async def run(self) -> None: ...

    def exit(self) -> None: ...

    def ask(self, question: str) -> None:
        """Change the words before the line."""

    async def print(self, lines: Sequence[str]) -> None:
        """Print lines permanently, above the prompt."""

    async def run_program(self, act: Callable[[], object]) -> None:
        """Give the terminal to a program of yours until it ends."""

    def redraw(self) -> None: ...


class SessionActions(Protocol):
    """What a slash command can do."""

    style: Style
    conversation: TerminalConversation
    prompt: AnyPrompt

    @property
    def columns(self) -> int: ...

    @property
    def busy(self) -> bool: ...

    async def say(self, text: str) -> None: ...

    def stop(self) -> None: ...

    async def open_task(self, task_id: str) -> None: ...

    def reset_renderer(self) -> None: ...


class SlashCommands:
    def __init__(self, session: SessionActions) -> None:
        self._session = session
        self._listed: list[str] = []

    def find(self, text: str) -> Coroutine[Any, Any, None] | None:
        """The command that a line starts, if it is one of ours."""
        word, _, rest = text.partition(" ")
        name = {"exit": "quit", "?": "help"}.get(word[1:], word[1:])
        if not text.startswith("/"):
            return None
        if name not in _OWN:
            meant = [f"/{each}" for each in SLASH if each.startswith(name) and each != name]
            return self._unfinished(word, meant) if meant and name not in SLASH and not rest else None
        command: Coroutine[Any, Any, None] = getattr(self, f"_{name}")(rest.strip())
        return command

    async def _unfinished(self, word: str, meant: Sequence[str]) -> None:
        await self._session.say(f"{word} isn't a command; did you mean {' or '.join(meant)}? Nothing was sent.")

    async def _help(self, rest: str) -> None:
        style = self._session.style
        columns, indent = self._session.columns, " " * 14
        lines = []
        for name, (about, _) in SLASH.items():
            first, *more = paragraph(about, columns, indent)
            lines += [f"  {style.cyan(f'/{name:<10}')} {first[len(indent) :]}", *more]
        keys = [style.dim(row) for line in _KEYS for row in paragraph(line, columns)]
        await self._session.prompt.print([*lines, *keys])

    async def _model(self, rest: str) -> None:
        session = self._session
        names = [name.strip() for name in rest.split(",") if name.strip()]
        if wrong := next((name for name in names if name != "offline" and not all(name.partition("/"))), None):
            await session.say(f"{safe_line(wrong)} is no model: name it as provider/name. `/model` lists them.")
            return
        if rest:
            session.conversation.options["models"] = dict.fromkeys(ROLES, rest)
            session.conversation.fresh = True
            name = safe_line(rest)
            await session.say(f"Your next message uses {name}. `brain use {name}` makes it the default.")
            return
        found = await asyncio.to_thread(session.conversation.get, "/api/brain/models")
        roles = [f"  {role['role']:<10} {safe_line(', '.join(role['chain']))}" for role in found["roles"]]
        models = [f"  {'✓' if each['available'] else ' '} {safe_line(each['name'])}" for each in found["models"]]
        await session.prompt.print([*roles, session.style.dim("  Choose one: /model provider/name"), *models])

    async def _effort(self, rest: str) -> None:
        await self._choose("effort", EFFORTS, rest)

    async def _mode(self, rest: str) -> None:
        await self._choose("approvals", APPROVALS, rest)

    async def _choose(self, option: str, values: Sequence[str], value: str) -> None:
        """Set an option of the next task."""
        word = "mode" if option == "approvals" else option
        if value not in values:
            await self._session.say(f"/{word} takes one of {', '.join(values)}.")
            return
        self._session.conversation.options[option] = value
        self._session.conversation.fresh = True
        await self._session.say(f"Your next message runs with {word} {value}.")

    async def _undo(self, rest: str) -> None:
        session = self._session
        if not session.conversation.task:
            await session.say("There is no task yet. `brain undo` undoes the newest one in this directory.")
            return
        body: dict[str, Any] = {"seq": 0} if rest == "all" else {}
        done = await asyncio.to_thread(session.conversation.act, "rewind", body)
        lines = render_restored(session.style, done)
        await session.prompt.print(lines or [session.style.dim("  There was nothing to undo.")])
        session.conversation.follow()

    async def _diff(self, rest: str) -> None:
        session = self._session
        if not session.conversation.task:
            await session.say("There is no task yet.")
            return
        found = await asyncio.to_thread(session.conversation.get, f"/api/brain/tasks/{session.conversation.task}/diff")
        rows = [row for file in found["files"] for row in safe(file["diff"]).split("\n")[:-1]]
        lines = [paint_diff(session.style, row) for row in rows]
        await session.prompt.print(lines or [session.style.dim("  The task changed no files.")])

    async def _resume(self, rest: str) -> None:
        session = self._session
        if rest:
            by_number = rest.isdecimal() and 1 <= int(rest) <= len(self._listed)
            client = await asyncio.to_thread(session.conversation.client)
            named = self._listed[int(rest) - 1] if by_number else await asyncio.to_thread(task_id, client, rest)
            await session.open_task(named)
            return
        query = {"workspace": directories(session.conversation.workspace), "limit": _LISTED}
        found = (await asyncio.to_thread(session.conversation.get, "/api/brain/tasks", query))["tasks"]
        self._listed = [task["id"] for task in found]
        lines = []
        for number, task in enumerate(found, start=1):
            title = clip(safe_line(task["title"]), max(session.columns - 32, 20))
            status = session.style.status(task["status"], f"{task['status']:<12}")
            lines.append(f"  {number:>2}. {status} {title}  {session.style.dim(short(task['id']))}")
        hint = "  Go back to one: /resume NUMBER" if lines else "  No tasks in this directory yet."
        await session.prompt.print([*lines, session.style.dim(hint)])

    async def _retry(self, rest: str) -> None:
        if not self._session.conversation.task:
            await self._session.say("There is no task yet.")
            return
        await asyncio.to_thread(self._session.conversation.act, "resume")
        self._session.conversation.follow()

    async def _clear(self, rest: str) -> None:
        if self._session.busy:
            await self._session.say(f"{short(self._session.conversation.task)} continues; /resume goes back to it.")
        self._session.conversation.leave()
        self._session.reset_renderer()
        await self._session.say("A new conversation.")

    async def _stop(self, rest: str) -> None:
        self._session.stop()

    async def _panel(self, rest: str) -> None:
        from sidecar.commands.panel import panel_url

        client = await asyncio.to_thread(self._session.conversation.client)
        url = await asyncio.to_thread(panel_url, client)
        await self._session.say(f"Open this address within a minute; it works once: {url}")

    async def _quit(self, rest: str) -> None:
        self._session.prompt.exit()
