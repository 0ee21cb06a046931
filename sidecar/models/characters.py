"""Characters that came in halves. JSON can name half a character, and some servers cut one in two and send each by
itself; no file, no journal and no provider takes a half."""

from typing import Any, Literal

from sidecar.models.port import Delta, Reply


def mended(text: str) -> str:
    """Halves that belong together become one character; half a character that is left over, a replacement sign."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def mended_reply(reply: Reply) -> Reply:
    try:
        reply.to_json()
    except ValueError:
        return Reply.model_validate(_mended_all(reply.model_dump()))
    return reply


def _mended_all(value: Any) -> Any:
    match value:
        case str():
            return mended(value)
        case list():
            return [_mended_all(each) for each in value]
        case dict():
            return {_mended_all(name): _mended_all(each) for name, each in value.items()}
        case _:
            return value


class Characters:
    """What is shown of a stream: a half is held back until its other half comes."""

    def __init__(self) -> None:
        self._halves: dict[Literal["text", "thinking"], str] = {}

    def whole(self, delta: Delta) -> Delta:
        if delta.text.isascii() and not self._halves:
            return delta
        text = self._halves.pop(delta.kind, "") + delta.text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._halves[delta.kind] = text[-1]
            text = text[:-1]
        return Delta(mended(text), delta.kind)
