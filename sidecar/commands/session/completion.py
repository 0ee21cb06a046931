"""Completes `/` commands and `@` files."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from sidecar.commands.text import safe_line

_AT = re.compile(r"(?:^|\s)@([^\s@]*)$")
_SHOWN = 20


class SessionCompleter(Completer):
    """`find_files` gets a part of a path and returns paths; it may be slow, so this runs in a thread."""

    def __init__(self, commands: Mapping[str, str], find_files: Callable[[str], Sequence[str]]) -> None:
        self._commands = commands
        self._find_files = find_files

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if text.startswith("/") and not re.search(r"\s", text):
            for name, hint in self._commands.items():
                if name.startswith(text[1:]):
                    yield Completion(f"/{name} ", -len(text), display=f"/{name}", display_meta=hint)
        elif (found := _AT.search(text)) is not None:
            for path in self._find_files(found[1])[:_SHOWN]:
                # A file's name may hold anything; one that could drive the terminal isn't offered.
                if safe_line(path) == path:
                    yield Completion(f"@{path} ", -len(found[1]) - 1, display=path)
