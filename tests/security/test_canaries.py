"""Planted keys are nowhere to be found: not in the journal, the events, the logs, what a model reads, or a command's
environment."""

import base64
import json
from pathlib import Path

import pytest

from sidecar.config.keys import Keys
from sidecar.telemetry.redaction import REDACTED, Redactor, environment_secrets
from tests.e2e.support import running_sidecar
from tests.support.workbench import workbench

KEY = "canary-0123456789-planted"
LOOKS = "sk-ant-api03-" + "Ab3" * 12


#: One of each kind. They are put together here, so that no scanner takes this file for a leak.
BODY = "Q7w3Er9Ty2Ui5Op8As1Df4Gh6Jk0Lz"
PLANTED = {
    "url": f"postgres://app:{BODY}@db.example/app",
    "url without a user": f"redis://:{BODY}@cache:6379/0",
    "URL with nothing but a token": f"https://{BODY}aBcD1234@git.example/x.git",
    "header in a Git configuration": f"\textraheader = AUTHORIZATION: basic {BODY}==",
    "header of a command": f"curl -H 'Authorization: Bearer {BODY}'",
    "header in JSON": f'"authorization": "token {BODY}"',
    "AWS secret": f"aws_secret_access_key = {BODY}aB/cD+eF1g",
    "AWS secret in JSON": f'"SecretAccessKey": "{BODY}aB/cD+eF1g"',
    "AWS key": "AKIA" + "Q7W3ER9TY2UI5OP8",
    "Hugging Face": "hf_" + BODY + "xYz1",
    "SendGrid": "SG." + BODY[:22] + "." + BODY + "aBcDeFgHiJkLm",
    "GitHub": "github_pat_11" + BODY + "_" + BODY,
    "Slack": "xoxb-123456789012-" + BODY,
    "Slack hook": "https://hooks.slack.com/services/T00000000/B00000000/" + BODY,
    "Stripe": "sk_live_" + BODY,
    "Google": "AIza" + BODY + "abcde",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + BODY,
    "private key": f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}{BODY}\n-----END RSA PRIVATE KEY-----",
    "PGP key": f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{BODY}{BODY}\n-----END PGP PRIVATE KEY BLOCK-----",
}


@pytest.mark.parametrize("kind", PLANTED)
def test_each_kind_is_redacted_whole_in_pieces_and_inside_code(kind: str) -> None:
    redact, secret = Redactor(), PLANTED[kind]
    for text in (secret, f"x = '{secret}'\n", f"{{'a': \"{secret}\"}}", f"+{secret}\n context\n"):
        assert BODY not in redact(text) and REDACTED in redact(text), kind
    for length in range(len(secret) // 2, len(secret)):
        if "BEGIN" not in secret:
            piece = f"output: {secret[:length]}"
            assert BODY[:12] not in redact(piece[: redact.open_end(piece)]), "a stream waits for the rest"


ORDINARY = (
    "da39a3ee5e6b4b0d3255bfef95601890afd80709 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "9b2d1b1a-8a4f-4a5b-8c1d-0f4d3c2b1a00",
    "secret_key = da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "sk-toggleable__control-label sk-estimator-doc-link-wrapper",
    "https://user:password@example.com https://{user}:{password}@{host} postgres://postgres:postgres@localhost",
    "http://localhost:8080/@vite/client git+ssh://git@github.com:org/x https://esm.sh:443/react@18",
    "postgres://app:${DB_PASSWORD}@db mysql://%(user)s:%(password)s@db",
    "DB_PASSWORD=os.environ['DB_PASSWORD']; password: str = field(); token = next(tokens)",
    'START = "-----BEGIN OPENSSH PRIVATE KEY-----"\nEND = "-----END OPENSSH PRIVATE KEY-----"\ndef load(): ...',
    "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE Authorization: Bearer ${TOKEN} authorization=basic auth",
    "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/1 https://a-long-user-name-without-a-number-at-all@x.example",
    "hf_hub_download hf_tokenizer_config SG.module.name AIzawa npm_config_registry eyJust",
)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_code_words_hashes_and_identifiers_stay(text: str) -> None:
    assert Redactor()(text) == text


def test_our_own_sources_hold_nothing_that_is_redacted() -> None:
    redact, root = Redactor(), Path(__file__).parents[2]
    blotted = []
    for folder in ("sidecar", "tools", "bridge", "packaging", "frontend/src"):
        for file in (root / folder).rglob("*"):
            if file.suffix in (".py", ".ts", ".tsx", ".md", ".toml", ".txt", ".css") and file.is_file():
                text = file.read_text(encoding="utf-8")
                blotted += [str(file)] if redact(text) != text else []
    assert blotted == []


def test_every_kind_planted_in_a_workspace_is_found_nowhere(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, HF_TOKEN=f"{KEY}-hf") as sidecar:
        (sidecar.workspace / "config.py").write_text("\n".join(PLANTED.values()) + "\nPLAIN = 'plain-text'\n")
        (sidecar.workspace / ".env").write_text(f"DB_PASSWORD={KEY}\nPORT=4711\n")
        calls: list[tuple[str, dict[str, object]]] = [
            ("read_file", {"path": "config.py"}),
            ("read_file", {"path": ".env"}),
            ("search_code", {"query": "[A-Z]", "regex": True}),
            ("search_code", {"query": "PASSWORD", "glob": ".env"}),
            ("search_code", {"query": BODY[3:11]}),
            ("read_file", {"path": "config.py", "startLine": 15, "endLine": 15}),
            ("run_command", {"command": "cat config.py .e*; env; exit 3"}),
            ("run_command", {"command": ["grep", "-r", "PASSWORD", "."]}),
        ]
        replies = [{"calls": [{"tool": tool, "args": args}]} for tool, args in calls]
        models = sidecar.script("plants", [*replies, {"text": "done"}])
        task_id = sidecar.execute("x", models=models, approvals="auto", agentType="terminal", intent="run_command")
        with sidecar.stream(task_id) as stream:
            live = "\n".join(json.dumps(event) for event in stream)
        assert "plain-text" in live and REDACTED in live
        told = json.dumps([sidecar.task(task_id), sidecar.events(task_id)])
        sidecar.close()
        kept = [place for place in sidecar.data_dir.rglob("*") if place.is_file()]
        assert [place.name for place in [*kept, sidecar.log_file] if BODY.encode() in place.read_bytes()] == []
        everywhere = b"".join(place.read_bytes() for place in [*kept, sidecar.log_file]) + (live + told).encode()
        assert [kind for kind in PLANTED if BODY.encode() in everywhere] == []
        assert KEY.encode() not in everywhere, "also what a command printed of a file that holds secrets"


def test_undo_restores_the_bytes_and_the_blobs_are_private(tmp_path: Path) -> None:
    """The one exception: a changed file is kept byte by byte, in files that only you can read."""
    with running_sidecar(tmp_path) as sidecar:
        place = sidecar.workspace / "settings.py"
        place.write_text(f"KEY = '{LOOKS}'\nx = 1\n")
        edit = {"tool": "edit_file", "args": {"path": "settings.py", "oldText": "x = 1", "newText": "x = 2"}}
        models = sidecar.script("edits", [{"calls": [edit]}, {"text": "done"}])
        task_id = sidecar.execute("x", models=models, agentType="coder", intent="edit_code", verify="off")
        sidecar.wait_for_end(task_id)
        assert LOOKS not in json.dumps([sidecar.task(task_id), sidecar.events(task_id)]), "never sent out"
        assert sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": 0, "conversation": False}).status < 300
        assert place.read_text() == f"KEY = '{LOOKS}'\nx = 1\n"
        modes = [each.stat().st_mode & 0o077 for each in sidecar.data_dir.rglob("journal*") if each.is_file()]
        assert modes and not any(modes)


def test_a_planted_key_is_found_nowhere(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, ANTHROPIC_API_KEY=KEY, DATABASE_PASSWORD=f"{KEY}-2") as sidecar:
        (sidecar.workspace / "settings.py").write_text(f"KEY = '{KEY}'\nOTHER = '{LOOKS}'\nPLAIN = 'plain-text'\n")
        slowly = f"printf %s {KEY[:10]}; sleep 0.1; echo {KEY[10:]}"
        replies = [
            {"calls": [{"tool": "read_file", "args": {"path": "settings.py"}}]},
            {"calls": [{"tool": "search_code", "args": {"query": "canary"}}]},
            {"calls": [{"tool": "run_command", "args": {"command": "cat settings.py; env; exit 3"}}]},
            {
                "calls": [
                    {
                        "tool": "run_command",
                        "args": {"command": slowly.replace(KEY[:10], "$(head -c 16 settings.py | tail -c 9)")},
                    }
                ]
            },
            {"calls": [{"tool": "run_command", "args": {"command": ["no-such-program", "x"]}}]},
            {"text": "done"},
        ]
        models = sidecar.script("reads", replies)
        script = (sidecar.data_dir / "scripts" / "reads.json").read_text()
        assert KEY not in script
        task_id = sidecar.execute("x", models=models, approvals="auto", agentType="terminal", intent="run_command")
        with sidecar.stream(task_id) as stream:
            live = [json.dumps(event) for event in stream]
        assert any(REDACTED in event for event in live), "it was redacted, not missing"
        assert any("plain-text" in event for event in live)
        environ = sidecar.post(
            "/api/brain/tools/batch",
            {"calls": [{"tool": "run_command", "args": {"command": "env"}}], "approvals": "auto"},
        ).body.decode()
        sidecar.close()
        kept = [place for place in sidecar.data_dir.rglob("*") if place.is_file()]
        found = [place for place in [*kept, sidecar.log_file] if _holds(place.read_bytes())]
        assert found == []
        assert not [event for event in live if _holds(event.encode())]
        assert not _holds(environ.encode())
        assert "ANTHROPIC_API_KEY" not in environ


def test_what_the_user_says_is_kept_shown_and_read_without_the_secrets_in_it(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, ANTHROPIC_API_KEY=KEY, BRAIN_LET_THROUGH="let-through-0123456789") as sidecar:
        (sidecar.workspace / "AGENTS.md").write_text(f"# Rules\nThe key is {KEY}.\n")
        (sidecar.workspace / "notes.txt").write_text(f"{'x' * 300} {LOOKS}\n")
        replies = [{"calls": [{"tool": "get_workspace_info", "args": {}}]}, {"text": "one"}, {"text": "two"}]
        models = sidecar.script("hears", replies)
        attached = base64.b64encode(f"KEY={KEY}".encode()).decode()
        context = {
            "selectedCode": f"key = '{LOOKS}'",
            "attachments": [{"name": "a.txt", "mediaType": "text/plain", "data": attached}],
        }
        text = f"use {KEY} and {LOOKS}, let-through-0123456789, and look at @notes.txt"
        task_id = sidecar.execute(text, models=models, context=context, intent="edit_code", agentType="coder")
        sidecar.wait_for_end(task_id)
        assert sidecar.post(f"/api/brain/tasks/{task_id}/messages", {"text": f"again {KEY}"}).status < 300
        sidecar.wait_for_end(task_id)
        told = json.dumps([sidecar.task(task_id), sidecar.events(task_id)])
        assert f"{REDACTED}anthropic-key]" in told
        assert "let-through-0123456789" in told
        sidecar.close()
        kept = [place for place in sidecar.data_dir.rglob("*") if place.is_file()]
        assert [place for place in [*kept, sidecar.log_file] if _holds(place.read_bytes())] == []
        assert attached.encode() not in b"".join(place.read_bytes() for place in kept)
        assert not _holds(told.encode())


def _holds(content: bytes) -> bool:
    return KEY.encode() in content or LOOKS.encode() in content


def test_a_value_can_be_let_through_knowingly() -> None:
    redact = Redactor(lambda: {"A_KEY": KEY}, {LOOKS})
    assert redact(f"{KEY} {LOOKS}") == f"{REDACTED}A_KEY] {LOOKS}"


def test_a_key_that_is_put_away_later_is_known_from_then_on_also_when_it_is_taken_out_again(tmp_path: Path) -> None:
    keys = Keys({}, tmp_path)
    redact = Redactor(lambda: {"openai-key": keys.find("openai") or ""}, stamp=keys.stamp)
    assert redact(KEY) == KEY
    (tmp_path / "keys.json").write_text(json.dumps({"openai": {"key": KEY}}))
    assert redact(KEY) == f"{REDACTED}openai-key]"
    keys.remove("openai")
    assert redact(KEY) == f"{REDACTED}openai-key]"


def test_a_secret_that_comes_in_pieces_is_waited_for() -> None:
    redact = Redactor(lambda: {"A_KEY": KEY})
    assert redact.open_end(f"hello {KEY[:7]}") == len("hello ")
    assert redact.open_end("hello\n") == len("hello\n")


def test_what_an_environment_calls_secret_is_known_and_paths_are_not() -> None:
    environ = {"MY_TOKEN": KEY, "SSH_AUTH_SOCK": "/run/x/agent.sock", "PATH": "/usr/bin", "PASSWORD": "short"}
    assert environment_secrets(environ) == {"MY_TOKEN": KEY}


async def test_a_mark_is_never_written_in_the_place_of_a_secret(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.write("settings.py", f"KEY = '{LOOKS}'\nx = 1\n")
        shown = await bench.call("read_file", path="settings.py")
        assert LOOKS not in shown.content and REDACTED in shown.content
        outcome = await bench.call(
            "write_file", path="settings.py", content=f"KEY = '{REDACTED}anthropic-key]'\nx = 2\n"
        )
        assert outcome.error is not None and outcome.error.code == "invalid_arguments"
        assert LOOKS.encode() in bench.read("settings.py")
        edited = await bench.call("edit_file", path="settings.py", oldText="x = 1", newText="x = 2")
        assert edited.status == "success"
        assert bench.read("settings.py") == f"KEY = '{LOOKS}'\nx = 2\n".encode()
