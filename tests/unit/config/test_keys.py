"""Keys: where they are looked for, and where they are put."""

import os
import stat
from pathlib import Path

import pytest

from sidecar.config import keys as module
from sidecar.config.keys import Keys


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A keyring of the test's own; one that is `locked` takes nothing."""
    held: dict[str, str] = {}

    def store(provider: str, key: str) -> bool:
        if "locked" in held:
            return False
        held[provider] = key
        return True

    monkeypatch.setattr(module, "_keyring_set", store)
    monkeypatch.setattr(module, "_keyring_get", held.get)
    monkeypatch.setattr(module, "_keyring_delete", lambda provider: held.pop(provider, None))
    return held


def test_the_environment_wins(tmp_path: Path) -> None:
    kept = Keys({"GEMINI_API_KEY": "from outside"}, tmp_path)
    kept.store("gemini", "put away")
    assert kept.find("gemini") == "from outside"
    assert Keys({"GOOGLE_API_KEY": "the other name"}, tmp_path).find("gemini") == "the other name"
    assert Keys({"GEMINI_API_KEY": " "}, tmp_path).find("gemini") == "put away"


def test_the_keyring_is_asked_only_if_something_was_put_there(tmp_path: Path, ring: dict[str, str]) -> None:
    ring["anthropic"] = "somebody else's"
    assert Keys({}, tmp_path).find("anthropic") is None
    assert Keys({}, tmp_path).store("anthropic", "mine") == "keyring"
    assert Keys({}, tmp_path).find("anthropic") == "mine"
    assert "mine" not in (tmp_path / "keys.json").read_text()


def test_another_key_is_used_at_once(tmp_path: Path) -> None:
    running = Keys({}, tmp_path)
    for key in ("first", "second"):
        Keys({}, tmp_path).store("anthropic", key)
        assert running.find("anthropic") == key


def test_without_a_keyring_it_is_a_private_file(tmp_path: Path, ring: dict[str, str]) -> None:
    ring["locked"] = "yes"
    before = os.umask(0)
    try:
        assert Keys({}, tmp_path / "data").store("groq", "secret") == "file"
    finally:
        os.umask(before)
    file = tmp_path / "data" / "keys.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert Keys({}, tmp_path / "data").find("groq") == "secret"


def test_what_is_removed_is_gone(tmp_path: Path, ring: dict[str, str]) -> None:
    kept = Keys({}, tmp_path)
    kept.store("openai", "x")
    assert kept.remove("openai")
    assert not kept.remove("openai")
    assert Keys({}, tmp_path).find("openai") is None
    assert ring == {}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"groq": 3}', '{"groq": null}'])
def test_a_damaged_file_holds_no_keys(tmp_path: Path, text: str) -> None:
    (tmp_path / "keys.json").write_text(text)
    assert Keys({}, tmp_path).find("groq") is None
    assert Keys({}, tmp_path).origin("groq") is None
