"""`brain tools`, `tool`, `route`, `policy` and `trust`: tools, and what they may do."""

import argparse
import json
import re
import shlex
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from sidecar.client.client import Client, Json
from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_FAILED, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, workspace
from sidecar.commands.text import clip, print_json, safe, safe_line, style_for, terminal_columns
from sidecar.config.repositories import is_remote_name, normalize_repository

TOOL_SECONDS = 3_600.0

_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def list_tools(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        tools: list[Json] = client.get("/api/brain/tools")["tools"]
    if args.json:
        return print_json(tools, indent=2)
    style = style_for()
    columns = terminal_columns()
    effects = {"none": "", "files": style.yellow("  changes files"), "command": style.yellow("  runs a program")}
    for tool in sorted(tools, key=lambda tool: str(tool["name"])):
        print(f"{style.bold(tool['name'])} {style.cyan(_signature(tool['parameters']))}{effects[tool['effects']]}")
        print(style.dim(clip(f"  {tool['description'].splitlines()[0]}", columns - 1)))
    print(style.dim("\nRun one: brain tool NAME key=value …"))
    return 0


def _signature(parameters: Json) -> str:
    required = parameters.get("required", [])
    return " ".join(name if name in required else f"[{name}]" for name in parameters.get("properties", {}))


def run_tool(args: argparse.Namespace) -> int:
    place = workspace(args)
    call: Json = {"tool": args.name, "args": parse_arguments(args.args)}
    body: Json = {"workspace": str(place), "calls": [call], "approvals": args.approvals}
    with reading(data_dir(args), place) as client:
        result = client.post("/api/brain/tools/batch", body, timeout=TOOL_SECONDS)["results"][0]
    if args.json:
        print_json(result)
    elif result["status"] == "success":
        text = result["content"]
        print(safe(text) if sys.stdout.isatty() else text)
    else:
        error = result.get("error") or {"code": result["status"], "message": result["content"]}
        hint = " Add --approvals auto to let it run." if error["code"] == "approval_required" else ""
        print(f"{style_for(sys.stderr).red('✗')} {safe(error['message'])}{hint}", file=sys.stderr)
    return 0 if result["status"] == "success" else EXIT_FAILED


def parse_arguments(words: list[str]) -> dict[str, Any]:
    """`key=value` words; a value that is JSON is taken as JSON, anything else as text."""
    given: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise CommandFailed(f"{word!r} is not an argument; write key=value.", EXIT_USAGE)
        try:
            given[name] = json.loads(value)
        except ValueError:
            given[name] = value
    return given


def route(args: argparse.Namespace) -> int:
    if not args.task.strip():
        raise CommandFailed('The task is empty. Say what to do: brain route "run the tests"', EXIT_USAGE)
    with reading(data_dir(args)) as client:
        # A trusted workspace may add slash commands.
        asked = {"task": args.task, "context": {"workspace": str(workspace(args))}}
        found = client.post("/api/brain/route", asked)
    if args.json:
        return print_json(found)
    style = style_for()
    print(f"{style.bold(found['intent'])}  {' → '.join(found['pipeline'])}")
    print(style.dim(f"because {found['why']} (confidence {found['confidence']:.0%})"))
    return 0


def trust(args: argparse.Namespace) -> int:
    remote = is_remote_name(args.directory)
    place = args.directory if remote else str(Path(args.directory).resolve())
    with reading(data_dir(args), Path.cwd() if remote or not Path(place).is_dir() else Path(place)) as client:
        before = answer = client.get("/api/brain/trust")
        if not args.list:
            answer = client.post("/api/brain/trust", {"workspace": place, "trusted": not args.revoke})
    if args.json:
        return print_json(answer)
    style = style_for()
    if not args.list and not args.revoke:
        # What you trusted before and what you trust now.
        for entry in before["workspaces"]:
            if entry["workspace"] == place and entry.get("diff"):
                print(style.dim("Changed since you trusted it:"))
                print(safe(entry["diff"]))
    names = {place, normalize_repository(place)}
    for entry in answer["workspaces"]:
        if args.list or entry["workspace"] in names:
            mark = style.green("trusted    ") if entry["trusted"] else style.yellow("not trusted")
            print(f"{mark}  {safe_line(entry['workspace'])}  {style.dim(entry['why'])}")
    return 0


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
        print_json(answer)
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
