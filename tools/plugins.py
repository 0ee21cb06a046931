"""Tools of your own in Python: one function in a file of `tools/` in your configuration directory, or an entry point.

    # tools/word_count.py
    READ_ONLY = True

    def word_count(path: str, at_least: int = 1) -> dict[str, int]:
        \"\"\"Count the words of a file.\"\"\"

The function has the name of its file; its signature becomes the schema, its docstring the description. `READ_ONLY`,
`PARALLEL` and `TIMEOUT` are optional. A parameter `workspace: Path` gets the workspace. The code runs in the sidecar
with all your rights, so a file is loaded only if no one but you can write it, and an entry point of the group
`rainy_brain.tools` only if the setting `plugins` names it. Approval, time limit, records and undo are the executor's.
"""

import asyncio
import inspect
import json
import logging
import os
import re
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, create_model

from tools.backend import OwnTools
from tools.errors import ToolError
from tools.host import Host
from tools.spec import Arguments, Call, External, Output, ToolResult, ToolSpec
from tools.text import clip

log = logging.getLogger(__name__)

FOLDER = "tools"
GROUP = "rainy_brain.tools"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_MAX_FILES = 100
_MAX_DESCRIPTION = 2_000
_SECONDS = 60.0
_WORKSPACE = "workspace"

Stamp = tuple[tuple[str, int, int], ...]


class PluginArguments(Arguments):
    """The names of the function's parameters, as its author wrote them."""

    model_config = ConfigDict(alias_generator=None, extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def paths(self) -> tuple[str, ...]:
        return (".",)


class PluginTool:
    def __init__(self, name: str, function: Callable[..., Any], module: Any, where: str) -> None:
        """Raises `ValueError` or `TypeError` for a function that can't be a tool."""
        self._function = function
        reads = _option(function, module, "READ_ONLY", default=False) is True
        timeout = _option(function, module, "TIMEOUT", default=_SECONDS)
        self._wants_workspace, model = _arguments(name, function)
        description = (inspect.getdoc(function) or "").strip()
        if not description:
            raise ValueError("its function needs a docstring, which models read")
        self.spec = ToolSpec(
            name,
            description[:_MAX_DESCRIPTION],
            model,
            timeout=min(max(float(timeout), 1.0), 3_600.0),
            parallel=_option(function, module, "PARALLEL", default=reads) is True,
            effects="none" if reads else "command",
            external=External(f"your own tool {where}", only_reads=reads, yours=True, changes_workspace=not reads),
        )

    async def run(self, args: Any, host: Host, call: Call, output: Output) -> ToolResult:
        given: dict[str, Any] = {name: getattr(args, name) for name in type(args).model_fields}
        if self._wants_workspace:
            given[_WORKSPACE] = Path(call.workspace)
        try:
            if inspect.iscoroutinefunction(self._function):
                result = await self._function(**given)
            else:
                result = await asyncio.to_thread(_quietly, self._function, **given)
            text = result if isinstance(result, str) else _dump(result)
        except Exception as error:
            raise ToolError(f"{self.spec.name} failed: {type(error).__name__}: {error}"[:2_000]) from error
        text = clip(text)
        return ToolResult(text, None, text.partition("\n")[0][:200])


class Plugins(OwnTools):
    def __init__(self, folder: Path, entry_points: Sequence[str] = ()) -> None:
        self._folder = folder
        self._wanted = frozenset(entry_points)
        self._stamp: Stamp | None = None
        self._from_files: dict[str, PluginTool] = {}
        self._from_packages: dict[str, PluginTool] | None = None
        #: Why files and entry points are not used, by name.
        self.problems: dict[str, str] = {}

    def load(self) -> dict[str, PluginTool]:
        """Load what is new or changed. Without a folder, this costs one system call."""
        if self._from_packages is None:
            self._from_packages = self._load_packages()
        stamp = _stamp(self._folder)
        if stamp != self._stamp:
            self._from_files = self._load_files(stamp)
            self._stamp = stamp
        return {**self._from_packages, **self._from_files}

    def _load_files(self, stamp: Stamp) -> dict[str, PluginTool]:
        loaded: dict[str, PluginTool] = {}
        if stamp and (why := distrusted(self._folder)):
            self._report(FOLDER, f"{self._folder} is not used: {why}")
            return {}
        for path, _, _ in stamp[:_MAX_FILES]:
            file = Path(path)
            if why := distrusted(file):
                self._report(file.stem, f"{file} is not used: {why}")
                continue
            try:
                if not _NAME.fullmatch(file.stem):
                    raise ValueError("a name has lowercase letters, digits and _, and starts with a letter")
                module = _import_file(file)
                function = getattr(module, file.stem, None)
                if not inspect.isfunction(function):
                    raise ValueError(f"it has no function {file.stem}")
                loaded[file.stem] = PluginTool(file.stem, function, module, file.name)
                self.problems.pop(file.stem, None)
            except (Exception, SystemExit) as error:
                self._report(file.stem, f"{file} is not used: {type(error).__name__}: {error}")
        return loaded

    def _load_packages(self) -> dict[str, PluginTool]:
        if not self._wanted:
            return {}
        from importlib.metadata import entry_points

        loaded: dict[str, PluginTool] = {}
        for entry in entry_points(group=GROUP):
            if entry.name not in self._wanted or not _NAME.fullmatch(entry.name):
                continue
            try:
                function = entry.load()
                where = f"{entry.name} of {entry.dist.name if entry.dist else entry.value}"
                loaded[entry.name] = PluginTool(entry.name, function, sys.modules[function.__module__], where)
            except (Exception, SystemExit) as error:
                self._report(entry.name, f"{entry.value} is not used: {type(error).__name__}: {error}")
        for name in self._wanted - loaded.keys() - self.problems.keys():
            self._report(name, f"No installed package has the entry point {name} in {GROUP}.")
        return loaded

    def _report(self, name: str, problem: str) -> None:
        self.problems[name] = problem
        log.warning(problem)


def distrusted(place: Path) -> str:
    """Why someone else could have written this file, or directory; empty if no one could."""
    try:
        found = place.lstat()
    except OSError as error:
        return str(error.strerror)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        return "it is a link or no regular file"
    if sys.platform == "win32":
        return ""
    if found.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    if found.st_mode & 0o022:
        return f"others may write it (chmod go-w {place})"
    return distrusted(place.parent) if stat.S_ISDIR(found.st_mode) and place.name == FOLDER else ""


def _stamp(folder: Path) -> Stamp:
    try:
        files = sorted(each for each in folder.iterdir() if each.suffix == ".py" and not each.name.startswith("_"))
        return tuple((str(each), found.st_mtime_ns, found.st_size) for each in files for found in (each.lstat(),))
    except OSError:
        return ()


def _import_file(file: Path) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    name = f"rainy_brain_tools_{file.stem}"
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # annotations that are texts are looked up there
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        _quietly(spec.loader.exec_module, module)
    finally:
        sys.dont_write_bytecode = before
    return module


def _arguments(name: str, function: Callable[..., Any]) -> tuple[bool, type[Arguments]]:
    fields: dict[str, Any] = {}
    wants_workspace = False
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ValueError(f"the parameter {parameter} can't be given by name")
        if parameter.name == _WORKSPACE and parameter.annotation is Path:
            wants_workspace = True
            continue
        if parameter.annotation is parameter.empty:
            raise ValueError(f"the parameter {parameter.name} needs a type")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (parameter.annotation, default)
    model = create_model(f"{name}_arguments", __base__=PluginArguments, **fields)
    model.model_json_schema()  # a type without a schema is refused now
    return wants_workspace, model


def _quietly(function: Callable[..., Any], *args: Any, **given: Any) -> Any:
    """Call it; what it prints goes to the log, because programs read the sidecar's standard output."""
    with redirect_stdout(sys.stderr):
        return function(*args, **given)


def _option(function: Callable[..., Any], module: Any, name: str, *, default: Any) -> Any:
    return getattr(function, name.lower(), getattr(module, name, default))


def _dump(result: object) -> str:
    if result is None:
        return "Done."
    found = TypeAdapter(Any).dump_python(result, mode="json")
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, indent=1)
