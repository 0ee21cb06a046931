"""Redacts secrets in every text before it reaches the journal, a stream, a log or a model.

It finds known values anywhere, and other keys by their pattern. Values in the setting `let_through` stay.
"""

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial

from pydantic import JsonValue

REDACTED = "[redacted:"
_NAMES = re.compile(r"KEY(?!BOARD|MAP)|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)
#: Shorter values, such as the `x` that a local server accepts as a key, occur in ordinary words.
_MIN_LENGTH = 8
#: Keys of well-known services: name, literals that every match contains, pattern.
_PATTERNS = (
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{16,}"),
    ("openai-key", ("sk-",), r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}"),
    ("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{20,}"),
    ("google-key", ("AIza",), r"AIza[A-Za-z0-9_-]{30,}"),
    ("github-token", ("gh", "github_pat_"), r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    ("gitlab-token", ("glpat-",), r"glpat-[A-Za-z0-9_-]{16,}"),
    ("slack-token", ("xox",), r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("aws-key", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    ("stripe-key", ("k_live_",), r"[sr]k_live_[A-Za-z0-9]{16,}"),
    ("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{30,}"),
    ("token", ("eyJ",), r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        "private-key",
        ("PRIVATE KEY-----",),
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    ),
)
_LITERALS = tuple(literal for _, literals, _ in _PATTERNS for literal in literals)
_BEGINNINGS = re.compile(
    r"(?:sk-|sk_|rk_|gsk_|AIza|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|npm_|eyJ)[A-Za-z0-9_.-]*\Z"
)


_START_WORDS = (
    "sk- sk_live_ rk_live_ gsk_ AIza ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox AKIA ASIA npm_ eyJ -----B"
)
_STARTS = tuple(_START_WORDS.split())


class Redactor:
    """Calls `known` for names and values at the first text, and again when `stamp` changes. Old values stay secret."""

    def __init__(
        self,
        known: Callable[[], Mapping[str, str]] = dict,
        let_through: Collection[str] = frozenset(),
        stamp: Callable[[], object] = lambda: None,
    ) -> None:
        self._known = known
        self._let_through = frozenset(let_through)
        self._stamp = stamp
        self._asked: object = ()
        self._found: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        if len(text) < _MIN_LENGTH:
            return text
        for value, name in self._values().items():
            if value in text:
                text = text.replace(value, f"{REDACTED}{name}]")
        # Searching for a literal first is a hundred times faster than a pattern, and most texts hold none.
        for literal in _LITERALS:
            if literal in text:
                return self._redact_patterns(text)
        return text

    def _redact_patterns(self, text: str) -> str:
        for name, literals, pattern in _PATTERNS:
            if any(literal in text for literal in literals):
                text = re.sub(pattern, partial(self._replace, name), text)
        return text

    def json(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {name: self.json(each) for name, each in value.items()}
        return [self.json(each) for each in value] if isinstance(value, list) else value

    def open_end(self, text: str) -> int:
        """The index from which on the text may be the start of a secret, once more of it arrives."""
        start = _BEGINNINGS.search(text, max(len(text) - 300, 0))
        end = start.start() if start else len(text)
        for value in (*self._values(), *_STARTS):
            for length in range(min(len(value) - 1, len(text)), 0, -1):
                if text.endswith(value[:length]):
                    end = min(end, len(text) - length)
                    break
        return end

    def _values(self) -> dict[str, str]:
        """Names by value, the longest value first: one may contain another."""
        stamp = self._stamp()
        if stamp != self._asked:
            self._asked = stamp
            wanted = {
                value: name
                for name, value in self._known().items()
                if len(value) >= _MIN_LENGTH and value not in self._let_through
            }
            self._found = dict(sorted({**self._found, **wanted}.items(), key=lambda item: -len(item[0])))
        return self._found

    def _replace(self, name: str, match: re.Match[str]) -> str:
        return match[0] if match[0] in self._let_through else f"{REDACTED}{name}]"


def environment_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Values of variables whose names say that they are secret."""
    return {
        name: value
        for name, value in environ.items()
        if _NAMES.search(name) and len(value) >= _MIN_LENGTH and not value.startswith("/")
    }
