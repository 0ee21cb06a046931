"""`brain keys`: the keys of the model providers, put away and taken out. They are never shown."""

import argparse
import getpass
import json
import os
import sys

from sidecar.commands import options
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_USAGE
from sidecar.commands.style import style_for
from sidecar.config.keys import VARIABLES, Keys, looks_like_key

ABOUT = """\
Put the key of a model provider away, in your system's keyring if there is one, else in a private file; or say which are
there. A key in the environment wins. Keys are never shown, and never read from a workspace."""
EXAMPLES = """\
examples:
  brain keys                                which are there, and where
  brain keys set anthropic                  asks for it, without showing it
  pass show anthropic | brain keys set anthropic
  brain keys remove anthropic
"""


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "set", "remove"), nargs="?", default="list", help="what to do")
    parser.add_argument("provider", choices=tuple(VARIABLES), nargs="?", help="whose key")
    parser.add_argument("--json", action="store_true", help="as JSON")
    options.add_data_dir(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    keys = Keys(os.environ, options.data_dir(args))
    if args.action == "list":
        return _list(keys, as_json=args.json)
    if args.provider is None:
        raise CommandFailed(f"Whose key? brain keys {args.action} {'|'.join(VARIABLES)}", EXIT_USAGE)
    if args.action == "remove":
        if not keys.remove(args.provider):
            raise CommandFailed(f"No key of {args.provider} was put away.")
        print(f"The key of {args.provider} was removed.")
        return 0
    place = keys.store(args.provider, _given(args.provider))
    where = "your system's keyring" if place == "keyring" else "a private file of the data directory"
    print(f"The key of {args.provider} is in {where}. It is used from the next task on.")
    origin = keys.origin(args.provider)
    if origin is not None and origin.place.endswith("environment"):
        print(f"But {origin.place} wins while it is set.", file=sys.stderr)
    return 0


def _given(provider: str) -> str:
    """From the terminal without an echo, or from standard input; never from the command line, which others can see."""
    text = getpass.getpass(f"Key of {provider}: ") if sys.stdin.isatty() else sys.stdin.readline()
    key = text.strip()
    if not looks_like_key(key):
        raise CommandFailed("That is no key: nothing was put away.", EXIT_USAGE)
    return key


def _list(keys: Keys, *, as_json: bool) -> int:
    origins = {provider: keys.origin(provider) for provider in VARIABLES}
    if as_json:
        print(json.dumps({provider: origin.place if origin else None for provider, origin in origins.items()}))
        return 0
    style = style_for()
    for provider, origin in origins.items():
        place = origin.place if origin else style.dim(f"none; brain keys set {provider}")
        print(f"{style.bold(f'{provider:<10}')} {place}")
    return 0
