"""Runs what a project has for linting, type checks, building and installing; says how it is started."""

from sidecar.offline.output import ended, refused, told
from sidecar.offline.phrases import phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_ASKED = {
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
_WORD = {
    "lint": "linter",
    "typecheck": "type checker",
    "build": "build command",
    "install": "install command",
    "start": "start command",
}
#: An install or a build takes its time.
_PATIENCE_MS = 600_000


class Running:
    example = "run the linter"
    tools = frozenset({"find_commands", "run_command"})

    def recognise(self, question: Question) -> JsonObject | None:
        for kind, patterns in _ASKED.items():
            if understood(patterns, question.words):
                return {"kind": kind}
        return None

    def next(self, wish: JsonObject, question: Question) -> Move:
        kind, last = str(wish["kind"]), question.last
        if last is None:
            return Act([("find_commands", {})])
        if last.tool == "find_commands":
            return self._found(kind, last.content if last.status == "success" else "")
        command = _commands(question.returns[0].content).get(kind, "")
        words = told(command, last)
        if last.status == "success" or ended(last.content):
            return Say(f"{_good(kind)} {words}" if last.status == "success" and _good(kind) else words)
        return Say(words) if refused(last.content) else Decline(words)

    def _found(self, kind: str, content: str) -> Move:
        command = _commands(content).get(kind)
        if command is None:
            others = ", ".join(f"`{each}`" for each in list(_commands(content).values())[:4])
            has = f" What there is: {others}." if others else ""
            return Decline(f"The project names no {_WORD[kind]}.{has} If you know the command, say “run `…`”.")
        if kind == "start":
            return Say(
                f"Start it with `{command}` in a terminal of yours: what a task starts ends with the task. "
                f"To try whether it comes up, say “run `{command}`”; it is ended after two minutes."
            )
        return Act([("run_command", {"command": command, "timeoutMs": _PATIENCE_MS})])


def _commands(content: str) -> dict[str, str]:
    pairs = (line.partition(": ") for line in content.splitlines())
    return {kind: command for kind, mark, command in pairs if mark and kind in _ASKED}


def _good(kind: str) -> str:
    return {"lint": "The linter is content:", "build": "The build went well:", "typecheck": "The types are right:"}.get(
        kind, ""
    )
