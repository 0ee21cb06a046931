"""Cleans what a server sends: joins split surrogate pairs and redacts the API key if the server repeats it."""

from typing import Any, Literal

from sidecar.models.encoding import encode_json, fix_surrogates
from sidecar.models.port import Delta, Reply
from sidecar.telemetry.redaction import REDACTED, Redactor


def fix_reply(reply: Reply) -> Reply:
    try:
        reply.to_json()
    except ValueError:
        return Reply.model_validate(_fix_all(reply.model_dump()))
    return reply


def _fix_all(value: Any) -> Any:
    match value:
        case str():
            return fix_surrogates(value)
        case list():
            return [_fix_all(each) for each in value]
        case dict():
            return {_fix_all(name): _fix_all(each) for name, each in value.items()}
        case _:
            return value


class SurrogateBuffer:
    """Holds back a lone high surrogate until its other half arrives."""

    def __init__(self) -> None:
        self._halves: dict[Literal["text", "thinking"], str] = {}

    def whole(self, delta: Delta) -> Delta:
        if delta.text.isascii() and not self._halves:
            return delta
        text = self._halves.pop(delta.kind, "") + delta.text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._halves[delta.kind] = text[-1]
            text = text[:-1]
        return Delta(fix_surrogates(text), delta.kind)


#: Shorter keys, as local servers accept them, may be ordinary words.
_MIN_KEY = 8


class KeyRedactor:
    def __init__(self, provider: str = "", key: str | None = None) -> None:
        self.key = key if key is not None and len(key) >= _MIN_KEY else ""
        self._mark = f"{REDACTED}{provider}-key]"
        self._redact = Redactor(lambda: {f"{provider}-key": key} if key else {})

    def text(self, text: str) -> str:
        return text.replace(self.key, self._mark) if self.key else text

    def reply(self, reply: Reply) -> Reply:
        if self.key and self._contains_key(reply):
            # A changed native turn would fail its signature check; drop it.
            reply = Reply.model_validate(self._redact_all(reply.model_dump(exclude={"kept"})))
        if reply.failure is None:
            return reply
        # A failure message is not model output: redact everything that looks like a key.
        redacted = reply.failure.model_copy(update={"message": self._redact(reply.failure.message)})
        return reply.model_copy(update={"failure": redacted})

    def _contains_key(self, reply: Reply) -> bool:
        inside = encode_json([[call.args for call in reply.calls], reply.kept.content if reply.kept else None])
        return any(self.key in text for text in (reply.text, reply.thinking, inside.decode()))

    def _redact_all(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case list():
                return [self._redact_all(each) for each in value]
            case dict():
                return {self._redact_all(name): self._redact_all(each) for name, each in value.items()}
            case _:
                return value


class RedactedStream:
    """Holds back text that may be the beginning of the key."""

    def __init__(self, key_redactor: KeyRedactor) -> None:
        self._key_redactor = key_redactor
        self._held: dict[Literal["text", "thinking"], str] = {}

    def part(self, delta: Delta) -> Delta:
        key = self._key_redactor.key
        if not key or not (self._held or key[0] in delta.text):
            return delta
        text = self._key_redactor.text(self._held.pop(delta.kind, "") + delta.text)
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
