"""The key that a request came with, taken out of all that comes back. A server may repeat it, in an error or a text."""

from typing import Any, Literal

from sidecar.models.history import encoded
from sidecar.models.port import Delta, Reply
from sidecar.telemetry.redaction import REDACTED, Redactor

#: A shorter one, such as a local server is content with, is a part of ordinary words.
_SHORTEST = 8


class Discretion:
    def __init__(self, provider: str = "", key: str | None = None) -> None:
        self.key = key if key is not None and len(key) >= _SHORTEST else ""
        self._mark = f"{REDACTED}{provider}-key]"
        self._redact = Redactor(lambda: {f"{provider}-key": key} if key else {})

    def text(self, text: str) -> str:
        return text.replace(self.key, self._mark) if self.key else text

    def reply(self, reply: Reply) -> Reply:
        if self.key and self._repeated(reply):
            # What was signed would not be taken back if it were changed; the turn then says the same in plain words.
            reply = Reply.model_validate(self._without(reply.model_dump(exclude={"kept"})))
        if reply.failure is None:
            return reply
        # What is said of a failure is no work of a model: all that looks like a key is left out of it.
        said = reply.failure.model_copy(update={"message": self._redact(reply.failure.message)})
        return reply.model_copy(update={"failure": said})

    def _repeated(self, reply: Reply) -> bool:
        inside = encoded([[call.args for call in reply.calls], reply.kept.content if reply.kept else None])
        return any(self.key in text for text in (reply.text, reply.thinking, inside.decode()))

    def _without(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case list():
                return [self._without(each) for each in value]
            case dict():
                return {self._without(name): self._without(each) for name, each in value.items()}
            case _:
                return value


class Shown:
    """What is shown of a stream: what may be the beginning of the key is held back until it is known not to be one."""

    def __init__(self, discretion: Discretion) -> None:
        self._discretion = discretion
        self._held: dict[Literal["text", "thinking"], str] = {}

    def part(self, delta: Delta) -> Delta:
        key = self._discretion.key
        if not key or not (self._held or key[0] in delta.text):
            return delta
        text = self._discretion.text(self._held.pop(delta.kind, "") + delta.text)
        place = text.find(key[0], max(0, len(text) - len(key) + 1))
        while place >= 0 and not key.startswith(text[place:]):
            place = text.find(key[0], place + 1)
        if place >= 0:
            self._held[delta.kind] = text[place:]
            text = text[:place]
        return Delta(text, delta.kind)

    def rest(self) -> list[Delta]:
        held, self._held = self._held, {}
        return [Delta(text, kind) for kind, text in held.items()]
