"""Keys of model providers, doors and sandboxes, from the environment or stored by `brain keys set`.

Never from a workspace.

A stored key is in the system's keyring, or without one in a private file of the data directory. The file also lists
the keys that are in the keyring, so a user without any never waits for the keyring.
"""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from sidecar.config.data_dir import DataDir
from sidecar.config.paths import APP, write_private

#: The environment variables of each provider's key and base URL.
VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
    "groq": ("GROQ_API_KEY",),
}
#: The same for tokens and secrets of the doors, and keys of sandboxes.
TOKENS = {
    "github": ("BRAIN_GITHUB_TOKEN",),
    "github-webhook": ("BRAIN_GITHUB_WEBHOOK_SECRET",),
    "linear": ("BRAIN_LINEAR_TOKEN",),
    "linear-webhook": ("BRAIN_LINEAR_WEBHOOK_SECRET",),
    "slack-bot": ("BRAIN_SLACK_BOT_TOKEN",),
    "slack-app": ("BRAIN_SLACK_APP_TOKEN",),
    "slack-signing": ("BRAIN_SLACK_SIGNING_SECRET",),
    "telegram": ("BRAIN_TELEGRAM_TOKEN",),
    "e2b": ("E2B_API_KEY",),
    "codegen": ("CODEGEN_API_KEY",),
}
#: Everything that can be stored.
NAMES = VARIABLES | TOKENS
BASE_URLS = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "groq": "GROQ_BASE_URL",
}
_KEYRING = "keyring"
_STAMP_SECONDS = 0.05

KeyStore = Literal["keyring", "file"]


class Origin(NamedTuple):
    """Describes where a key is; never holds the key."""

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
        #: The provider's base URL in the settings.
        self._served_at = served_at
        self._data = DataDir(data_dir)
        self._file = data_dir / "keys.json"
        #: The keyring is slow, so cache its answers by provider and the stamp of the stored entry.
        self._from_keyring: dict[str, str | None] = {}
        self._stamp: object = None
        self._stamped_at = -_STAMP_SECONDS

    def find(self, provider: str) -> str | None:
        for variable in NAMES[provider]:
            value = self._environ.get(variable, "").strip()
            if value:
                return value
        entry = self._stored().get(provider)
        if entry and entry.get("in") == _KEYRING:
            stamp = f"{provider} {entry.get('stamp')}"
            if stamp not in self._from_keyring:
                self._from_keyring[stamp] = _keyring_get(provider)
            return self._from_keyring[stamp]
        return entry.get("key") if entry else None

    def variable(self, name: str) -> str | None:
        """The value of an environment variable, or what is stored in its place."""
        stored = next((each for each, names in NAMES.items() if name in names), None)
        return self.find(stored) if stored is not None else self._environ.get(name, "").strip() or None

    def environment(self) -> dict[str, str]:
        """The environment with the stored tokens. For this process only: no child may inherit it."""
        stored = self._stored()
        found = {TOKENS[name][0]: self.find(name) for name in stored if name in TOKENS}
        return {**self._environ, **{name: value for name, value in found.items() if value}}

    def stamp(self) -> object:
        """Changes whenever a key is stored or removed; for another process's change, up to 50 ms later.

        Each redaction calls this, so it doesn't ask the disk each time.
        """
        now = time.monotonic()
        if now - self._stamped_at >= _STAMP_SECONDS:
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
        for variable in NAMES[provider]:
            if self._environ.get(variable, "").strip():
                return Origin(provider, f"{variable} in the environment")
        entry = self._stored().get(provider)
        if entry is None:
            return None
        return Origin(provider, "the system's keyring" if entry.get("in") == _KEYRING else str(self._file))

    def is_stored(self, provider: str) -> bool:
        return provider in self._stored()

    def store(self, provider: str, key: str) -> KeyStore:
        self._data.prepare()
        entries = self._stored()
        place: KeyStore = "keyring" if _keyring_set(provider, key) else "file"
        entries[provider] = {"in": _KEYRING, "stamp": secrets.token_hex(4)} if place == "keyring" else {"key": key}
        write_private(self._file, json.dumps(entries))
        return place

    def remove(self, provider: str) -> bool:
        """Whether a key was stored."""
        entries = self._stored()
        entry = entries.pop(provider, None)
        if entry is None:
            return False
        if entry.get("in") == _KEYRING:
            _keyring_delete(provider)
        write_private(self._file, json.dumps(entries))
        return True

    def _stored(self) -> dict[str, dict[str, str]]:
        self._stamped_at = -_STAMP_SECONDS  # the caller may use a new key, so the next redaction must know it
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
            return {name: dict(entry) for name, entry in found.items() if name in NAMES}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}


def looks_like_key(text: str) -> bool:
    """Spaces, or characters that no header can carry, mean a bad copy."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def _keyring_set(provider: str, key: str) -> bool:
    try:
        import keyring

        keyring.set_password(APP, provider, key)
        return keyring.get_password(APP, provider) == key
    except Exception:
        # The package is missing, the machine has no keyring, or it is locked: each raises its own error.
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
