"""What the parts of a session expect of each other."""

from collections.abc import Callable, Sequence
from typing import Protocol

from sidecar.commands.session.conversation import TerminalConversation
from sidecar.commands.text import Style


class AnyPrompt(Protocol):
    async def run(self) -> None: ...

    def exit(self) -> None: ...

    def ask(self, question: str) -> None:
        """Change the words before the line."""

    async def print(self, lines: Sequence[str]) -> None:
        """Print lines for good, above the prompt."""

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
