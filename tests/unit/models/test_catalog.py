"""Which model plays a role, and what is said of one that cannot."""

from pathlib import Path

import pytest

from sidecar.config.keys import Keys
from sidecar.config.settings import Settings
from sidecar.models.access import root
from sidecar.models.catalog import Catalog
from sidecar.models.errors import NoSuchModel
from sidecar.models.port import Switch
from sidecar.offline import OFFLINE
from sidecar.wire.tasks import Models


def catalog(tmp_path: Path, environ: dict[str, str] | None = None, **settings: str) -> Catalog:
    return Catalog(Settings.model_validate(settings), tmp_path, OFFLINE, Keys(environ or {}, tmp_path))


def test_without_a_key_everything_is_offline(tmp_path: Path) -> None:
    assert catalog(tmp_path).chain("smart", Models()) == ["offline/basic"]


def test_a_key_is_enough(tmp_path: Path) -> None:
    (name,) = catalog(tmp_path, {"ANTHROPIC_API_KEY": "k"}).chain("smart", Models())
    assert name.startswith("anthropic/claude-")


def test_several_keys_are_a_chain(tmp_path: Path) -> None:
    names = catalog(tmp_path, {"GROQ_API_KEY": "k", "GOOGLE_API_KEY": "k"}).chain("fast", Models())
    assert [name.partition("/")[0] for name in names] == ["gemini", "groq"]


def test_each_role_has_the_provider_that_is_best_for_it(tmp_path: Path) -> None:
    variables = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY", "OPENAI_API_KEY")
    found = catalog(tmp_path, dict.fromkeys(variables, "k"))
    first = {role: found.chain(role, Models())[0].partition("/")[0] for role in ("smart", "fast", "instant")}
    assert first == {"smart": "anthropic", "fast": "gemini", "instant": "groq"}


def test_with_a_google_key_code_is_written_by_the_pro_model_and_by_flash_if_the_plan_has_no_pro(tmp_path: Path) -> None:
    found = catalog(tmp_path, {"GEMINI_API_KEY": "k"})
    assert found.chain("smart", Models()) == ["gemini/gemini-pro-latest", "gemini/gemini-3.8-flash"]
    assert found.chain("fast", Models()) == ["gemini/gemini-3.8-flash"]
    assert all(found.has_price(name) for name in found.chain("smart", Models()))


def test_what_is_named_wins_over_the_keys_and_the_task_over_the_settings(tmp_path: Path) -> None:
    found = catalog(tmp_path, {"ANTHROPIC_API_KEY": "k"}, model_smart="groq/x, openai/y")
    assert found.chain("smart", Models()) == ["groq/x", "openai/y"]
    assert found.chain("smart", Models(smart="offline/basic")) == ["offline/basic"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("anthropic/claude", "ANTHROPIC_API_KEY"),
        ("gemini/g", "GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("openai/gpt", "OPENAI_BASE_URL"),
        ("claude", "provider/name"),
        ("anthropic/", "provider/name"),
        ("offline/clever", "offline/basic needs no key"),
        ("martian/x", "anthropic, openai, gemini, groq, offline"),
    ],
)
def test_a_model_that_cannot_be_used_says_why(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(NoSuchModel, match=said):
        catalog(tmp_path).model_for("smart", Models(smart=name))


def test_a_local_server_needs_no_key(tmp_path: Path) -> None:
    model = catalog(tmp_path, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}).model_for("smart", Models(smart="openai/x"))
    assert (model.provider, model.name) == ("openai", "x")


@pytest.mark.parametrize(
    "url", ["localhost:11434", "not a url", "http://", "ftp://x/v1", "http://127.0.0.1:99999/v1", "http://[::1/v1"]
)
def test_an_address_that_is_none_is_said_before_anybody_is_asked(tmp_path: Path, url: str) -> None:
    with pytest.raises(NoSuchModel, match=r"http://.*OPENAI_BASE_URL") as refusal:
        catalog(tmp_path, {"OPENAI_BASE_URL": url}).model_for("smart", Models(smart="openai/x"))
    assert url in str(refusal.value)


@pytest.mark.parametrize("key", ["two words", "line\nend", "schlüssel"])
def test_a_key_that_is_none_is_said_and_not_shown(tmp_path: Path, key: str) -> None:
    with pytest.raises(NoSuchModel, match="brain keys set anthropic") as refusal:
        catalog(tmp_path, {"ANTHROPIC_API_KEY": key}).model_for("smart", Models(smart="anthropic/x"))
    assert key not in str(refusal.value)


@pytest.mark.parametrize(
    ("provider", "given", "asked"),
    [
        ("groq", "https://api.groq.example/openai/v1", "https://api.groq.example"),
        ("groq", "https://api.groq.example/", "https://api.groq.example"),
        ("anthropic", "http://proxy/v1/", "http://proxy"),
        ("gemini", "http://proxy/gemini/v1beta", "http://proxy/gemini"),
        ("openai", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
    ],
)
def test_an_address_may_be_given_with_what_the_sdk_adds_to_it(provider: str, given: str, asked: str) -> None:
    assert root(provider, given) == asked


def test_a_chain_begins_with_the_first_that_can_be_used(tmp_path: Path) -> None:
    found = catalog(tmp_path, {"GROQ_API_KEY": "k"})
    told: list[Switch] = []
    chain = "anthropic/a,groq/openai/gpt-oss-20b,martian/x,offline/basic"
    model = found.model_for("smart", Models(smart=chain), told.append)
    assert (model.provider, model.name) == ("groq", "openai/gpt-oss-20b")
    (switch,) = told
    assert (switch.fallback_from, switch.model) == ("anthropic/a", "openai/gpt-oss-20b")
    assert "brain keys set anthropic" in switch.reason


def test_whoever_stands_in_a_chain_twice_is_asked_once(tmp_path: Path) -> None:
    named = "groq/a, openai/b ,groq/a,,openai/b"
    assert catalog(tmp_path).chain("smart", Models(smart=named)) == ["groq/a", "openai/b"]


def test_the_list_says_where_a_key_comes_from_and_never_the_key(tmp_path: Path) -> None:
    listed = catalog(tmp_path, {"GROQ_API_KEY": "canary"}).list()
    assert "GROQ_API_KEY in the environment" in listed.models[0].why
    assert "canary" not in listed.to_json()
