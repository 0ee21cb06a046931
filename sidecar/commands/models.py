"""`brain models`: which model plays which role, whether it can be used, and the servers on this machine."""

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.commands import options
from sidecar.commands.client import Json
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_FAILED
from sidecar.commands.sidecars import looking
from sidecar.commands.style import Style, style_for
from sidecar.commands.text import safe_line
from sidecar.config.keys import Keys
from sidecar.config.settings import ModelSettings, SettingsError, load

if TYPE_CHECKING:
    from sidecar.models.local import LocalServer
    from sidecar.wire.system import ModelList

ABOUT = """\
Say which model plays which role, whether each can be used and why not, and which model servers run on this machine
(Ollama, LM Studio, llama.cpp, vLLM, on their usual ports), with what their models can really do."""
EXAMPLES = """\
examples:
  brain models
  brain models --no-search                  ask no local server
  brain models --test                       one small request to each: does it answer, does it call tools
  brain models --test groq/openai/gpt-oss-20b
  BRAIN_MODEL_SMART=anthropic/claude-sonnet-5-5,groq/openai/gpt-oss-120b brain models
"""
#: A model that has to be loaded first takes its time.
TEST_SECONDS = 90.0


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--no-search", action="store_true", help="look for no servers on this machine")
    parser.add_argument(
        "--test", nargs="?", const="", metavar="MODEL", help="try one model, or all that play a role, with a request"
    )
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    if args.test is not None:
        return _test(args)
    from sidecar.models.local import find, to_wire

    listed = listing(options.data_dir(args))
    servers = [] if args.no_search else find()
    if args.json:
        print(json.dumps(listed.model_dump(by_alias=True) | to_wire(servers).model_dump(by_alias=True)))
        return 0
    style = style_for()
    for role in listed.roles:
        print(f"{style.bold(f'{role.role:<8}')} {', then '.join(role.chain)}")
    print()
    for model in listed.models:
        mark = style.green("ok     ") if model.available else style.red("missing")
        print(f"{mark} {model.name}: {safe_line(model.why)}")
    for server in servers:
        print("\n".join(["", *told(server, style)]))
    return 0


def _test(args: argparse.Namespace) -> int:
    with looking(options.data_dir(args)) as client:
        chains = [role["chain"] for role in client.get("/api/brain/models")["roles"]] if not args.test else []
        names = [args.test] if args.test else [*dict.fromkeys(name for chain in chains for name in chain)]
        tests = [client.post("/api/brain/models/test", {"model": name}, timeout=TEST_SECONDS) for name in names]
    style = style_for()
    print(json.dumps(tests) if args.json else "\n".join(tested(test, style) for test in tests))
    return 0 if all(test["ok"] for test in tests) else EXIT_FAILED


def tested(test: Json, style: Style) -> str:
    mark = style.green("ok     ") if test["ok"] else style.red("failed ")
    holds = style.dim(f" ({test['contextWindow']:,} tokens)") if test.get("contextWindow") else ""
    return f"{mark} {safe_line(test['message'])}{holds}"


def listing(data_dir: Path) -> "ModelList":
    from sidecar.models.catalog import Catalog
    from sidecar.offline.registration import OFFLINE

    try:
        settings = load(os.environ)
    except SettingsError as error:
        raise CommandFailed(str(error)) from error
    keys = Keys(os.environ, data_dir, ModelSettings(settings).served_at)
    return Catalog(settings, Path(settings.scripts or data_dir / "scripts"), OFFLINE, keys).list()


def told(server: "LocalServer", style: Style) -> list[str]:
    lines = [f"{style.bold(server.kind)} at {server.base_url}"]
    for model in server.models:
        holds = f"{model.context_tokens:,} tokens" if model.context_tokens else "size not said"
        able = {True: "tools", False: "no tools: driven by a JSON schema", None: "tools not said"}[model.tools]
        lines.append(f"  openai/{safe_line(model.name)}  {style.dim(f'{holds}, {able}')}")
    return [*lines, style.cyan(f"  → brain use openai/NAME --at {server.base_url}")]
