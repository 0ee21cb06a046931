"""`brain mcp`: the MCP servers whose tools agents use, and the sidecar itself as an MCP server."""

import argparse
import sys
from pathlib import Path

from sidecar.client.client import Client, Json
from sidecar.client.service import BrainService
from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_FAILED, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, workspace
from sidecar.commands.text import print_json, safe_line, style_for
from sidecar.wire.text import plural

#: A server has 30 s to start.
_TEST_SECONDS = 45.0
_STATES = {"ready": "green", "failed": "red", "changed": "yellow"}


def serve(args: argparse.Namespace) -> int:
    """The sidecar as an MCP server on standard input and output."""
    import asyncio
    import logging

    from sidecar.mcp.server import build_server

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    place, here = data_dir(args), str(workspace(args))
    found: list[BrainService] = []

    async def connect(headers: object) -> BrainService:
        if not found:
            found.append(await asyncio.to_thread(BrainService.local, place))
        return found[0]

    asyncio.run(build_server(connect, here).run_stdio_async())
    return 0


def add(args: argparse.Namespace) -> int:
    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise CommandFailed("Give the server's address, or -- and its command.", EXIT_USAGE)
    entry: Json = {}
    if "://" in command[0] and not command[0].startswith(("http://", "https://")):
        raise CommandFailed("The address must begin with http:// or https://; nothing was added.", EXIT_USAGE)
    if command[0].startswith(("http://", "https://")) and len(command) == 1:
        entry |= {"type": "http", "url": command[0]}
        entry |= {"headers": _pairs(args.header, ":")} if args.header else {}
    else:
        entry |= {"command": command[0], "args": command[1:]}
        entry |= {"env": _pairs(args.env, "=")} if args.env else {}
    grants: Json = {"network": True} if args.network else {}
    for name in ("read", "write"):
        if paths := getattr(args, name):
            grants[name] = [path if path.startswith("${") else str(Path(path).absolute()) for path in paths]
    entry |= {"grants": grants} if grants else {}
    entry |= {"allow": args.allow} if args.allow else {}
    with reading(data_dir(args), workspace(args)) as client:
        listed = client.post("/api/brain/mcp", {"name": args.name, "entry": entry})
        print(f"Added {safe_line(args.name)} to {listed['file']}.")
        code = _test(client, args, accept=args.yes)
    if code == EXIT_FAILED:
        print(f"The entry is kept: add it again corrected, or brain mcp remove {safe_line(args.name)}", file=sys.stderr)
    return code


def list_servers(args: argparse.Namespace) -> int:
    place = workspace(args)
    with reading(data_dir(args), place) as client:
        servers = client.get("/api/brain/mcp", {"workspace": str(place), "start": "false"})["servers"]
    if args.json:
        return print_json({"servers": servers})
    style = style_for()
    for server in servers:
        state = "starts when used" if server["state"] == "stopped" else server["state"]
        paint = getattr(style, _STATES.get(server["state"], "dim"))
        tools = plural(len(server["tools"]), "tool") if server["tools"] else "tools unknown"
        accepted = "accepted" if server["pinned"] else "not accepted yet"
        print(f"{safe_line(server['name'])}  {paint(state)}  {tools}, {accepted}  {safe_line(server['where'])}")
        if server.get("error"):
            print(f"    {safe_line(server['error'])}")
        elif not server["pinned"]:
            print(f"    See its tools, and accept them: brain mcp test {safe_line(server['name'])}")
    if not servers:
        print("No MCP servers. Add one: brain mcp add NAME -- COMMAND …")
    return 0


def list_references(args: argparse.Namespace) -> int:
    place = workspace(args)
    with reading(data_dir(args), place) as client:
        found = client.get("/api/brain/mcp/references", {"workspace": str(place)})
    if args.json:
        return print_json(found)
    for each in found["resources"]:
        print(f"{safe_line(each['mention'])}  {safe_line(each['description'] or each['name'])}")
    for each in found["prompts"]:
        names = [name["name"] if name["required"] else f"[{name['name']}]" for name in each["arguments"]]
        print(f"{safe_line(' '.join([each['command'], *names]))}  {safe_line(each['description'])}".rstrip())
    if not found["resources"] and not found["prompts"]:
        print("No resources and no prompts. Servers whose tools you have not accepted are not asked.")
    return 0


def test(args: argparse.Namespace) -> int:
    with reading(data_dir(args), workspace(args)) as client:
        return _test(client, args, accept=args.accept)


def login(args: argparse.Namespace) -> int:
    """Sign in to a remote server with your browser."""
    import asyncio
    import webbrowser

    from sidecar.config.paths import config_file
    from tools.mcp.configuration import Configuration, Inputs
    from tools.mcp.entry import server_name
    from tools.mcp.oauth import SignIn

    place = data_dir(args)
    configuration = Configuration(config_file().parent, inputs=Inputs(place / "mcp-inputs.json"))
    entry = configuration.load(str(workspace(args))).servers.get(server_name(args.name))
    if entry is None or not entry.url:
        raise CommandFailed(f"Your mcp.json has no remote server {args.name}.", EXIT_USAGE)

    def show(url: str) -> None:
        print(f"Sign in here: {safe_line(url)}")
        webbrowser.open(url)

    try:
        count = asyncio.run(SignIn(entry, place, show).run())
    except Exception as error:
        why: BaseException = error
        while isinstance(why, BaseExceptionGroup):
            why = why.exceptions[0]
        raise CommandFailed(f"Not signed in: {safe_line(str(why) or type(why).__name__)}", EXIT_FAILED) from error
    print(f"Signed in; {safe_line(entry.name)} has {plural(count, 'tool')}.")
    return 0


def set_input(args: argparse.Namespace) -> int:
    """Store a value for `${input:id}`; it is read without echo, never from the command line."""
    import getpass

    from tools.mcp.configuration import Inputs

    value = getpass.getpass(f"{args.name}: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    if not value:
        raise CommandFailed("No value was given; nothing was stored.", EXIT_USAGE)
    Inputs(data_dir(args) / "mcp-inputs.json").set(args.name, value)
    print(f"Stored {safe_line(args.name)}.")
    return 0


def remove(args: argparse.Namespace) -> int:
    with reading(data_dir(args), Path.cwd()) as client:
        client.post("/api/brain/mcp/remove", {"name": args.name})
    print(f"Removed {safe_line(args.name)}; its tools are forgotten.")
    return 0


def _test(client: Client, args: argparse.Namespace, *, accept: bool) -> int:
    body: Json = {"name": args.name, "workspace": str(workspace(args))}
    result = client.post("/api/brain/mcp/test", body, timeout=_TEST_SECONDS)
    server = result["server"]
    if getattr(args, "json", False):
        print_json(result)
    elif result["tools"] or server["state"] in ("ready", "changed"):
        print(f"{safe_line(server['name'])} has {plural(len(result['tools']), 'tool')}:")
        for tool in result["tools"]:
            print(f"  {safe_line(tool['name'])}  {safe_line(tool['description'])[:160]}")
        for each in server["leftOut"]:
            print(f"  left out: {safe_line(each)}")
    if "digest" not in result:
        print(safe_line(server.get("error") or "The server failed."), file=sys.stderr)
        return EXIT_FAILED
    if server["pinned"]:
        return 0
    if accept or (sys.stdin.isatty() and input("Let agents use these tools? [y/N] ").strip().lower() in ("y", "yes")):
        client.post("/api/brain/mcp/accept", {**body, "digest": result["digest"]})
        print("Accepted. If the server changes them, you are asked again.", file=sys.stderr)
    elif not getattr(args, "json", False):
        name = safe_line(server["name"])
        print(f"Not accepted: the first call will ask you. Accept them: brain mcp test {name} --accept")
    return 0


def _pairs(given: list[str], separator: str) -> dict[str, str]:
    pairs = {}
    for each in given:
        name, found, value = each.partition(separator)
        if not found:
            raise CommandFailed(f"{each!r} is not NAME{separator}VALUE.", EXIT_USAGE)
        pairs[name.strip()] = value.strip()
    return pairs
