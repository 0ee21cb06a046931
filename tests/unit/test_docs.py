"""Docs under test: every command, setting, route and event is in its REFERENCE.md, and the READMEs stay short."""

import re
from pathlib import Path
from typing import get_args

import pytest

from sidecar.api.routes import ROUTES
from sidecar.commands.table import COMMANDS
from sidecar.config.settings import Settings
from sidecar.wire.events import AnyEvent

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EVENTS = {get_args(kind.model_fields["type"].annotation)[0]: kind for kind in get_args(get_args(AnyEvent)[0])}
ROOMS = [path for path in (PROJECT / "sidecar").iterdir() if (path / "__init__.py").is_file()]
FOLDER_READMES = [path for room in ("sidecar", "tools", "bridge") for path in (PROJECT / room).rglob("README.md")]


def headings(room: str) -> set[str]:
    text = (PROJECT / "sidecar" / room / "REFERENCE.md").read_text(encoding="utf-8")
    return set(re.findall(r"^#{2,3} `([^`]+)`$", text, re.MULTILINE))


def test_the_references_name_everything_and_nothing_else() -> None:
    assert headings("commands") == {"brain", *(f"brain {name}" for name in COMMANDS)}
    assert headings("config") == set(Settings.model_fields)
    assert headings("api") == {f"{route.method} {route.path}" for route in ROUTES} | set(EVENTS)


def test_every_setting_and_event_has_a_description() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []
    assert [name for name, kind in EVENTS.items() if not kind.__doc__] == []


def test_the_readme_is_short_and_starts_with_what_it_is_and_two_commands() -> None:
    lines = README.splitlines()
    assert len(lines) <= 250
    first = "\n".join(lines[:20])
    for text in ("make run", "make test", "make demo", "](packaging/demo.svg)"):
        assert text in first


def test_the_readme_lists_every_room() -> None:
    table = README[README.index("## Where things are") :]
    rooms = [f"sidecar/{path.name}/" for path in ROOMS]
    for folder in (*rooms, "tools/", "bridge/", "frontend/", "packaging/", "tests/"):
        assert f"`{folder}`" in table, folder


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_linked_or_named_file_exists(text: str) -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    named = re.findall(r"`((?:sidecar|tools|bridge|frontend|packaging|tests)/[\w/.-]+)`", text)
    missing = [path for path in (*linked, *named) if not (PROJECT / path).exists()]
    assert missing == []


def test_the_walk_of_one_task_names_functions_that_exist() -> None:
    walk = CONTRIBUTING[CONTRIBUTING.index("## One task") : CONTRIBUTING.index("## How to add")]
    hops = re.findall(r"^\d+\. `([\w/.]+)` `([\w.]+)`", walk, re.MULTILINE)
    assert 0 < len(hops) <= 12
    for path, name in hops:
        source = (PROJECT / path).read_text(encoding="utf-8")
        for part in name.split("."):
            assert re.search(rf"\b(?:def|class) {part}\b", source), f"{path} has no {name}"


def test_the_glossary_has_at_most_30_terms() -> None:
    glossary = CONTRIBUTING[CONTRIBUTING.index("## Glossary") : CONTRIBUTING.index("## The rooms")]
    assert 0 < len(re.findall(r"^\| \*\*", glossary, re.MULTILINE)) <= 30


@pytest.mark.parametrize("file", FOLDER_READMES, ids=lambda file: str(file.relative_to(PROJECT)))
def test_the_readme_of_a_folder_fits_on_a_screen(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 20
