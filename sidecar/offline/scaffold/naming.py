"""What a project is called: by the person, as a folder, as a module, as a title."""

import keyword
import re
import sys
import unicodedata

from sidecar.offline.scaffold.kinds import Kind

LONGEST = 30
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def slug(said: str) -> str:
    """A name as folders, packages and commands have them: “Weather Report” is `weather-report`."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", said)
    plain = unicodedata.normalize("NFKD", split).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def module(name: str) -> str:
    return name.replace("-", "_")


def title(name: str) -> str:
    words = name.replace("-", " ")
    return words[:1].upper() + words[1:]


def problem(name: str, kind: Kind) -> str | None:
    """Why a project cannot be called so."""
    if len(name) > LONGEST:
        return f"`{name}` is longer than {LONGEST} characters"
    if not _NAME.fullmatch(name):
        return f"`{name}` is no name for a package: one begins with a letter and has letters, digits and dashes"
    if name in kind.reserved:
        return f"the project itself uses something that is called `{name}`"
    if kind.python and (keyword.iskeyword(module(name)) or module(name) in sys.stdlib_module_names):
        return f"`{name}` is a name of Python itself"
    return None
