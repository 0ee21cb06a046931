"""`brain policy`: explain decisions; list, add and revoke what you permitted."""

import argparse
import json
import re
import shlex
import time
from datetime import datetime
from pathlib import Path

from sidecar.client.client import Client, Json
from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_FAILED, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, workspace
from sidecar.commands.text import print_json, safe_line, style_for
from sidecar.commands.tools import parse_arguments
from sidecar.config.repositories import is_remote_name

_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def explain(args: argparse.Namespace) -> int:
    place = workspace(args)
    call: Json = {"tool": "run_command", "args": {"command": " ".join(args.words)}}
    if args.tool:
        call = {"tool": args.tool, "args": parse_arguments(args.words)}
    body = {**call, "workspace": str(place), "approvals": args.approvals}
    with reading(data_dir(args), place) as client:
        answer = client.post("/api/brain/policy/explain", body)
    style = style_for()
    if args.json:
        print(json.dumps(answer))
    else:
        paint = {"allow": style.green, "ask": style.yellow, "deny": style.red}[answer["decision"]]
        print(f"{paint(answer['decision'])}: {answer['why']}")
    return EXIT_FAILED if answer["decision"] == "deny" else 0


def list_permissions(args: argparse.Namespace) -> int:
    with reading(data_dir(args), Path.cwd()) as client:
        grants = client.get("/api/brain/grants")["grants"]
        approvals = client.get("/api/brain/approvals")["approvals"]
    if args.json:
        return print_json({"grants": grants, "approvals": approvals})
    for each in grants:
        value = f" {safe_line(each['value'])}" if each["value"] else ""
        until = f"  until {datetime.fromtimestamp(each['until']):%Y-%m-%d %H:%M}" if each.get("until") else ""
        print(f"{each['id']}  {safe_line(each['workspace'])}  {each['kind']}{value}{until}")
    for each in approvals:
        call = shlex.join(each["argv"] or [each["action"]])
        print(f"{each['id']}  {safe_line(each['workspace'])}  {safe_line(call)}")
    if not grants and not approvals:
        print("You haven't permitted anything for a whole workspace.")
    return 0


def allow(args: argparse.Namespace) -> int:
    return _grant(args, args.kind, args.value)


def allow_read(args: argparse.Namespace) -> int:
    return _grant(args, "read", str(Path(args.path).expanduser().resolve()))


def allow_host(args: argparse.Namespace) -> int:
    return _grant(args, "host", args.name)


def revoke(args: argparse.Namespace) -> int:
    with reading(data_dir(args), Path.cwd()) as client:
        if args.id in {each["id"] for each in client.get("/api/brain/grants")["grants"]}:
            client.post("/api/brain/grants/revoke", {"id": args.id})
        else:
            client.post("/api/brain/approvals/revoke", _approval(client, args.id))
    print("Revoked; it needs your approval again.")
    return 0


def _approval(client: Client, approval_id: str) -> Json:
    known = {each["id"]: each for each in client.get("/api/brain/approvals")["approvals"]}
    task = known.get(approval_id, {}).get("taskId")
    return {"id": approval_id, **({"taskId": task} if task else {})}


def _grant(args: argparse.Namespace, kind: str, value: str | None) -> int:
    place = args.workspace if is_remote_name(args.workspace) else str(Path(args.workspace).resolve())
    body: Json = {"workspace": place, "kind": kind}
    body |= {"value": value} if value is not None else {}
    body |= {"until": time.time() + _duration(args.duration)} if args.duration else {}
    with reading(data_dir(args), Path.cwd()) as client:
        granted = client.post("/api/brain/grants", body)
    if args.json:
        return print_json(granted)
    what = f" {safe_line(granted['value'])}" if granted["value"] else ""
    print(f"Granted {kind}{what} to {safe_line(granted['workspace'])}. Revoke it: brain policy revoke {granted['id']}")
    return 0


def _duration(text: str) -> float:
    found = re.fullmatch(r"(\d+)([mhdw])", text)
    if found is None:
        raise CommandFailed(f"--for {text}: write a number and m, h, d or w, such as 8h or 30d.", EXIT_USAGE)
    return int(found[1]) * _SECONDS[found[2]]
