"""Runs commands: those you spell out, and the project's own linter, build, install and formatter."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import HERE, group, is_path, phrases
from sidecar.offline.results import describe_run, did_run, is_declined, is_not_installed, may_have_run
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_COMMAND = re.compile(
    r"(?:(?:please|pls|can you|could you)\s+)*(?:run|execute)\s+(?:(?:the\s+)?command\s*:?\s*)?"
    r"(?:`(?P<quoted>[^`]+)`(?:[\s,]+(?:please|pls|now|again|for me))*|(?P<plain>[\w./-]+(?:\s+\S.*)?))\s*[.!]?",
    re.IGNORECASE | re.DOTALL,
)
#: A command line as typed; only the terminal agent takes it without “run”.
_TYPED = re.compile(
    r"(?P<quoted>(?:npm|pnpm|yarn|bun|npx|pip3?|python3?|node|cargo|git|docker|ruff|mypy|pytest|tox|poetry|uv|tsc|eslint)\s\S.*|"
    r"go (?:build|run|test|vet|mod|fmt|get|install)\b.*|make [\w-]+)"
)
#: A script by its path: the shell doesn't find it by its bare name, and `script FILE` would overwrite it.
_SCRIPT = re.compile(
    r"(?:run|execute|start|launch)\s+(?:(?:the|my|our|this)\s+)?(?:(?:(?:python|node|shell|bash)\s+)?(?:script|file|program)\s+)?"
    r"[`\"']?(?P<path>(?!-)[\w./-]+\.(?P<suffix>py|js|mjs|cjs|sh|bash))[`\"']?",
    re.IGNORECASE,
)
_INTERPRETERS = {"py": "python3", "js": "node", "mjs": "node", "cjs": "node", "sh": "sh", "bash": "bash"}
_QUOTED = re.compile(r"\s*`(?P<quoted>[^`]+)`\s*")
#: Words that begin a sentence rather than a command line.
_NO_PROGRAM = re.compile(
    r"an?|all|every|everything|it|my|our|some|tests?|that|the|these|this|those|through|your|again|once|only|just|me|both|"
    r"away|for|to|with|into|from|off|out|over|in|on|and|or|like|if|when|scripts?|files?|programs?",
    re.IGNORECASE,
)
_PROJECT_COMMANDS = {
    "lint": phrases(
        """
        (run |start |execute )?{the}(linters?|lint|linting|(lint|code style) checks?)( (on|over|in|for) {project})?
        lint (it|everything|this|{project}|all( the)? files)
        check (the |my )?(code ?style|style|linting)
        (run )?(ruff|eslint|flake8|pylint|clippy)
        """
    ),
    "typecheck": phrases(
        """
        (run |do |start )?{the}(type[- ]?check(s|er|ing)?|mypy|pyright)( (on|over|for) {project})?
        (type[- ]?check|check the types( of)?) (it|everything|this|{project})
        check (the|my|all) types
        """
    ),
    "build": phrases(
        """
        (build|compile|bundle) (it|everything|this|{project})
        (run|do|start|make) {the}(build|compilation|a build)( of {project})?
        (build|compile)
        """
    ),
    "install": phrases(
        """
        (install|set ?up|fetch|download|get) (all )?{the}(project's )?{dependencies}( of {project})?
        (install|set ?up) (it|everything|{project})
        (run )?(npm|pnpm|yarn|bun) install
        (run )?npm (i|ci)
        """,
        dependencies="(?:dependencies|deps|requirements|packages|libraries|node_modules)",
    ),
    "start": phrases(
        """
        (start|launch|run|serve|boot|fire up) (it|{project}|(the |my )?((dev|development|web) )?{server})
        """,
        server="(?:server|website|site|service|api|cli)",
    ),
}
_NOUNS = {
    "lint": "linter",
    "typecheck": "type checker",
    "build": "build command",
    "install": "install command",
    "start": "start command",
}
#: Installs and builds take long.
_TIMEOUT_MS = 600_000
_FORMAT = phrases(
    """
    (re)?(format|prettify|beautify) ({all}|{here}|(the )?(code in |file |folder )?{path}){own}
    run (the )?(code )?(auto)?formatter( (on|over) {path})?
    (run )?(ruff format|black|prettier|gofmt|cargo fmt)
    """,
    all=r"(?:it|everything|all\s+(?:of\s+)?(?:the\s+)?(?:code|files)|code|(?:the|my|our|this)\s+(?:(?:whole|entire)\s+)?"
    r"(?:code|project|code\s?base|repo|repository|sources?|source\s+code|files))",
    here=HERE.replace("|here)", "|this)"),
    own=r"(?:\s+with\s+(?:the\s+)?(?:project's\s+)?formatter)?",
)
#: The formatters that take one file, and its suffixes.
_SUFFIXES = {"ruff": (".py", ".pyi"), "black": (".py", ".pyi"), "gofmt": (".go",)}


class Commands:
    example = "run `git status`"
    tools = frozenset({"run_command"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        script = _SCRIPT.fullmatch(question.words)
        if script is not None:
            # A shell script with its folder names its own interpreter.
            own = script["path"].startswith(("./", "/")) and script["suffix"].endswith("sh")
            interpreter = "" if own else f"{_INTERPRETERS[script['suffix'].lower()]} "
            return {"command": f"{interpreter}{script['path']}"}
        asked = _COMMAND.fullmatch(question.asked) or _QUOTED.fullmatch(question.asked)
        if asked is None and question.agent == "terminal":
            asked = _TYPED.fullmatch(question.asked.strip())
        if asked is None:
            return None
        plain = asked.groupdict().get("plain")
        command = (asked["quoted"] or plain or "").strip()
        if not command or (plain and _NO_PROGRAM.fullmatch(command.split()[0])):
            return None
        return {"command": command}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        last = question.last
        return Act([("run_command", args)]) if last is None else _answer(str(args["command"]), last)


class ProjectCommands:
    example = "run the linter"
    tools = frozenset({"find_commands", "run_command"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        kind = next((kind for kind, asked in _PROJECT_COMMANDS.items() if asked.match(question.words)), None)
        return None if kind is None else {"kind": kind}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        kind, last = str(args["kind"]), question.last
        if last is None:
            return Act([("find_commands", {})])
        known = _commands(question.returns[0])
        command = known.get(kind)
        if command is None:
            others = ", ".join(f"`{each}`" for each in list(known.values())[:4])
            found = f" It has: {others}." if others else ""
            return Decline(f"The project has no {_NOUNS[kind]}.{found} If you know the command, say “run `…`”.")
        if kind == "start":
            return Say(
                f"Start it with `{command}` in your own terminal: programs that a task starts end with the task. "
                f"To try it, say “run `{command}`”; it ends after two minutes."
            )
        if last.tool == "find_commands":
            return Act([("run_command", {"command": command, "timeoutMs": _TIMEOUT_MS})])
        return _answer(command, last)


class Formatting:
    example = "format the code"
    tools = frozenset({"find_commands", "run_command"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _FORMAT.match(question.words)
        if asked is None:
            return None
        where = group(asked, "path")
        if group(asked, "here"):
            return {"path": question.brief.current_file or ""}
        if where:
            return {"path": where.removeprefix("./")} if is_path(where) else None
        return {}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        path, last = str(args["path"]) if "path" in args else None, question.last
        if path == "":
            return Decline("No file is open. Name the file, or say “format the code”.")
        if last is None:
            return Act([("find_commands", {})])
        whole = _commands(question.returns[0]).get("format")
        if whole is None:
            return Decline(
                "The project has no known formatter. For Python, install ruff and add `[tool.ruff]` to pyproject.toml; "
                "for TypeScript, install prettier and add a `format` script to package.json."
            )
        command = whole if path is None else _for_file(whole, path)
        if command is None:
            return Decline(
                f"The project's formatter is `{whole}`, which doesn't take {path} alone. Say “format the code” for all."
            )
        if last.tool == "find_commands":
            return Act([("run_command", {"command": command})])
        words = describe_run(command, last)
        return Decline(words) if last.code == "command_failed" and is_not_installed(last) else _answer(command, last)


def _answer(command: str, last: ToolReturn) -> Move:
    """A command that ran and failed is an answer, too."""
    words = describe_run(command, last)
    return Say(words) if did_run(last) or is_declined(last) or may_have_run(last) else Decline(words)


def _commands(back: ToolReturn) -> dict[str, str]:
    found = back.details.get("commands")
    return {kind: str(command) for kind, command in found.items()} if isinstance(found, dict) else {}


def _for_file(command: str, path: str) -> str | None:
    """The formatter's command for one file, if it takes one."""
    program = next((name for name in _SUFFIXES if re.search(rf"\b{name}\b", command)), None)
    if program is None or not command.endswith(" .") or not re.fullmatch(r"[\w./@+-]+", path):
        return None
    if not path.endswith(_SUFFIXES[program]) and "." in path.rpartition("/")[2]:
        return None
    return f"{command[:-1]}{'./' if path[0] in '-@' else ''}{path}"
