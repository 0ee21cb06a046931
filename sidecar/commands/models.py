"""`brain keys`, `brain models` and `brain use`: providers' keys, and which model plays which role."""

import argparse
import getpass
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.client.client import Json
from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_FAILED, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir
from sidecar.commands.text import Style, print_json, safe_line, style_for
from sidecar.config.keys import NAMES, VARIABLES, Keys, looks_like_key
from sidecar.config.settings import ModelSettings, load

if TYPE_CHECKING:
    from sidecar.models.local import LocalServer
    from sidecar.wire.system import ModelList

#: A server may have to load the model first.
TEST_SECONDS = 90.0


def keys(args: argparse.Namespace) -> int:
    found = Keys(os.environ, data_dir(args))
    if args.action == "list":
        return _list_keys(found, as_json=args.json)
    if args.provider is None:
        raise CommandFailed(f"Name a key: brain keys {args.action} {'|'.join(NAMES)}", EXIT_USAGE)
    if args.action in ("remove", "rm"):
        if not found.remove(args.provider):
            raise CommandFailed(f"No key for {args.provider} is stored.")
        print(f"Removed the key for {args.provider}.")
        return 0
    place = found.store(args.provider, _read_key(args.provider))
    where = "your system's keyring" if place == "keyring" else "a private file in the data directory"
    print(f"Stored the key for {args.provider} in {where}. {_used(args.provider)}")
    origin = found.origin(args.provider)
    if origin is not None and origin.place.endswith("environment"):
        print(f"Note: {origin.place} wins while it is set.", file=sys.stderr)
    return 0


def _used(name: str) -> str:
    return "The next task uses it." if name in VARIABLES else "Doors and sandboxes use it from their next start."


def _read_key(provider: str) -> str:
    """From a prompt or standard input; never from the command line, which other users can see."""
    text = getpass.getpass(f"Key for {provider}: ") if sys.stdin.isatty() else sys.stdin.readline()
    key = text.strip()
    if not looks_like_key(key):
        raise CommandFailed("That isn't a key; nothing was stored.", EXIT_USAGE)
    return key


def _list_keys(found: Keys, *, as_json: bool) -> int:
    # Most people have no keys of doors and sandboxes, so list only those that exist.
    origins = {name: origin for name in NAMES if (origin := found.origin(name)) or name in VARIABLES}
    if as_json:
        return print_json({provider: origin.place if origin else None for provider, origin in origins.items()})
    style = style_for()
    for provider, origin in origins.items():
        place = origin.place if origin else style.dim(f"none; brain keys set {provider}")
        print(f"{style.bold(f'{provider:<14}')} {place}")
    return 0


def models(args: argparse.Namespace) -> int:
    if args.test is not None:
        return _test(args)
    from sidecar.models.local import find, to_wire

    listed = _list_models(data_dir(args))
    servers = [] if args.no_search else find()
    if args.json:
        return print_json(listed.model_dump(by_alias=True) | to_wire(servers).model_dump(by_alias=True))
    style = style_for()
    for role in listed.roles:
        print(_format_role(role.role, role.chain, style))
    print()
    for model in listed.models:
        mark = style.green("ok     ") if model.available else style.red("missing")
        print(f"{mark} {model.name}: {safe_line(model.why)}")
    for server in servers:
        print("\n".join(["", *_format_server(server, style)]))
    return 0


def _test(args: argparse.Namespace) -> int:
    with reading(data_dir(args)) as client:
        chains = [role["chain"] for role in client.get("/api/brain/models")["roles"]] if not args.test else []
        names = [args.test] if args.test else [*dict.fromkeys(name for chain in chains for name in chain)]
        tests = [client.post("/api/brain/models/test", {"model": name}, timeout=TEST_SECONDS) for name in names]
    style = style_for()
    print(json.dumps(tests) if args.json else "\n".join(_format_test(test, style) for test in tests))
    return 0 if all(test["ok"] for test in tests) else EXIT_FAILED


def use(args: argparse.Namespace) -> int:
    wanted: Json = {"model": args.model, "force": args.force}
    wanted |= {"role": args.role} if args.role else {}
    if args.at is not None:
        wanted["baseUrl"] = "" if args.at == "openai" else args.at
    with reading(data_dir(args)) as client:
        answer = client.put("/api/brain/models/use", wanted, timeout=TEST_SECONDS)
    print(json.dumps(answer, ensure_ascii=False) if args.json else "\n".join(_format_choice(answer)))
    return 0 if answer["changed"] else EXIT_FAILED


def _list_models(directory: Path) -> "ModelList":
    from sidecar.models.catalog import Catalog
    from sidecar.offline import OFFLINE

    settings = load(os.environ)
    found = Keys(os.environ, directory, ModelSettings(settings).served_at)
    return Catalog(settings, Path(settings.scripts or directory / "scripts"), OFFLINE, found).list()


def _format_role(role: str, chain: list[str], style: Style) -> str:
    return f"{style.bold(f'{role:<8}')} {', then '.join(chain)}"


def _format_test(test: Json, style: Style) -> str:
    mark = style.green("ok     ") if test["ok"] else style.red("failed ")
    size = style.dim(f" ({test['contextWindow']:,} tokens)") if test.get("contextWindow") else ""
    return f"{mark} {safe_line(test['message'])}{size}"


def _format_choice(answer: Json) -> list[str]:
    style = style_for()
    lines = [_format_test(test, style) for test in answer["tests"]]
    if not answer["changed"]:
        return [*lines, "Nothing changed. Add --force to choose it anyway."]
    lines += [
        safe_line(answer["message"]),
        *(_format_role(role["role"], role["chain"], style) for role in answer["roles"]),
    ]
    return [*lines, *(style.dim(f"Undo: {safe_line(command)}") for command in answer["back"])]


def _format_server(server: "LocalServer", style: Style) -> list[str]:
    lines = [f"{style.bold(server.kind)} at {server.base_url}"]
    for model in server.models:
        size = f"{model.context_tokens:,} tokens" if model.context_tokens else "context size unknown"
        able = {True: "tools", False: "no tools; driven by a JSON schema", None: "tool support unknown"}[model.tools]
        lines.append(f"  openai/{safe_line(model.name)}  {style.dim(f'{size}, {able}')}")
    return [*lines, style.cyan(f"  → brain use openai/NAME --at {server.base_url}")]
