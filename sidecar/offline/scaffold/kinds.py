"""The kinds of project that have templates, and the rules for project names."""

import keyword
import re
import sys
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from sidecar.config.paths import config_file

TEMPLATES = Path(__file__).parent.parent / "templates"

#: Packages that the tests need.
Needs = Literal["nothing", "python", "node"]


@dataclass(frozen=True, slots=True)
class Kind:
    #: Its name in requests.
    said: str
    #: Its name in a description, after "A".
    noun: str
    #: The template folders; a later one wins.
    layers: tuple[str, ...]
    #: The file that marks the root of such a project.
    anchor: str
    needs: Needs
    #: The example code in the template.
    example: str
    #: The command that shows it working.
    start: str
    #: Names that would shadow the project's own imports.
    reserved: frozenset[str] = frozenset()
    #: Where the layers are.
    folder: Path = TEMPLATES

    @property
    def own(self) -> bool:
        return self.folder != TEMPLATES

    @property
    def key(self) -> str:
        return self.layers[-1]

    @property
    def python(self) -> bool:
        return "python" in self.layers


LONGEST = 30
SUFFIX = ".template"
_MOST_OWN = 100
_MOST_FILES = 1_000
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def load_kinds() -> dict[str, Kind]:
    """The kinds that come with the sidecar, and your own."""
    return {**_own_kinds(), **_built_in_kinds()}


def _own_kinds() -> dict[str, Kind]:
    """Each folder of `templates/` in the configuration directory; read anew, so that a change needs no restart."""
    place = config_file().with_name("templates")
    if not place.is_dir():
        return {}
    found = {}
    for folder in sorted(place.iterdir())[:_MOST_OWN]:
        files = sorted(template_files(folder)) if folder.is_dir() and _NAME.fullmatch(folder.name) else ()
        if files:
            said = folder.name.replace("-", " ")
            kind = Kind(said, f"{said} project", (folder.name,), files[0], "nothing", "", "ls", folder=place)
            found[folder.name] = kind
    return found


def template_files(folder: Path) -> list[str]:
    """The files of a template, by their path in the project."""
    names = (file.relative_to(folder).as_posix() for file in folder.rglob(f"*{SUFFIX}") if file.is_file())
    return [name.removesuffix(SUFFIX) for name in islice(names, _MOST_FILES)]


@cache
def _built_in_kinds() -> dict[str, Kind]:
    with (TEMPLATES / "kinds.toml").open("rb") as file:
        return TypeAdapter(dict[str, Kind]).validate_python(tomllib.load(file))


def list_kinds() -> str:
    """The kinds as a list: “python package”, …"""
    said = [f"“{kind.said}”" for kind in load_kinds().values()]
    return f"{', '.join(said[:-1])} and {said[-1]}"


def slug(said: str) -> str:
    """“Weather Report” is `weather-report`."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", said)
    plain = unicodedata.normalize("NFKD", split).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def module(name: str) -> str:
    return name.replace("-", "_")


def title(name: str) -> str:
    words = name.replace("-", " ")
    return words[:1].upper() + words[1:]


def name_problem(name: str, kind: Kind) -> str | None:
    """Why a project can't have this name."""
    if len(name) > LONGEST:
        return f"`{name}` is longer than {LONGEST} characters"
    if not _NAME.fullmatch(name):
        return f"`{name}` is not a valid package name: use letters, digits and dashes, and begin with a letter"
    if name in kind.reserved:
        return f"the project itself uses a package named `{name}`"
    if kind.python and (keyword.iskeyword(module(name)) or module(name) in sys.stdlib_module_names):
        return f"`{name}` is a module or keyword of Python"
    return None
