import asyncio
from typing import Annotated, Literal

from pydantic import Field

from tools.builtin.encoding import TextFile, new_text
from tools.builtin.existing import existing
from tools.builtin.test_frameworks import found_framework
from tools.changes import told
from tools.code.api import is_public, offered
from tools.code.commands import found_commands, plain_command
from tools.code.files import counted, listed, opened
from tools.code.folders import main_folders, plain_table
from tools.code.languages import language_of
from tools.code.manifest import Manifest, manifest
from tools.errors import ToolError
from tools.host import FileChange, Host
from tools.reading.sections import has_own, mark, with_section
from tools.spec import Arguments, Call, PreparedChange, ToolResult, ToolSpec

Section = Literal["installation", "usage", "commands", "tests", "layout", "api"]
_TITLES: dict[Section, str] = {
    "installation": "Installation",
    "usage": "Usage",
    "commands": "Commands",
    "tests": "Tests",
    "layout": "Layout",
    "api": "API",
}
_FILES = 60


class UpdateReadmeArguments(Arguments):
    sections: Annotated[list[Section], Field(max_length=6, description="Which; all that the code says if empty.")] = []
    path: str = "README.md"


class UpdateReadme:
    spec = ToolSpec(
        name="update_readme",
        description="Add or refresh sections of the README from the code, between marks; all else stays as it is.",
        arguments=UpdateReadmeArguments,
        executor="hybrid",
        timeout=60.0,
        effects="files",
    )

    async def prepare(self, args: UpdateReadmeArguments, host: Host, call: Call) -> PreparedChange:
        before = await existing(host, args.path)
        drafts, about = await _drafts(host, call)
        file = TextFile.of(before, args.path) if before is not None else None
        old = file.text.replace("\r\n", "\n") if file is not None else ""
        text = old or _opening(about, host.workspace)
        done: list[str] = []
        own: list[str] = []
        for section in args.sections or list(_TITLES):
            title = _TITLES[section]
            if section not in drafts:
                if args.sections:
                    done.append(f"{title}: the code says nothing for it")
                continue
            if has_own(text, title):
                own.append(title)
                continue
            how = "refreshed" if mark(section)[0] in text else "added"
            newer = with_section(text, section, f"## {title}\n\n{drafts[section]}")
            done.append(f"{title}: {how if newer != text else 'up to date'}")
            text = newer
        if text == old:
            raise ToolError(_unchanged(args.path, own), code="nothing_to_do")
        after = file.rewritten(text, args.path) if file is not None else new_text(text)
        said = [f"{'Updated' if before is not None else 'Created'} {args.path}.", *(f"- {each}" for each in done)]
        if own:
            said.append(f"Left alone, because you wrote them yourself: {', '.join(own)}.")
        changes = (FileChange(args.path, before, after),)
        result = ToolResult("\n".join(said), told(changes).details, f"{len(done)} sections of {args.path}")
        return PreparedChange(changes, result)


def _unchanged(path: str, own: list[str]) -> str:
    if own:
        return (
            f"{path} has its own sections for {', '.join(own)}; they were left alone, and nothing else is to be said."
        )
    return f"{path} is up to date: it says already what the code says."


def _opening(about: Manifest, workspace: str) -> str:
    name = about.name or workspace.rstrip("/").rpartition("/")[2]
    return f"# {name}\n\n{about.description}\n" if about.description else f"# {name}\n"


async def _drafts(host: Host, call: Call) -> tuple[dict[Section, str], Manifest]:
    """What the code says, for each section that it says something for."""
    files = await listed(host, call)
    about = await manifest(host, {path for path in files if "/" not in path})
    commands = await found_commands(host)
    found: dict[Section, str] = {}
    if "install" in commands:
        found["installation"] = f"```sh\n{commands['install']}\n```"
    if usage := _usage(about, commands, files):
        found["usage"] = usage
    if len(commands) > 1:
        rows = [f"| {kind} | `{command}` |" for kind, command in commands.items()]
        found["commands"] = "\n".join(["| to | run |", "| --- | --- |", *rows])
    try:
        framework = await found_framework(host, ())
        found["tests"] = f"```sh\n{plain_command(' '.join(framework.argv))}\n```"
    except ToolError:
        pass
    folders = await main_folders(host, files, await counted(host, call))
    if len(folders) > 1 and any(folder.purpose for folder in folders):
        found["layout"] = plain_table(folders)
    sources = await opened(host, [path for path in files if language_of(path) is not None and is_public(path)][:_FILES])
    public, more = await asyncio.to_thread(offered, sources.values())
    if public:
        rows = [
            f"| `{each.signature.replace('|', '/')}` | `{each.path}` | {each.said.replace('|', '/')} |"
            for each in public
        ]
        left = [f"\n… and {more} more."] if more else []
        found["api"] = "\n".join(["| what | where | what it does |", "| --- | --- | --- |", *rows, *left])
    return found, about


def _usage(about: Manifest, commands: dict[str, str], files: list[str]) -> str:
    programs = [
        name for name, target in about.entries.items() if ":" in target or target.endswith((".js", ".mjs", ".cjs"))
    ]
    if programs:
        return "```sh\n" + "\n".join(f"{name} --help" for name in programs[:5]) + "\n```"
    if "start" in commands:
        return f"```sh\n{commands['start']}\n```"
    packages = [path.split("/")[-2] for path in files if path.endswith("/__init__.py") and path.count("/") <= 2]
    name = about.name.replace("-", "_")
    if name in packages:
        return f"```python\nimport {name}\n```"
    return ""
