"""Reading a file that may hold secrets asks, by every tool and under every name; `auto` and `readonly` deny it."""

import base64
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sidecar.config.data_dir import DataDir
from sidecar.config.trust import Trust
from sidecar.engine.operations import Execute, redact_operation
from sidecar.telemetry.redaction import REDACTED, Redactor
from sidecar.wire.tasks import Attachment, Context, ExecuteRequest
from sidecar.work.context import describe_workspace
from sidecar.work.references import parse_mentions
from tests.support.workbench import Workbench, workbench
from tools.executor.executor import Executor
from tools.policy.policy import Policy
from tools.protected import secret_part

CANARY = "canary-5ecret-value"
PRIVATE = f"-----BEGIN PRIVATE KEY-----\n{CANARY.replace('-', '')}\n-----END PRIVATE KEY-----\n"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIU\n-----END CERTIFICATE-----\n"
SECRET = [
    ".env",
    ".ENV",
    ".Env.production",
    ".env.local",
    ".env.",
    ".env~",
    ".env.bak",
    ".envrc",
    "prod.env",
    "packages/a/.env",
    ".e\u200dnv",
    ".ｅnv",
    "server.pem",
    "certs/SERVER.KEY",
    "id_rsa",
    "id_ed25519",
    "id_work",
    ".ssh/config",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    "credentials",
    "credentials.json",
    ".aws/config",
    ".kube/config",
    "kubeconfig",
    "prod.kubeconfig",
    "service-account.json",
    "service_account_1.json",
    "client_secret_1.json",
    "key.p12",
    "key.pfx",
    "store.jks",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "prod.tfstate",
    ".docker/config.json",
    ".vault-token",
    "secrets.yaml",
    ".htpasswd",
    ".env.swp",
    "#.env#",
]
READABLE = [
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.local.example",
    "example.env",
    "id_rsa.pub",
    ".ssh/id_ed25519.pub",
    "key.pub",
    "environment.py",
    "env.ts",
    "keys.py",
    "tokenizer.json",
    "credentials.py",
    "secrets.py",
    "id_generator.py",
    "keyboard.ts",
    "server.crt",
    "pem.md",
    "id_maps/readme.md",
    "package.json",
    "README.md",
    ".gitignore",
    "kubeconfig_test.go",
]


def trusting(bench: Workbench) -> None:
    """The same workbench in a workspace that the user trusts."""
    data = DataDir(bench.data_dir)
    data.prepare()
    trust = Trust(data)
    trust.set(str(bench.workspace), trusted=True)
    bench.executor = Executor(bench.registry, [bench.backend], Policy(trust.trusted))


@pytest.mark.parametrize("name", SECRET)
def test_such_a_name_is_known_however_it_is_written(name: str) -> None:
    assert secret_part(name)


@pytest.mark.parametrize("name", READABLE)
def test_an_ordinary_name_is_not(name: str) -> None:
    assert secret_part(name) is None


READS: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {"path": ".env"}),
    ("read_file", {"path": "./sub/../.env"}),
    ("read_file", {"path": "notes.txt"}),
    ("read_file", {"path": "folder/config"}),
    ("read_file", {"path": "server.pem"}),
    ("read_files", {"paths": ["main.py", ".env"]}),
    ("read_files", {"paths": ["main.py", "notes.txt"]}),
    ("describe_file", {"path": ".env"}),
    ("analyze_code", {"path": ".env"}),
    ("search_code", {"query": "canary", "path": ".env"}),
    ("git_show", {"ref": "HEAD:.env"}),
    ("git_show", {"ref": "HEAD:./.env"}),
    ("git_show", {"ref": ":0:.env"}),
    ("git_diff", {"path": ".env"}),
    ("git_diff", {"ref": "HEAD:.env", "path": "main.py"}),
    ("git_blame", {"path": ".env"}),
    ("review_changes", {"paths": [".env"]}),
]


def plant(bench: Workbench) -> None:
    bench.write("main.py", "x = 1\n")
    bench.write(".env", f"DB_PASSWORD={CANARY}\nPORT=80\n")
    bench.write("sub/x.txt", "x\n")
    bench.write(".ssh/config", f"password {CANARY}\n")
    bench.write("server.pem", PRIVATE)
    (bench.workspace / "notes.txt").symlink_to(".env")
    (bench.workspace / "folder").symlink_to(".ssh")
    for words in (["init", "-q"], ["add", "-Af"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=bench.workspace, check=True)
    bench.write(".env", f"DB_PASSWORD={CANARY}\nPORT=81\n")


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("approvals", ["auto", "readonly"])
async def test_no_one_reads_one_where_no_one_is_asked(tmp_path: Path, approvals: str, trusted: bool) -> None:
    async with workbench(tmp_path, approvals=approvals) as bench:
        plant(bench)
        if trusted:
            trusting(bench)
        for tool, args in READS:
            outcome = await bench.call(tool, **args)
            assert outcome.error is not None and outcome.error.code == "denied", (tool, args, outcome.content)
            assert "may hold secrets" in outcome.content, "the model is told why"
            assert CANARY not in outcome.model_dump_json()
        assert bench.ledger.questions == []


@pytest.mark.parametrize("trusted", [False, True])
async def test_it_asks_and_a_no_is_one(tmp_path: Path, trusted: bool) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        plant(bench)
        if trusted:
            trusting(bench)
        bench.ledger.answer = "deny"
        for number, (tool, args) in enumerate(READS, 1):
            outcome = await bench.call(tool, **args)
            assert outcome.error is not None and outcome.error.code == "denied", (tool, args, outcome.content)
            assert len(bench.ledger.questions) == number, (tool, args)
            assert CANARY not in outcome.model_dump_json()


async def test_a_yes_shows_the_file_without_the_values_that_it_assigns(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        plant(bench)
        bench.ledger.answer = "allow"
        for tool, args in READS[:3]:
            outcome = await bench.call(tool, **args)
            assert outcome.status == "success", outcome.content
            assert "PORT=81" in outcome.content and f"{REDACTED}DB_PASSWORD]" in outcome.content
            assert CANARY not in outcome.model_dump_json()
        shown = await bench.call("search_code", query="PORT", path=".env")
        assert "PORT=81" in shown.content
        shown = await bench.call("git_diff", path=".env")
        assert "+PORT=81" in shown.content and CANARY not in shown.content


async def test_a_search_over_many_files_passes_them_over_and_tells_nothing_of_them(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        plant(bench)
        bench.write("public.pem", CERTIFICATE)
        hits = [
            await bench.call("search_code", query=query, regex=True, **args)
            for query in (CANARY, "PASSWORD=c", "PASSWORD=x")
            for args in ({}, {"glob": ".env"}, {"glob": "**/.env*"}, {"context": 5}, {"path": "."})
        ]
        assert {hit.content.partition(".")[2] for hit in hits if "No match" in hit.content} != set()
        for hit in hits:
            assert "canary" not in hit.content.partition("for ")[0] and "PORT" not in hit.content
            assert "No match" in hit.content, hit.content
        assert "public.pem" in (await bench.call("search_code", query="MIIBszCCAVmg")).content
        assert bench.ledger.questions == []


async def test_a_diff_leaves_them_out_and_a_blob_has_no_other_name(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        plant(bench)
        bench.write("main.py", "x = 2\n")
        blob = subprocess.run(
            ["git", "rev-parse", "HEAD:.env"], cwd=bench.workspace, check=True, capture_output=True, text=True
        ).stdout.strip()
        for tool, args in (
            ("git_diff", {}),
            ("git_diff", {"ref": "HEAD"}),
            ("git_show", {"ref": "HEAD"}),
            ("git_show", {"ref": blob}),
            ("git_diff", {"ref": blob, "path": "main.py"}),
            ("git_diff", {"ref": f"{blob}..{blob}"}),
            ("review_changes", {}),
            ("review_changes", {"ref": "HEAD"}),
        ):
            outcome = await bench.call(tool, **args)
            assert CANARY not in outcome.model_dump_json() and "PORT" not in outcome.content, (tool, args)
        shown = await bench.call("git_diff")
        assert "+x = 2" in shown.content and "may hold secrets" in shown.content and blob[:7] not in shown.content
        assert "+x = 1" in (await bench.call("git_show", ref="HEAD")).content


async def test_names_are_shown_and_certificates_read_without_a_question(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="readonly") as bench:
        plant(bench)
        bench.write("public.pem", CERTIFICATE)
        bench.write("key.pub", "ssh-ed25519 AAAA me")
        bench.write(".env.example", "DB_PASSWORD=\n")
        for path in ("public.pem", "key.pub", ".env.example"):
            assert (await bench.call("read_file", path=path)).status == "success"
        for tool, args in (
            ("list_dir", {"path": ".ssh"}),
            ("read_directory_tree", {}),
            ("find_files", {"pattern": ".env"}),
        ):
            outcome = await bench.call(tool, **args)
            assert outcome.status == "success" and CANARY not in outcome.model_dump_json()


@pytest.mark.parametrize("path", [".env", "notes.txt", "server.pem"])
async def test_an_edit_that_does_not_fit_quotes_nothing_before_the_answer(tmp_path: Path, path: str) -> None:
    async with workbench(tmp_path, approvals="ask") as bench:
        plant(bench)
        bench.ledger.answer = "deny"
        for tool, args in (
            ("edit_file", {"path": path, "oldText": "DB_PASSWORD=canary-", "newText": "x"}),
            ("edit_file", {"path": path, "oldText": "DB_PASSWORD=wrong", "newText": "x"}),
            ("move_file", {"from": path, "to": "plain.txt"}),
        ):
            outcome = await bench.call(tool, **args)
            assert outcome.error is not None and outcome.error.code == "denied", outcome.content
            assert CANARY not in outcome.model_dump_json()
            assert all(CANARY not in str(question) for question in bench.ledger.questions)
        assert len(bench.ledger.questions) == 3


async def test_a_mention_names_it_and_what_the_user_attaches_loses_its_values(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        plant(bench)
        host = bench.executor.host(str(bench.workspace))
        assert host is not None
        said = await describe_workspace(host, Context(), parse_mentions("look at @.env and @notes.txt and @.env:1-2"))
        assert CANARY not in said and "PORT" not in said and "may hold secrets" in said
    data = base64.b64encode(f"DB_PASSWORD={CANARY}\nPORT=80\n".encode()).decode()
    context = Context(
        current_file="/w/.env",
        selected_code=f"DB_PASSWORD={CANARY}",
        attachments=[Attachment(name=".env", media_type="text/plain", data=data)],
    )
    request = ExecuteRequest(task="x", context=context)
    clean = redact_operation(Execute(request), Redactor())
    assert isinstance(clean, Execute)
    kept = base64.b64decode(clean.request.context.attachments[0].data).decode()
    assert CANARY not in kept and "PORT=80" in kept
    assert CANARY not in (clean.request.context.selected_code or "")
