"""What the panel sets up with a click: keys that are put away and never told, and the examination with its remedies."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.servers.stage import CANARY
from tests.e2e.support import RunningSidecar, running_sidecar


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path, PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring") as sidecar:
        yield sidecar


def test_a_key_is_put_away_used_and_taken_out_and_reported_by_no_answer(fresh: RunningSidecar, tmp_path: Path) -> None:
    def anthropic(body: bytes) -> dict[str, object]:
        import json

        return next(key for key in json.loads(body)["keys"] if key["provider"] == "anthropic")

    before = fresh.get("/api/brain/keys")
    assert anthropic(before.body)["place"] is None
    put = fresh.request("PUT", "/api/brain/keys", {"provider": "anthropic", "key": f" {CANARY}\n"})
    assert put.status == 200, put.body
    assert anthropic(put.body)["removable"] is True
    assert (tmp_path / "data" / "keys.json").stat().st_mode & 0o777 == 0o600
    smart = next(role for role in fresh.get("/api/brain/models").json["roles"] if role["role"] == "smart")
    assert smart["chain"][0].startswith("anthropic/")
    told = [fresh.get(f"/api/brain/{path}").body for path in ("keys", "models", "doctor", "status")]
    assert not [body for body in [put.body, *told] if CANARY.encode() in body]
    gone = fresh.request("PUT", "/api/brain/keys", {"provider": "anthropic"})
    assert anthropic(gone.body)["place"] is None
    assert CANARY not in (tmp_path / "data" / "keys.json").read_text()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"provider": "anthropic", "key": "two words"}, 422, "no_key"),
        ({"provider": "anthropic", "key": ""}, 422, "no_key"),
        ({"provider": "nobody", "key": "x"}, 404, "unknown_provider"),
        ({"provider": "groq"}, 404, "unknown_key"),
    ],
)
def test_what_is_no_key_is_refused_and_not_repeated(
    fresh: RunningSidecar, body: dict[str, str], status: int, code: str
) -> None:
    refused = fresh.request("PUT", "/api/brain/keys", body)
    assert (refused.status, refused.json["code"]) == (status, code)
    assert "two words" not in refused.json["detail"]


def test_the_examination_offers_what_mends_it_and_finds_it_mended(fresh: RunningSidecar) -> None:
    def finding(about: str) -> dict[str, object]:
        found = fresh.get("/api/brain/doctor").json["findings"]
        return next(one for one in found if one["about"] == about)

    workspace = finding("workspace")
    assert workspace["state"] == "note"
    (remedy,) = workspace["remedies"]  # type: ignore[misc]
    assert remedy == {"kind": "trust", "value": str(fresh.workspace.resolve())}  # type: ignore[has-type]
    fresh.post("/api/brain/trust", {"workspace": str(fresh.workspace), "trusted": True})
    assert finding("workspace")["state"] == "ok"
    assert str(finding("sidecar")["found"]).startswith(f"running at {fresh.url} (process {fresh.pid})")
    assert finding("sandbox")["found"]


def test_without_a_language_model_the_examination_says_so_and_offers_keys(fresh: RunningSidecar) -> None:
    last = fresh.get("/api/brain/doctor").json["findings"][-1]
    assert "No language model" in last["found"]
    assert {"kind": "key", "value": "anthropic"} in last["remedies"]
