import asyncio
from collections import Counter
from collections.abc import Sequence

from pydantic import JsonValue

from tools.errors import ToolError
from tools.git import current_branch
from tools.host import Host, OutputCollector
from tools.ripgrep import ripgrep_command
from tools.skipped import without_build_output
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.test_frameworks import find_framework
from tools.text import plural

_SUFFIXES = {
    "Python": ".py .pyi",
    "JavaScript": ".js .jsx .mjs .cjs",
    "TypeScript": ".ts .tsx",
    "Go": ".go",
    "Rust": ".rs",
    "Java": ".java",
    "C": ".c .h",
    "C++": ".cpp .cc .hpp",
    "C#": ".cs",
    "Ruby": ".rb",
    "PHP": ".php",
    "Swift": ".swift",
    "Kotlin": ".kt",
    "Shell": ".sh",
    "HTML": ".html",
    "CSS": ".css",
    "SQL": ".sql",
}
_LANGUAGES = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
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
        collector = OutputCollector(32 << 20)
        argv = [*ripgrep_command(), "--files", "--null"]
        await host.run(argv, call_id=call.id, timeout=call.timeout, output=collector, killed=call.killed, log=False)
        names = await without_build_output(host, (name for name in collector.text.split("\0") if name))
        counts = await asyncio.to_thread(_count_languages, names)
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


def _count_languages(names: Sequence[str]) -> Counter[str]:
    return Counter(_LANGUAGES[suffix] for name in names if (suffix := _suffix(name)) in _LANGUAGES)


def _suffix(name: str) -> str:
    return name[name.rfind(".") :].lower() if "." in name else ""
