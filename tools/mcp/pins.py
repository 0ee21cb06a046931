"""The tool sets that you accepted, in a private file of the data directory, and what has changed since.

A set is pinned whole: names, descriptions and schemas. A server whose set differs in any way is blocked until you
accept the difference. The entry is part of it: another command or address is another server.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from sidecar.config.paths import write_private
from sidecar.wire.text import plural
from tools.mcp.entry import ServerEntry
from tools.mcp.listing import ListedTool, Listing, make_listing

State = Literal["new", "changed", "pinned"]
_MAX_PINS = 500
_MAX_DIFF_LINES = 400


@dataclass(frozen=True)
class Pin:
    launch: str
    where: str
    tools: tuple[ListedTool, ...]
    at: float

    @cached_property
    def digest(self) -> str:
        return Listing(self.tools).digest


class Pins:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._pins: dict[str, Pin] | None = None
        #: Made from pins; every call asks for one.
        self._listings: dict[str, tuple[Pin, Listing]] = {}

    def find(self, entry: ServerEntry) -> Pin | None:
        return self._load().get(entry.pin_key)

    def listing(self, entry: ServerEntry) -> Listing | None:
        """The accepted set of this very server, which can be offered before it runs."""
        pin = self.find(entry)
        if pin is None or pin.launch != entry.launch:
            return None
        known = self._listings.get(key := entry.pin_key)
        if known is None or known[0] is not pin:
            made = make_listing(entry.name, ((t.name, t.description, t.schema, t.read_only) for t in pin.tools))
            known = self._listings[key] = (pin, made)
        return known[1]

    def state(self, entry: ServerEntry, listing: Listing) -> State:
        pin = self.find(entry)
        if pin is None:
            return "new"
        same = pin.launch == entry.launch and pin.digest == listing.digest
        return "pinned" if same else "changed"

    def accept(self, entry: ServerEntry, listing: Listing) -> None:
        pins = self._load()
        pins.pop(key := entry.pin_key, None)
        pins[key] = Pin(entry.launch, entry.where, listing.tools, time.time())
        while len(pins) > _MAX_PINS:
            del pins[next(iter(pins))]
        self._save(pins)

    def remove(self, entry: ServerEntry) -> None:
        pins = self._load()
        if pins.pop(entry.pin_key, None) is not None:
            self._save(pins)

    def diff(self, entry: ServerEntry, listing: Listing) -> str:
        """What changed since you accepted the set; all of it if you never did."""
        import difflib

        pin = self.find(entry)
        before = _render(pin.where, pin.tools) if pin is not None else []
        after = _render(entry.where, listing.tools)
        name = f"tools of {entry.name}"
        lines = list(difflib.unified_diff(before, after, f"{name} (accepted)", f"{name} (now)", n=1, lineterm=""))
        shown = lines[:_MAX_DIFF_LINES]
        return "\n".join(
            [*shown, *([f"… {plural(len(lines) - len(shown), 'more line')}"] if len(lines) > len(shown) else [])]
        )

    def _load(self) -> dict[str, Pin]:
        if self._pins is None:
            self._pins = _read(self._file)
        return self._pins

    def _save(self, pins: Mapping[str, Pin]) -> None:
        records = {
            key: {
                "launch": pin.launch,
                "where": pin.where,
                "at": pin.at,
                "tools": [tool.record() for tool in pin.tools],
            }
            for key, pin in pins.items()
        }
        write_private(self._file, json.dumps(records))


def _render(where: str, tools: tuple[ListedTool, ...]) -> list[str]:
    lines = [f"server: {where}"]
    for tool in sorted(tools, key=lambda each: each.name):
        lines += [f"{tool.name}{' (says that it only reads)' if tool.read_only else ''}"]
        lines += [f"    {line}" for line in tool.description.splitlines()]
        lines += [f"    {json.dumps(tool.schema, sort_keys=True)}"]
    return lines


def _read(file: Path) -> dict[str, Pin]:
    """An unreadable file accepts nothing."""
    try:
        raw: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return {
            key: Pin(
                str(each["launch"]),
                str(each["where"]),
                tuple(ListedTool.from_record(record) for record in each["tools"]),
                float(each["at"]),
            )
            for key, each in raw.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
