import asyncio
from collections import Counter

from pydantic import JsonValue

from sidecar.wire.text import plural
from tools.code.files import list_files
from tools.code.languages import language_name
from tools.errors import ToolError
from tools.git import current_branch
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.test_frameworks import find_framework

_MANIFESTS = frozenset(
    {"pyproject.toml", "package.json", "go.mod", "Cargo.toml", "pom.xml", "build.gradle", "CMakeLists.txt", "Makefile"}
)


class GetWorkspaceInfoArguments(Arguments):
    pass


class GetWorkspaceInfo:
    spec = ToolSpec(
        name="get_workspace_info",
        description="Show the workspace's path, languages, project files, test framework and Git branch.",
        arguments=GetWorkspaceInfoArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: GetWorkspaceInfoArguments, host: Host, call: Call, output: Output) -> ToolResult:
        entries = [info.path for info in await host.list(".")]
        names = await list_files(host, call)
        counts = await asyncio.to_thread(lambda: Counter(filter(None, map(language_name, names))))
        try:
            framework: str | None = (await find_framework(host)).name
        except ToolError:
            framework = None
        branch = await current_branch(host)
        manifests: list[JsonValue] = [name for name in entries if name in _MANIFESTS]
        languages: dict[str, JsonValue] = dict(counts.most_common(8))
        lines = [
            f"workspace: {host.workspace}",
            f"files: {len(names)}",
            f"languages: {', '.join(f'{name} ({count})' for name, count in languages.items()) or 'none known'}",
            f"project files: {', '.join(map(str, manifests)) or 'none'}",
            f"tests: {framework or 'none found'}",
            f"git branch: {branch or 'not a Git repository'}",
        ]
        details: dict[str, JsonValue] = {
            "workspace": host.workspace,
            "files": len(names),
            "languages": languages,
            "manifests": manifests,
            "tests": framework,
            "branch": branch,
        }
        return ToolResult(
            "\n".join(lines), details, f"{plural(len(names), 'file')}, {next(iter(languages), 'no known language')}"
        )
