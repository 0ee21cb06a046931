"""`brain message`, `brain approve`, `brain answer` and `brain cancel`: act on a task."""

import argparse
import json
import re
import sys
from typing import Literal
from urllib.parse import quote

from sidecar.client.client import Client, Json
from sidecar.client.follow import open_prompts
from sidecar.client.sidecars import Launcher, reading
from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.output import PlainScreen
from sidecar.commands.parser import data_dir, task_id
from sidecar.commands.render import TaskRenderer
from sidecar.commands.run import RunSession
from sidecar.commands.summary import render_approval, render_question
from sidecar.commands.text import short, style_for
from sidecar.commands.watch import choose
from sidecar.wire.text import plural

_TASK_ID = re.compile(r"t_[0-9a-f]{4,20}")


def message(args: argparse.Namespace) -> int:
    if not args.text.strip():
        raise CommandFailed("The message is empty. Say what the task should know or do next.", EXIT_USAGE)
    if args.id is None and _TASK_ID.fullmatch(args.text.strip()):
        # A forgotten message, which would continue another task.
        name = args.text.strip()
        raise CommandFailed(
            f'{name} is a task; nothing was sent. Say the message, too: brain message {name} "…"', EXIT_USAGE
        )
    session = RunSession(args)
    client = session.connect()
    task = task_id(client, args.id)
    last = client.get(f"/api/brain/tasks/{task}")["lastSeq"]
    answer = client.post(f"/api/brain/tasks/{task}/messages", {"text": args.text})
    if args.follow:
        return session.watch(client, task, after=last)
    print(f"Sent; the task is {answer['status']}. Watch it: brain show --follow {short(task)}")
    return 0


def cancel(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        task = task_id(client, args.id)
        last = client.get(f"/api/brain/tasks/{task}")["lastSeq"]
        client.post(f"/api/brain/tasks/{task}/cancel")
        screen, renderer = PlainScreen(sys.stdout), TaskRenderer(style_for())
        for received in client.stream(task, last):
            event = json.loads(received.data)
            if event["type"] in ("status", "cancelled"):
                screen.print(renderer.render(event))
    return 0


def approve(args: argparse.Namespace) -> int:
    client = Launcher(data_dir(args)).client()
    task = task_id(client, args.id)
    waiting = _find_open(client, task, "approval")
    if args.approval is None and not waiting:
        print("The task isn't waiting for approval.")
        return int(args.decision is not None)
    if args.decision is None:
        for approval_id, event in waiting.items():
            print("\n".join(render_approval(style_for(), event)))
            print(style_for().dim(f"    brain approve {short(task)} {approval_id} --allow (or --deny)"))
        return 0
    watch = f"Watch it: brain show --follow {short(task)}"
    if args.all:
        answers = [{"approvalId": each, "decision": args.decision, "scope": args.scope} for each in waiting]
        client.post(f"/api/brain/tasks/{task}/approvals", {"answers": answers})
        print(f"Answered {plural(len(answers), 'approval')}. {watch}")
        return 0
    if args.approval is None and len(waiting) > 1:
        raise CommandFailed(f"{len(waiting)} approvals are open; name one: {', '.join(waiting)}.", EXIT_USAGE)
    approval_id = args.approval or next(iter(waiting))
    body = {"decision": args.decision, "scope": args.scope}
    client.post(f"/api/brain/tasks/{task}/approvals/{quote(approval_id, safe='')}", body)
    print(f"{'Allowed' if args.decision == 'allow' else 'Denied'}. {watch}")
    return 0


def answer(args: argparse.Namespace) -> int:
    if args.answer is None and args.id and not args.id.startswith("t_"):
        args.id, args.answer = None, args.id
    client = Launcher(data_dir(args)).client()
    task = task_id(client, args.id)
    waiting = _find_open(client, task, "question")
    if not waiting:
        print("The task has no open question.")
        return int(args.answer is not None)
    if args.answer is None:
        for question_id, event in waiting.items():
            print("\n".join(render_question(style_for(), event)))
            print(style_for().dim(f"    brain answer {short(task)} ANSWER --question {question_id}"))
        return 0
    if args.question is None and len(waiting) > 1:
        raise CommandFailed(f"{len(waiting)} questions are open; add --question: {', '.join(waiting)}.", EXIT_USAGE)
    question_id = args.question or next(iter(waiting))
    chosen = choose(waiting.get(question_id, {}), args.answer)
    if chosen is None:
        offered = ", ".join(waiting[question_id].get("choices") or ["some text"])
        raise CommandFailed(f"That doesn't answer the question; it takes {offered}.", EXIT_USAGE)
    client.post(f"/api/brain/tasks/{task}/questions/{quote(question_id, safe='')}", {"answer": chosen})
    print(f"Answered: {chosen}. Watch it: brain show --follow {short(task)}")
    return 0


def _find_open(client: Client, task: str, kind: Literal["approval", "question"]) -> dict[str, Json]:
    return {name: event for name, event in open_prompts(client.events(task)).items() if event["type"] == kind}
