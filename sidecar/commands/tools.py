"""`brain tools`: what the agents can use, and so can you."""

import argparse
import json
import shutil

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.sidecars import looking
from sidecar.commands.style import is_terminal, style_for
from sidecar.commands.text import clip

ABOUT = "List the tools: what each does, what it takes, and whether it changes anything."
EXAMPLES = """\
examples:
  brain tools
  brain tools --json | jq '.[] | select(.name == "search_code") | .parameters'
"""


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="all of it, as a JSON list")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    with looking(options.data_dir(args)) as client:
        tools: list[Json] = client.get("/api/brain/tools")["tools"]
    if args.json:
        print(json.dumps(tools, ensure_ascii=False, indent=2))
        return 0
    style = style_for()
    columns = shutil.get_terminal_size().columns if is_terminal() else 200
    for tool in sorted(tools, key=lambda tool: str(tool["name"])):
        takes = style.cyan(signature(tool["parameters"]))
        effects = {"none": "", "files": style.yellow("  changes files"), "command": style.yellow("  runs a program")}
        print(f"{style.bold(tool['name'])} {takes}{effects[tool['effects']]}")
        print(style.dim(clip(f"  {tool['description'].splitlines()[0]}", columns - 1)))
    print(style.dim("\nTo run one: brain tool NAME key=value …"))
    return 0


def signature(parameters: Json) -> str:
    required = parameters.get("required", [])
    return " ".join(name if name in required else f"[{name}]" for name in parameters.get("properties", {}))
