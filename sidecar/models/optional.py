"""Fields of a request that can do without: what a server refuses is left out from then on."""

from typing import Any

from sidecar.wire.base import JsonObject

#: The two names of the limit of a reply. Some servers know only one of them, and some refuse the number.
_OLD, _NEW = "max_tokens", "max_completion_tokens"
#: How else it is said that a reply would be allowed to be too long.
_TOO_MUCH = "in the completion"


class OptionalFields:
    def __init__(self, fields: JsonObject) -> None:
        self._fields: dict[str, Any] = dict(fields)
        self._refused: set[str] = set()

    def sent(self, more: JsonObject) -> JsonObject:
        return {name: value for name, value in {**self._fields, **more}.items() if name not in self._refused}

    def give_way(self, complaint: str, sent: JsonObject) -> bool:
        """Whether the complaint is about something that was sent, and that is now left out."""
        refused = next((name for name in sent if name in complaint), None)
        if refused in (None, _OLD, _NEW):
            refused = self._other_limit(complaint, sent)
        if refused is not None:
            self._refused.add(refused)
        return refused is not None

    def _other_limit(self, complaint: str, sent: JsonObject) -> str | None:
        limit = next((name for name in (_OLD, _NEW) if name in sent), None)
        if limit is None or not any(words in complaint for words in (_OLD, _NEW, _TOO_MUCH)):
            return None
        if limit == _OLD and _NEW in complaint and "supported" in complaint:
            self._fields[_NEW] = self._fields[_OLD]
        return limit
