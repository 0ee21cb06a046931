"""Hears the whole output of a program that a tool runs for itself, up to what any result could hold."""

from tools.host import EnoughOutput

_LIMIT = 4 * 1024 * 1024


class Listener:
    def __init__(self, limit: int = _LIMIT) -> None:
        self._parts: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self._room = limit
        self.cut = False

    def __call__(self, stream: str, text: str) -> None:
        self._parts[stream].append(text[: self._room])
        self._room -= len(text)
        if self._room <= 0:
            self.cut = True
            raise EnoughOutput

    @property
    def text(self) -> str:
        return "".join(self._parts["stdout"])

    @property
    def errors(self) -> str:
        return "".join(self._parts["stderr"])
