"""The keys of the model providers: from the environment, or as `brain keys set` put them away. Never from a workspace.

Put away means: in the system's keyring where there is one, else in a private file of the data directory. That file also
says which keys the keyring has, so that nobody who keeps none there ever waits for it.
"""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sidecar.config.data_dir import DataDir
from sidecar.config.paths import APP

#: Where each provider's key is looked for, and where its base URL.
VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
    "groq": ("GROQ_API_KEY",),
}
BASE_URLS = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "groq": "GROQ_BASE_URL",
}
_FILE = "keys.json"
_KEYRING = "keyring"
_GLANCE = 0.05

Place = Literal["keyring", "file"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a key is, in words; never the key."""

    provider: str
    place: str


class Keys:
    def __init__(
        self,
        environ: Mapping[str, str],
        data_dir: Path,
        served_at: Callable[[str], str | None] = lambda provider: None,
    ) -> None:
        self._environ = environ
        #: Where the person's settings say that a provider is.
        self._served_at = served_at
        self._data = DataDir(data_dir)
        self._file = data_dir / _FILE
        #: By what the file says of it, which changes with every key that is put away: the keyring is slow to ask.
        self._from_keyring: dict[str, str | None] = {}
        self._stamp: object = None
        self._stamped_at = -_GLANCE

    def find(self, provider: str) -> str | None:
        for variable in VARIABLES[provider]:
            value = self._environ.get(variable, "").strip()
            if value:
                return value
        entry = self._put_away().get(provider)
        if entry and entry.get("in") == _KEYRING:
            stamp = f"{provider} {entry.get('stamp')}"
            if stamp not in self._from_keyring:
                self._from_keyring[stamp] = _keyring_get(provider)
            return self._from_keyring[stamp]
        return entry.get("key") if entry else None

    def stamp(self) -> object:
        """Another one whenever a key was put away or taken out; if by another process, a moment later.

        It is asked for with every text that is looked through for secrets, so it does not ask the disk each time.
        """
        now = time.monotonic()
        if now - self._stamped_at >= _GLANCE:
            self._stamped_at = now
            try:
                found = self._file.stat()
                self._stamp = (found.st_mtime_ns, found.st_ino, found.st_size)
            except OSError:
                self._stamp = None
        return self._stamp

    def base_url(self, provider: str) -> str | None:
        return self._environ.get(BASE_URLS[provider], "").strip() or self._served_at(provider)

    def origin(self, provider: str) -> Origin | None:
        for variable in VARIABLES[provider]:
            if self._environ.get(variable, "").strip():
                return Origin(provider, f"{variable} in the environment")
        entry = self._put_away().get(provider)
        if entry is None:
            return None
        return Origin(provider, "the system's keyring" if entry.get("in") == _KEYRING else str(self._file))

    def is_stored(self, provider: str) -> bool:
        return provider in self._put_away()

    def store(self, provider: str, key: str) -> Place:
        self._data.prepare()
        kept = self._put_away()
        place: Place = "keyring" if _keyring_set(provider, key) else "file"
        kept[provider] = {"in": _KEYRING, "stamp": secrets.token_hex(4)} if place == "keyring" else {"key": key}
        self._data.write_private(self._file, json.dumps(kept))
        return place

    def remove(self, provider: str) -> bool:
        """Whether there was one put away."""
        kept = self._put_away()
        entry = kept.pop(provider, None)
        if entry is None:
            return False
        if entry.get("in") == _KEYRING:
            _keyring_delete(provider)
        self._data.write_private(self._file, json.dumps(kept))
        return True

    def _put_away(self) -> dict[str, dict[str, str]]:
        self._stamped_at = -_GLANCE  # whoever takes a key out may use it, and it must be known before it is seen
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
            return {name: dict(entry) for name, entry in found.items() if name in VARIABLES}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}


def looks_like_key(text: str) -> bool:
    """Whether it could be one: what has spaces in it, or what no header can carry, was copied wrongly."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def _keyring_set(provider: str, key: str) -> bool:
    try:
        import keyring

        keyring.set_password(APP, provider, key)
        return keyring.get_password(APP, provider) == key
    except Exception:
        # No keyring package, no keyring on this machine, a locked one: each says so with an error of its own.
        return False


def _keyring_get(provider: str) -> str | None:
    try:
        import keyring

        return keyring.get_password(APP, provider)
    except Exception:
        return None


def _keyring_delete(provider: str) -> None:
    try:
        import keyring

        keyring.delete_password(APP, provider)
    except Exception:
        return
