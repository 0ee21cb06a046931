"""`brain run`, `brain crew`, `brain resume` and `brain fork`: start or continue a task and watch it."""

import argparse
import base64
import os
import secrets
import select
import sys
from pathlib import Path
from typing import IO

from sidecar.client.client import Client, Json
from sidecar.client.errors import ClientError, Refused, is_stopping
from sidecar.client.sidecars import Launcher
from sidecar.commands.errors import EXIT_DETACHED, EXIT_USAGE, CommandFailed
from sidecar.commands.output import TaskOutput, open_output
from sidecar.commands.parser import data_dir, newest_here, task_id, workspace
from sidecar.commands.table import ROLES
from sidecar.commands.text import print_json, short
from sidecar.commands.watch import Watch

_ATTEMPTS = 3
#: How long to wait for the first bytes on standard input, and for more of them.
PIPED_FIRST_SECONDS = 3.0
PIPED_IDLE_SECONDS = 60.0
PIPED_BYTES = 2 * 1024 * 1024


class RunSession:
    """A working sidecar, started if need be, and the output its task is watched on."""

    def __init__(self, args: argparse.Namespace, place: Path | None = None) -> None:
        self.data_dir = data_dir(args)
        self.form: str | None = "events" if getattr(args, "json", False) else getattr(args, "output", None)
        self.output: TaskOutput = open_output(self.form)
        self.launcher = Launcher(self.data_dir, place, self.output.starting)

    def connect(self) -> Client:
        try:
            return self.launcher.client()
        finally:
            self.output.clear()

    def watch(self, client: Client, task: str, *, after: int = 0) -> int:
        """Watch until the task ends; then stop a sidecar that we started, unless you detached."""
        code = Watch(task, self.data_dir, self.output, self.launcher, cancels=True, after=after).run(client)
        if self.form == "json":
            print_json(self.launcher.client().get(f"/api/brain/tasks/{task}"))
        if code != EXIT_DETACHED:
            self.launcher.release()
        return code


def run(args: argparse.Namespace) -> int:
    place = workspace(args)
    session = RunSession(args, place)
    request = _run_request(args, place, interactive=session.output.interactive)
    if getattr(args, "continue"):
        found = session.connect().get(f"/api/brain/tasks/{newest_here(session.connect(), place)}")
        request["options"]["conversationId"] = found["conversationId"]
    client, task = _execute(session, request)
    return session.watch(client, task)


def crew(args: argparse.Namespace) -> int:
    place = workspace(args)
    session = RunSession(args, place)
    args.plan, args.intent, args.conversation, args.worktree = False, None, None, not (args.here or args.remote)
    request = _run_request(args, place, interactive=session.output.interactive)
    request["options"]["crew"] = True
    client, task = _execute(session, request)
    return session.watch(client, task)


def resume(args: argparse.Namespace) -> int:
    session = RunSession(args)
    client = session.connect()
    task = task_id(client, args.id)
    try:
        client.post(f"/api/brain/tasks/{task}/resume")
    except Refused as refusal:
        # A sidecar that just started resumes interrupted tasks by itself, and may already be done.
        if refusal.code != "task_active" and not (refusal.code == "task_completed" and session.launcher.started):
            raise
    if not args.follow:
        session.output.notice(f"Resumed {task}. Watch it: brain show --follow {short(task)}")
        return 0
    return session.watch(client, task)


def fork(args: argparse.Namespace) -> int:
    session = RunSession(args)
    client = session.connect()
    if args.id and args.task is None and not args.id.startswith("t_"):
        args.id, args.task = None, args.id
    other = task_id(client, args.id)
    key = {"Idempotency-Key": secrets.token_hex(16)}
    task = client.post(f"/api/brain/tasks/{other}/fork", _fork_request(args), headers=key)["taskId"]
    return session.watch(client, task)


def _run_request(args: argparse.Namespace, place: Path, *, interactive: bool) -> Json:
    text = sys.stdin.read() if args.task == "-" else args.task
    context: Json = {"workspace": str(place)}
    if args.remote:
        context = {"repository": {"remote": args.remote} | ({"branch": args.branch} if args.branch else {})}
    elif args.branch:
        raise CommandFailed("--branch belongs to --remote.", EXIT_USAGE)
    if args.task != "-" and (piped := read_piped(sys.stdin.buffer)):
        context["attachments"] = [
            {"name": "standard input", "mediaType": "text/plain", "data": base64.b64encode(piped).decode()}
        ]
    if not text.strip():
        raise CommandFailed('The task is empty. Say what to do: brain run "run the tests"', EXIT_USAGE)
    chosen: Json = {"approvals": args.approvals, "priority": args.priority, "models": parse_models(args.model)}
    chosen |= {"effort": args.effort} if args.effort else {}
    chosen |= {"plan": True} if args.plan else {}
    chosen |= {"isolation": "worktree"} if args.worktree else {}
    chosen |= {"workers": args.workers} if args.workers else {}
    chosen |= {"intent": args.intent} if args.intent else {}
    chosen |= {"conversationId": args.conversation} if args.conversation else {}
    chosen |= {"verify": "off" if args.verify == ["off"] else args.verify} if args.verify else {}
    # Without a terminal the task must not wait for an answer.
    chosen |= {} if interactive else {"unattended": True}
    chosen |= {"maxDuration": args.max_duration} if args.max_duration is not None else {}
    chosen |= {"maxCostUsd": args.max_cost} if args.max_cost is not None else {}
    chosen |= {"maxIterations": args.max_turns} if args.max_turns is not None else {}
    return {"task": text, "context": context, "options": chosen}


def read_piped(stream: IO[bytes], first: float = PIPED_FIRST_SECONDS) -> bytes:
    """What another program or a file gives us as context. An open pipe that stays silent must not stop a script."""
    if stream.isatty() or sys.platform == "win32":
        return b""
    data, wait = b"", first
    while select.select([stream], [], [], wait)[0]:
        part = os.read(stream.fileno(), 65_536)
        if not part:
            return data
        data, wait = data + part, PIPED_IDLE_SECONDS
        if len(data) > PIPED_BYTES:
            problem = f"Standard input is larger than {PIPED_BYTES // 1_048_576} MB; nothing was started."
            raise CommandFailed(f"{problem} Name a file in the task instead.", EXIT_USAGE)
    if data:
        raise CommandFailed(
            f"Standard input was silent for {PIPED_IDLE_SECONDS:.0f} s without ending; nothing was started.", EXIT_USAGE
        )
    print("brain: Nothing came on standard input, so the task starts without it.", file=sys.stderr, flush=True)
    return b""


def _fork_request(args: argparse.Namespace) -> Json:
    chosen: Json = {"models": parse_models(args.model)} if args.model else {}
    chosen |= {"approvals": args.approvals} if args.approvals else {}
    wanted: Json = {"options": chosen, "keepFiles": args.keep_files}
    wanted |= {"seq": args.to} if args.to is not None else {}
    return wanted | ({"task": args.task} if args.task else {})


def parse_models(given: list[str]) -> dict[str, str]:
    """`[ROLE=]PROVIDER/NAME` by role; a model without a role fills the remaining ones."""
    chosen: dict[str, str] = {}
    for word in given:
        role, equals, name = word.partition("=")
        if equals and role in ROLES:
            chosen[role] = name
        elif equals:
            raise CommandFailed(f"--model {word}: unknown role {role}; the roles are {', '.join(ROLES)}.", EXIT_USAGE)
        else:
            chosen |= {role: word for role in ROLES if role not in chosen}
    return chosen


def _execute(session: RunSession, request: Json) -> tuple[Client, str]:
    """Retries with the same key when the sidecar is just stopping, so that it stays one task."""
    key = {"Idempotency-Key": secrets.token_hex(16)}
    for attempt in range(1, _ATTEMPTS + 1):
        client = session.connect()
        try:
            accepted = client.post("/api/brain/execute", request, headers=key)
            if notice := accepted.get("notice"):
                session.output.notice(notice)
            return client, accepted["taskId"]
        except ClientError as error:
            if not is_stopping(error) or attempt == _ATTEMPTS:
                raise
    raise AssertionError("the last attempt returns or raises")
