"""What the chat templates of some local models demand: that the roles take turns, or that no system is among them.

It is found out by the server's refusal, and then met.
"""

import json
import re
from typing import Any

from sidecar.models.history import encoded

_TAKE_TURNS = re.compile(r"roles must alternate|alternat\w+ (between )?user", re.I)
_NO_SYSTEM = re.compile(r"system (role|message).{0,20}(not supported|unsupported)|does(n't| not) support system", re.I)


class Template:
    def __init__(self) -> None:
        self._take_turns = False
        self._no_system = False

    def learns(self, complaint: str) -> bool:
        """Whether something new is demanded."""
        before = (self._take_turns, self._no_system)
        self._no_system = self._no_system or bool(_NO_SYSTEM.search(complaint))
        self._take_turns = self._take_turns or self._no_system or bool(_TAKE_TURNS.search(complaint))
        return before != (self._take_turns, self._no_system)

    def fitted(self, messages: bytes) -> bytes:
        if not self._take_turns:
            return messages
        given: list[dict[str, Any]] = json.loads(b"[" + messages + b"]")
        fitted: list[dict[str, Any]] = []
        for message in given:
            if self._no_system and message["role"] == "system":
                message["role"] = "user"
            if fitted and fitted[-1]["role"] == message["role"] == "user":
                fitted[-1]["content"] = _joined(fitted[-1]["content"], message["content"])
            else:
                fitted.append(message)
        return encoded(fitted)[1:-1]


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return [*_parts(one), *_parts(other)]


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
