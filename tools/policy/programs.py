"""The table of known programs, and whether the options and operands of a command are harmless."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sidecar.cache import Stamp

_PRODUCT = Path(__file__).with_name("programs.toml")
_MODULES = frozenset({"python", "python3"})
#: Programs that run a project's tool by name. The sandbox keeps them from downloading it.
_RUNNERS: Mapping[str, tuple[str, ...]] = {
    "npx": (),
    "pnpm": ("exec",),
    "uv": ("run",),
    "poetry": ("run",),
    "pdm": ("run",),
    "bundle": ("exec",),
}


class BadTable(Exception):
    """Your own table is invalid; it allows nothing until you fix it."""


@dataclass(frozen=True)
class Program:
    name: str
    verdict: Literal["allow", "ask", "deny"] = "allow"
    why: str = ""
    options: Sequence[str] = ()
    excluded: Sequence[str] = ()
    requires: Sequence[str] = ()
    numbers: bool = False
    operands: str | Sequence[str] = "paths"
    most: int | None = None
    first: str = ""
    single: bool = False
    network: bool = False
    project: bool = False

    @cached_property
    def rules(self) -> "_Options":
        return _Options(self)


class Known(NamedTuple):
    """A program of the table, and the words after its name and sub-command."""

    program: Program
    words: list[str]


class Table:
    def __init__(self, *entries: Mapping[str, Any]) -> None:
        self._programs: dict[str, Program] = {}
        for table in reversed(entries):
            self._programs.update(_flatten(table))

    def __iter__(self) -> Iterator[Program]:
        return iter(self._programs.values())

    def find(self, argv: Sequence[str]) -> Known | None:
        name, words = argv[0], list(argv[1:])
        if name in _MODULES and words[:1] == ["-m"] and len(words) > 1:
            known = self.find(words[1:])
            # What needs approval by its own name needs it as a module, too.
            return known if known is not None and (known.program.project or known.program.verdict != "allow") else None
        runner = _RUNNERS.get(name)
        if runner is not None and tuple(words[: len(runner)]) == runner:
            tool = self._tool(words[len(runner) :])
            if tool is not None:
                return tool
        if name == "git" and words[:1] == ["--no-pager"]:
            words = words[1:]
        for depth in (2, 1, 0):  # the most specific entry first
            program = self._programs.get(" ".join([name, *words[:depth]])) if len(words) >= depth else None
            if program is not None:
                return Known(program, words[depth:])
        return None

    def _tool(self, words: Sequence[str]) -> Known | None:
        """A tool of the project, run by name."""
        found = self.find(words) if words else None
        return found if found is not None and found.program.project else None


def find_risk(known: Known) -> str | None:
    """Why a command isn't known to be harmless; `None` if every word is."""
    program, words = known
    given: set[str] = set()
    operands: list[str] = []
    options = program.rules
    while words:
        word = words.pop(0)
        if word == "--":
            operands += words
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        name = word.partition("=")[0]
        given.add(name)
        taken = options.takes(word)
        if taken is None:
            return f"{name} of {program.name} is not known to be harmless"
        if taken and words and words[0][:1] == "-" and not words[0][1:].isdigit():
            # Programs differ in whether this is the value or another option.
            return f"{words[0][:100]} after {name} may be another option"
        del words[:taken]
    if program.requires and not given & set(program.requires):
        return f"{program.name} changes files without {' or '.join(program.requires)}"
    if program.most is not None and len(operands) > program.most:
        return f"{operands[program.most]} may name a file that {program.name} writes"
    if program.first:
        if not operands or re.fullmatch(program.first, operands[0]) is None:
            return f"{operands[0][:100] if operands else program.name} does more than show part of a file"
        del operands[0]
    if program.project and (listed := next((each for each in operands if each.startswith("@")), None)):
        return f"{listed} may be a file with more options"
    match program.operands:
        case "none":
            wrong = operands[:1]
        case "+":
            wrong = [operand for operand in operands if not operand.startswith("+")]
        case "paths" | "text":
            wrong = []
        case allowed:
            wrong = [operand for operand in operands if operand not in allowed]
    return f"{program.name} {wrong[0]} is not known to be harmless" if wrong else None


class _Options:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._all = "*" in program.options
        self._plain = {option for option in program.options if option[-1] not in "=#"}
        self._valued = {option[:-1] for option in program.options if option[-1] == "="}
        self._counted = {option[:-1] for option in program.options if option[-1] == "#"}

    def takes(self, word: str) -> int | None:
        """How many of the following words belong to this option; `None` if it isn't harmless."""
        if word in self._plain:
            return 0
        name, equals, _ = word.partition("=")
        if self._program.single or name.startswith("--"):
            if self._all:
                return None if self._excluded(name) else 0
            if name in self._valued:
                return 0 if equals else 1
            return 0 if name in self._plain else None
        if self._program.numbers and word[1:].isdigit():
            return 0
        return self._cluster(word[1:])

    def _excluded(self, name: str) -> bool:
        """Programs accept any unique prefix of a long option."""
        if self._program.single:
            return name in self._program.excluded
        return any(bad.startswith(name) or name.startswith(bad) for bad in self._program.excluded if bad[:2] == "--")

    def _cluster(self, letters: str) -> int | None:
        if f"-{letters}" in self._plain:
            return 0
        for place, letter in enumerate(letters):
            option, rest = f"-{letter}", letters[place + 1 :]
            if self._all:
                if option in self._program.excluded:
                    return None
            elif option in self._valued:
                return 0 if rest else 1
            elif option in self._counted:
                return 0 if not rest or rest.isdigit() else None
            elif option not in self._plain:
                return None
        return 0


def load_table(own: Path | None) -> Table:
    """The product's table, with your own in front."""
    import tomllib

    if own is None:
        return Table(_product_table())
    try:
        mine = tomllib.loads(own.read_text(encoding="utf-8"))
        return Table(mine, _product_table())
    except FileNotFoundError:
        return Table(_product_table())
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadTable(f"{own} can't be used: {error}") from error


class ProgramTable:
    """The table, loaded again when your own file changes; a workspace can't have one."""

    def __init__(self, own: Path | None) -> None:
        self._own = own
        self._stamp: Stamp | None = None
        self._table: Table | None = None

    def load(self) -> Table:
        stamp = Stamp.of(str(self._own)) if self._own is not None else None
        if self._table is None or stamp != self._stamp:
            self._table, self._stamp = load_table(self._own), stamp
        return self._table


@cache
def _product_table() -> Mapping[str, Any]:
    import tomllib

    return tomllib.loads(_PRODUCT.read_text(encoding="utf-8"))


_FIELDS = frozenset(each.name for each in fields(Program)) - {"name", "excluded"} | {"except"}


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Program]:
    found: dict[str, Program] = {}
    for name, entry in table.items():
        full = f"{prefix}{name}"
        values = {key: value for key, value in entry.items() if not isinstance(value, dict)}
        subs = {key: value for key, value in entry.items() if isinstance(value, dict)}
        if unknown := values.keys() - _FIELDS:
            raise ValueError(f"{full} has unknown fields: {', '.join(sorted(unknown))}")
        if values.get("verdict", "allow") not in ("allow", "ask", "deny"):
            raise ValueError(f"{full} needs a verdict of allow, ask or deny")
        if values or not subs:
            excluded = values.pop("except", ())
            found[full] = Program(full, excluded=excluded, **values)
        found.update(_flatten(subs, f"{full} "))
    return found
