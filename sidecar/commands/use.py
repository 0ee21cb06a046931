"""`brain use`: which model plays a role from the next task on."""

import argparse
import json

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.exits import EXIT_FAILED
from sidecar.commands.models import tested
from sidecar.commands.sidecars import looking
from sidecar.commands.style import style_for
from sidecar.commands.text import safe_line

ABOUT = """\
Choose the model that plays a role, or every role. It is tried with one small request first, and then written into your
own configuration; the next task uses it, also in a sidecar that is running. `offline` needs no key, `auto` is whatever
there are keys for."""
EXAMPLES = """\
examples:
  brain use anthropic/claude-sonnet-5-5
  brain use --role fast groq/openai/gpt-oss-20b
  brain use anthropic/claude-sonnet-5-5,offline              the second when the first cannot answer
  brain use openai/qwen3 --at http://127.0.0.1:11434/v1      a server on this machine; brain models finds them
  brain use offline
  brain use auto
"""
#: A model that has to be loaded first takes its time.
SECONDS = 90.0


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="provider/name, several with commas; offline; auto")
    parser.add_argument("--role", choices=("fast", "smart", "instant"), help="only this role (default: every role)")
    parser.add_argument("--at", metavar="URL", help="where openai/… is served: on this machine, or `openai` itself")
    parser.add_argument("--force", action="store_true", help="also if it does not answer now")
    parser.add_argument("--json", action="store_true", help="as JSON")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    wanted: Json = {"model": args.model, "force": args.force}
    wanted |= {"role": args.role} if args.role else {}
    if args.at is not None:
        wanted["baseUrl"] = "" if args.at == "openai" else args.at
    with looking(options.data_dir(args)) as client:
        answer = client.put("/api/brain/models/use", wanted, timeout=SECONDS)
    print(json.dumps(answer, ensure_ascii=False) if args.json else "\n".join(_told(answer)))
    return 0 if answer["changed"] else EXIT_FAILED


def _told(answer: Json) -> list[str]:
    style = style_for()
    lines = [tested(test, style) for test in answer["tests"]]
    if not answer["changed"]:
        return [*lines, "Nothing was changed; --force writes it down all the same."]
    lines += [safe_line(answer["message"])]
    for role in answer["roles"]:
        padded = f"{role['role']:<8}"
        lines.append(f"{style.bold(padded)} {', then '.join(role['chain'])}")
    return [*lines, *(style.dim(f"To go back: {safe_line(command)}") for command in answer["back"])]
