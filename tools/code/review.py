"""What a review found, and what it looked at."""

from typing import Literal, NamedTuple

from tools.code.source import Source

Severity = Literal["error", "warning", "hint"]
ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "hint": 2}


class Finding(NamedTuple):
    path: str
    line: int
    severity: Severity
    message: str
    fix: str

    def told(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"- **{self.severity}** `{where}` {self.message} Fix: {self.fix}"


class Subject:
    """A file under review. `lines` are those that count; nothing is all of them."""

    def __init__(
        self, path: str, content: bytes, lines: frozenset[int] | None = None, *, created: bool = False
    ) -> None:
        self.path = path
        self.content = content
        self.lines = lines
        self.created = created
        self.source = Source(path, content)

    def counts(self, line: int) -> bool:
        return self.lines is None or line in self.lines

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")
