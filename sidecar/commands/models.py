"""`brain models`: which model plays which role, whether it can be used, and the servers on this machine."""

import argparse
import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.commands import options
from sidecar.commands.errors import CommandFailed
from sidecar.commands.style import Style, style_for
from sidecar.commands.text import safe_line
from sidecar.config.keys import Keys
from sidecar.config.settings import BadSettings, load

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
  BRAIN_MODEL_SMART=anthropic/claude-sonnet-5-5,groq/openai/gpt-oss-120b brain models
"""


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--no-search", action="store_true", help="look for no servers on this machine")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    from sidecar.models.local import find

    listed = listing(options.data_dir(args))
    servers = [] if args.no_search else find()
    if args.json:
        found = [dataclasses.asdict(server) for server in servers]
        print(json.dumps({**listed.model_dump(by_alias=True), "servers": found}))
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


def listing(data_dir: Path) -> "ModelList":
    from sidecar.models.catalog import Catalog

    try:
        settings = load(os.environ)
    except BadSettings as error:
        raise CommandFailed(str(error)) from error
    return Catalog(settings, Path(settings.scripts or data_dir / "scripts"), Keys(os.environ, data_dir)).list()


def told(server: "LocalServer", style: Style) -> list[str]:
    lines = [f"{style.bold(server.kind)} at {server.base_url}"]
    for model in server.models:
        holds = f"{model.context_tokens:,} tokens" if model.context_tokens else "size not said"
        able = {True: "tools", False: "no tools: driven by a JSON schema", None: "tools not said"}[model.tools]
        lines.append(f"  openai/{safe_line(model.name)}  {style.dim(f'{holds}, {able}')}")
    return [*lines, style.cyan(f"  → OPENAI_BASE_URL={server.base_url} BRAIN_MODEL_SMART=openai/NAME brain")]
