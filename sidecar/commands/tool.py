"""`brain tool`: run one tool, without a model."""

import argparse
import json
import sys
from typing import Any

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_FAILED, EXIT_USAGE
from sidecar.commands.sidecars import looking
from sidecar.commands.style import style_for
from sidecar.commands.text import safe

ABOUT = """\
Run one tool through the same door as the agents: arguments checked, policy asked, output bounded. A value that is
JSON is taken as JSON, anything else as text; to force text, quote it twice: query='"42"'."""
EXAMPLES = """\
examples:
  brain tool list_dir path=sidecar
  brain tool search_code query=TODO maxResults=5
  brain tool run_command command='git status' --approvals auto
  brain tool read_file path=README.md startLine=1 endLine=5 --json
"""
SECONDS = 3_600.0


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the tool; `brain tools` lists them")
    parser.add_argument("args", metavar="key=value", nargs="*", help="its arguments")
    options.add_workspace(parser)
    parser.add_argument(
        "--approvals",
        choices=("ask", "auto", "readonly"),
        default="ask",
        help="auto lets it run commands (default: ask)",
    )
    parser.add_argument("--json", action="store_true", help="the whole answer, as JSON")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    workspace = options.workspace(args)
    call: Json = {"tool": args.name, "args": arguments(args.args)}
    body: Json = {"workspace": str(workspace), "calls": [call], "approvals": args.approvals}
    with looking(options.data_dir(args), workspace) as client:
        result = client.post("/api/brain/tools/batch", body, timeout=SECONDS)["results"][0]
    if args.json:
        print(json.dumps(result, ensure_ascii=False))
    elif result["status"] == "success":
        text = result["content"]
        print(safe(text) if sys.stdout.isatty() else text)
    else:
        print(_refused(result), file=sys.stderr)
    return 0 if result["status"] == "success" else EXIT_FAILED


def arguments(words: list[str]) -> dict[str, Any]:
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


def _refused(result: Json) -> str:
    error = result.get("error") or {"code": result["status"], "message": result["content"]}
    hint = " Add --approvals auto to let it run." if error["code"] == "approval_required" else ""
    return f"{style_for(sys.stderr).red('✗')} {safe(error['message'])}{hint}"
