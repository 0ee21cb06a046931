"""`brain tokens`: named tokens for people and programs on other machines."""

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir
from sidecar.commands.text import print_json
from sidecar.config.data_dir import DataDir
from sidecar.config.settings import load
from sidecar.config.tokens import Tokens

if TYPE_CHECKING:
    from sidecar.fleet.tokens import DatabaseTokens


def tokens(args: argparse.Namespace) -> int:
    kept = _open(args)
    if args.action == "list":
        _list(kept, as_json=args.json)
        return 0
    if args.name is None:
        raise CommandFailed(f"Say whose token: brain tokens {args.action} NAME", EXIT_USAGE)
    if args.action == "add":
        return _add(kept, args)
    if not kept.remove(args.name):
        raise CommandFailed(f"{args.name} has no token. `brain tokens` lists who has.", EXIT_USAGE)
    print(f"The token of {args.name} no longer works.")
    return 0


def _open(args: argparse.Namespace) -> "Tokens | DatabaseTokens":
    """In a fleet the database has them, else the data directory."""
    if url := load().database_url:
        from sidecar.fleet.tokens import DatabaseTokens

        return DatabaseTokens(url)
    directory = DataDir(data_dir(args))
    directory.prepare()
    return Tokens(directory.path)


def _add(kept: "Tokens | DatabaseTokens", args: argparse.Namespace) -> int:
    if args.role is None:
        raise CommandFailed("Say what the token is for: --role look, work or decide.", EXIT_USAGE)
    token = kept.add(args.name, args.role)
    if args.json:
        print_json({"name": args.name, "role": args.role, "token": token})
    else:
        print(f"{token}\nThis is the token of {args.name} ({args.role}). It isn't shown again.")
    return 0


def _list(kept: "Tokens | DatabaseTokens", *, as_json: bool) -> None:
    found = [
        {"name": each.name, "role": each.role, "at": datetime.fromtimestamp(each.at, UTC).isoformat(timespec="seconds")}
        for each in kept.all()
    ]
    if as_json:
        print_json({"tokens": found})
    elif not found:
        print("There are no tokens. `brain tokens add NAME --role look|work|decide` creates one.")
    for each in [] if as_json else found:
        print(f"{each['name']:<24} {each['role']:<8} {each['at']}")
