"""`brain search`, `brain impact` and `brain memory`: what the memory knows of a workspace."""

import argparse
import shlex
import sys
import time
from pathlib import Path
from urllib.parse import quote

from sidecar.client.client import Client, Json
from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_FAILED, CommandFailed
from sidecar.commands.output import ERASE_ROW
from sidecar.commands.parser import data_dir, workspace
from sidecar.commands.text import Style, clip, is_terminal, print_json, safe_line, style_for, terminal_columns
from sidecar.wire.text import plural

_SECONDS = 600.0
#: Of a workspace with tens of thousands of files, an answer from half of the index comes sooner than that.
_IMPACT_SECONDS = 60.0
_SEARCH_SECONDS = 300.0
#: How often a terminal shows how far the index is.
_PROGRESS_SECONDS = 1.0
_SNIPPET_LINES = 3


def search(args: argparse.Namespace) -> int:
    place = workspace(args)
    body: Json = {"workspace": str(place), "query": args.query, "limit": args.limit}
    body |= {"path": args.path or "", "kind": args.kind or "", "days": args.days}
    with reading(data_dir(args), place) as client:
        found = _ask(client, "search", body, _SEARCH_SECONDS)
    if args.json:
        print_json(found)
        return 0 if found["hits"] else EXIT_FAILED
    style = style_for()
    for hit in found["hits"]:
        _show_hit(hit, style)
    if found["state"] != "ready":
        print(style.yellow("The index is still being built; ask again for more."))
    elif not found["hits"]:
        print("Nothing found. Try other words, or `rg` for exact text.")
    return 0 if found["hits"] else EXIT_FAILED


def _ask(client: Client, question: str, body: Json, seconds: float) -> Json:
    """Wait so long for an index that is being built; a terminal shows how far it is."""
    live, until = is_terminal(sys.stderr), time.monotonic() + seconds
    while True:
        left = until - time.monotonic()
        more = live and left > _PROGRESS_SECONDS
        wait = _PROGRESS_SECONDS if more else max(0.0, left)
        found: Json = client.post(f"/api/brain/memory/{question}", {**body, "wait": wait}, timeout=_SECONDS)
        if live:
            print(ERASE_ROW, end="", file=sys.stderr, flush=True)
        if not more or found["state"] != "building":
            return found
        progress = client.get(_state_of(body["workspace"]))["progress"]
        text = f"Indexing: {progress['done']:,} of {progress['total']:,} files"
        print(text, end="", file=sys.stderr, flush=True)


def _state_of(place: str) -> str:
    return f"/api/brain/memory?workspace={quote(place, safe='')}"


def _show_hit(hit: Json, style: Style) -> None:
    columns = terminal_columns()
    symbol = f"  {style.bold(safe_line(hit['symbol']))}" if hit.get("symbol") else ""
    print(f"{style.cyan(safe_line(hit['path']))}:{hit['line']}{symbol}  {style.dim(hit['kind'])}")
    for line in hit["snippet"].split("\n")[:_SNIPPET_LINES]:
        print(clip(f"  │ {safe_line(line)}", columns - 1))
    print(style.dim(clip(f"  {safe_line(hit['why'])}", columns - 1)))


def impact(args: argparse.Namespace) -> int:
    place = workspace(args)
    is_file = (place / args.name).is_file()
    body: Json = {"workspace": str(place), "depth": args.depth}
    body |= {"path": args.name} if is_file else {"symbol": args.name, "path": args.path or ""}
    with reading(data_dir(args), place) as client:
        found = _ask(client, "impact", body, _IMPACT_SECONDS)
    if args.json:
        print_json(found["hits"])
    else:
        _show_impact(args.name, found, is_file=is_file)
    if found["state"] != "ready":  # apart from the answer, which may be read by a program
        print("The index is still being built; there may be more. Ask again later.", file=sys.stderr)
    return 0


def _show_impact(name: str, found: Json, *, is_file: bool) -> None:
    hits: list[Json] = found["hits"]
    style = style_for()
    distance = 0
    for hit in hits:
        if hit["distance"] != distance:
            distance = hit["distance"]
            print(style.bold("directly" if distance == 1 else f"through {plural(distance - 1, 'other file')}"))
        symbol = f"  {style.bold(safe_line(hit['symbol']))}" if hit.get("symbol") else ""
        doubt = "" if hit["certain"] else style.yellow("  likely")
        line = f":{hit['line']}" if hit["line"] else ""
        print(f"  {style.cyan(safe_line(hit['path']))}{line}{symbol}  {style.dim(safe_line(hit['via']))}{doubt}")
    if not hits and found["state"] == "ready":
        print(f"Nothing in this workspace is known to depend on {safe_line(name)}.")
        if not is_file:
            print(style.dim(f"Whether it exists: brain search {safe_line(shlex.quote(name))}"))


def manage(args: argparse.Namespace) -> int:
    place = workspace(args)
    body: Json = {"workspace": str(place)}
    if args.action in ("notes", "accept", "remove"):
        return _notes(args, place)
    with reading(data_dir(args), place) as client:
        if args.action == "rebuild":
            client.post("/api/brain/memory/rebuild", body, timeout=_SECONDS)
            # A search waits for the index, which the sidecar of this command would otherwise leave half built.
            client.post("/api/brain/memory/search", {**body, "query": "main", "wait": 600.0}, timeout=700.0)
        elif args.action == "forget":
            client.post("/api/brain/memory/forget", body, timeout=_SECONDS)
        found = client.get(_state_of(str(place)))
    return _show_state(found, args)


def _notes(args: argparse.Namespace, place: Path) -> int:
    with reading(data_dir(args), place) as client:
        if args.action != "notes":
            if not args.id:
                raise CommandFailed(f"Name the note: `brain memory {args.action} ID`. `brain memory notes` lists them.")
            client.post("/api/brain/memory/notes/decide", {"id": args.id, "accept": args.action == "accept"})
            print("Accepted." if args.action == "accept" else "Removed.")
            return 0
        notes: list[Json] = client.get(f"/api/brain/memory/notes?workspace={quote(str(place), safe='')}")["notes"]
    if args.json:
        return print_json(notes)
    style = style_for()
    for note in notes:
        state = style.yellow("proposed") if note["state"] == "proposed" else "accepted"
        print(f"{note['id']}  {state}  {note['collection']}: {style.bold(safe_line(note['title']))}")
        for line in (note.get("diff") or note["text"]).split("\n"):
            print(f"  │ {safe_line(line)}")
    if not notes:
        print("There are no notes about this workspace.")
    return 0


def _show_state(found: Json, args: argparse.Namespace) -> int:
    if args.json:
        return print_json(found)
    progress = found["progress"]
    indexed = f"{plural(found['files'], 'file')}, {plural(found['chunks'], 'chunk')}"
    print(f"{found['state']}: {indexed}, {found['bytes'] / 1e6:.1f} MB")
    if vectors := found.get("vectors"):
        print(f"With vectors: {safe_line(vectors)}.")
    if found["state"] == "building":
        print(f"{progress['done']:,} of {progress['total']:,} files are done.")
    elif found["state"] == "empty":
        print("Nothing is stored. The first search or task here builds the index.")
    return 0
