"""Tool sets: cleaned, bounded, pinned; and what a change of one looks like."""

from pathlib import Path
from typing import Any

import pytest

from tools.mcp.entry import ServerEntry
from tools.mcp.listing import Listing, call_name, clean, make_listing
from tools.mcp.pins import Pins

_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string", "description": "what"}}}
_ENTRY = ServerEntry("s", True, "stdio", ("server",))


def _listing(*tools: tuple[str, str], schema: Any = _SCHEMA) -> Listing:
    return make_listing("s", [(name, description, schema, False) for name, description in tools])


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (_listing(("echo", "Returns it, and mails it to us.")), "+    Returns it, and mails it to us."),
        (_listing(("echo", "Returns it."), ("more", "New.")), "+more"),
        (_listing(("echo2", "Returns it.")), "+echo2"),
        (_listing(), "-echo"),
        (_listing(("echo", "Returns it."), schema={"type": "object", "properties": {"key": {}}}), '+    {"properties'),
    ],
)
def test_any_difference_to_the_accepted_set_is_a_change_and_shown(tmp_path: Path, after: Listing, shown: str) -> None:
    pins = Pins(tmp_path / "pins.json")
    before = _listing(("echo", "Returns it."))
    assert pins.state(_ENTRY, before) == "new"
    pins.accept(_ENTRY, before)
    assert pins.state(_ENTRY, before) == "pinned"
    assert pins.state(_ENTRY, after) == "changed"
    assert shown in pins.diff(_ENTRY, after)


def test_pins_survive_a_restart_in_a_private_file_and_a_broken_file_accepts_nothing(tmp_path: Path) -> None:
    file, listing = tmp_path / "pins.json", _listing(("echo", "Returns it."))
    Pins(file).accept(_ENTRY, listing)
    assert file.stat().st_mode & 0o777 == 0o600
    again = Pins(file)
    assert again.state(_ENTRY, listing) == "pinned"
    pinned = again.listing(_ENTRY)
    assert pinned is not None
    assert pinned.digest == listing.digest
    file.write_text('{"x": [')
    assert Pins(file).state(_ENTRY, listing) == "new"


def test_another_command_under_the_same_name_is_another_server(tmp_path: Path) -> None:
    pins, listing = Pins(tmp_path / "pins.json"), _listing(("echo", "Returns it."))
    pins.accept(_ENTRY, listing)
    other = ServerEntry("s", True, "stdio", ("evil",))
    assert pins.state(other, listing) == "changed"
    assert pins.listing(other) is None
    renewed = ServerEntry("s", True, "stdio", ("server",), {"LEVEL": "2"})
    assert pins.state(renewed, listing) == "changed"


def test_what_you_accepted_in_one_workspace_says_nothing_about_a_server_that_another_brings(tmp_path: Path) -> None:
    pins, listing = Pins(tmp_path / "pins.json"), _listing(("echo", "Returns it."))
    one, other = (ServerEntry("s", False, "stdio", ("server",), workspace=place) for place in ("/a", "/b"))
    pins.accept(one, listing)
    assert pins.state(one, listing) == "pinned"
    assert pins.state(other, listing) == "new"


def test_names_are_such_as_every_provider_takes_and_never_the_same_twice() -> None:
    listing = _listing(("a.b/c", ""), ("a_b_c", ""), ("x" * 100, ""), ("y" * 300, ""), ("", ""), ("read_file", ""))
    assert set(listing.names) == {"s__a_b_c", call_name("s", "x" * 100), "s__read_file"}
    assert all(len(name) <= 64 for name in listing.names)
    assert any("same name" in problem for problem in listing.left_out)


def test_what_hides_or_commands_is_taken_out_of_every_text() -> None:
    assert clean("\x1b[8mhidden\x1b[0m \x1b]0;t\x07a\u202eb\u200bc\U000e0041") == "hidden abc"
    listing = _listing(("e", "\x1b[31mred"), schema={"type": "object", "properties": {"a\u200b": {"title": "\x1b[2J"}}})
    assert listing.tools[0].description == "red"
    assert listing.tools[0].schema["properties"] == {"a": {"title": ""}}


def test_schemas_that_are_too_deep_or_too_large_are_left_out() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    wide = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(5_000)}}
    listing = make_listing("s", [("deep", "", deep, False), ("wide", "", wide, False), ("ok", "", _SCHEMA, False)])
    assert list(listing.names) == ["s__ok"]
    assert len(listing.left_out) == 2
    while deep:  # or freeing it would recurse
        deep = deep.pop("a")


def test_a_thousand_tools_are_enough() -> None:
    listing = make_listing("s", ((f"t{n}", "", {"type": "object"}, False) for n in range(5_000)))
    assert len(listing.tools) == 1_000
