"""The command table: name, group, help, examples and arguments of every command, and the function that runs it.

Nothing here imports a command's code, so `brain --help` and completion stay fast. REFERENCE.md and the docs test come
from this table.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROLES = ("fast", "smart", "instant")
APPROVALS = ("ask", "edits", "auto", "readonly")
GRANTS = ("command", "install", "checks", "spend", "host", "read")


class Argument(NamedTuple):
    """One call of `add_argument`; `choices` are loaded when a value is checked or completed."""

    names: tuple[str, ...]
    settings: dict[str, Any]
    choices: Callable[[], Sequence[str]] | None = None
    #: Arguments with the same word exclude each other.
    exclusive: str = ""


class Command(NamedTuple):
    name: str
    group: str
    summary: str
    about: str
    examples: str
    #: "module:function" below `sidecar.commands`.
    handler: str
    arguments: tuple[Argument, ...] = ()
    actions: tuple["Command", ...] = ()
    #: Options may stand between positional arguments.
    intermixed: bool = False


def _arg(*names: str, choices: Callable[[], Sequence[str]] | None = None, **more: Any) -> Argument:
    return Argument(names, more, choices)


def _choice(name: str, metavar: str, options: Sequence[str], default: str | None = None, **more: Any) -> Argument:
    about = f"{', '.join(options[:-1])} or {options[-1]}" + (f" (default: {default})" if default else "")
    return Argument((name,), {"metavar": metavar, "default": default, "help": about, **more}, lambda: options)


def _flag(*names: str, help: str) -> Argument:
    return _arg(*names, action="store_true", help=help)


def _approvals(help: str, default: str | None = "ask") -> Argument:
    return _choice("--approvals", "MODE", APPROVALS, default=default, help=help)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1")
    return number


def _intents() -> Sequence[str]:
    from sidecar.wire.intents import INTENTS

    return INTENTS


def _providers() -> Sequence[str]:
    from sidecar.config.keys import VARIABLES

    return tuple(VARIABLES)


_DATA_DIR = _arg(
    "--data-dir",
    type=Path,
    metavar="DIR",
    help="where tasks are stored (default: $BRAIN_DATA_DIR, else your system's data directory)",
)
_WORKSPACE = _arg(
    "--workspace",
    "-w",
    type=Path,
    default=Path(),
    metavar="DIR",
    help="directory to work in (default: current directory)",
)
_PORT = _arg("--port", type=int, default=3847, help="port to listen on, 0 for any free port (default: %(default)s)")
_TASK_ID = _arg(
    "id", metavar="ID", nargs="?", help="task id, or a unique prefix of it (default: the newest task in this directory)"
)
_JSON = _flag("--json", help="print JSON")
_EVENTS_JSON = _flag("--json", help="print the events only, one JSON object per line")
OUTPUTS = ("events", "json", "text")
_OUTPUT = (
    Argument(
        ("--output", "-o"),
        {
            "metavar": "FORM",
            "help": "text: only the answer; json: the ended task as one JSON object; events: JSON lines",
        },
        lambda: OUTPUTS,
        exclusive="output",
    ),
    Argument(
        ("--print", "-p"),
        {"action": "store_const", "const": "text", "dest": "output", "help": "the same as --output text"},
        exclusive="output",
    ),
    Argument(
        ("--json",),
        {"action": "store_const", "const": "events", "dest": "output", "help": "the same as --output events"},
        exclusive="output",
    ),
)
_MODEL = _arg(
    "--model",
    "-m",
    action="append",
    metavar="[ROLE=]PROVIDER/NAME",
    default=[],
    help="model for every role, or for one of fast, smart, instant",
)

_GRANT = (
    _arg(
        "--workspace",
        default=".",
        metavar="REPOSITORY",
        help="directory, or a remote's URL (default: current directory)",
    ),
    _arg(
        "--for", dest="duration", metavar="TIME", help="how long it holds, such as 8h or 30d (default: until revoked)"
    ),
    _JSON,
    _DATA_DIR,
)

_DECISION = {"action": "store_const", "dest": "decision"}

_REWIND = (
    _arg(
        "--include",
        action="append",
        default=[],
        metavar="PATH",
        help="restore this file too, although it is unknown who changed it",
    ),
    _flag("--preview", help="show what would change and change nothing"),
    _JSON,
    _DATA_DIR,
)

#: `brain` without a command.
DEFAULT = Command(
    "",
    "",
    "work with the agents in this terminal, or open the panel",
    "In a terminal: a session. Type what to do; answers, changes and questions appear above the prompt. `/help` lists "
    "its commands and keys. It uses the running sidecar, or starts one that exits when it is idle.\n\n"
    "With --panel, or without a terminal: start the sidecar and open the panel in your browser. If a sidecar is "
    "already running, open its panel. Ctrl-C stops the sidecar; unfinished tasks resume at the next start.",
    """\
brain
brain --continue
brain --panel
brain --panel --no-open --port 0""",
    "session.app:start",
    (
        _WORKSPACE,
        _arg(
            "--port",
            type=int,
            default=3847,
            help="port to listen on, 0 for any free port (default: %(default)s)",
        ),
        _flag("--continue", "-c", help="begin with the newest task in this directory"),
        _flag("--panel", help="start the sidecar and open the panel"),
        _flag("--no-open", help="open the panel, but no browser"),
        _DATA_DIR,
    ),
)

_TABLE = (
    Command(
        "run",
        "Tasks",
        "run a task and watch it",
        "Run a task and watch it in this terminal. It uses the running sidecar; if there is none, it starts one that "
        "exits when it is idle. Without a terminal, or with --output, it never asks, as with --approvals auto: what "
        "needs your approval is denied at once, unless you granted it (`brain policy allow`). Piped input is attached "
        "to the task as context.\n\n"
        "Ctrl-C cancels the task, stops everything it started and shows what had already happened. A second Ctrl-C "
        "detaches and leaves the task alone.",
        """\
brain run "run the tests"
brain run "list the files in src" --workspace ~/project
brain run 'run `git status`' --json | jq .type
git diff | brain run -p "what does this change do?" > answer.txt
brain run --continue "now the same for the tests" --max-cost 0.50
brain run "search for TODO" --approvals readonly""",
        "run:run",
        (
            _arg("task", help='what to do, in plain words; "-" reads standard input'),
            _WORKSPACE,
            _DATA_DIR,
            *_OUTPUT,
            _flag("--continue", "-c", "--last", help="continue the newest conversation in this directory"),
            _approvals(
                "ask before commands, edits to ask before edits too, auto to never ask and deny instead, readonly to "
                "change nothing (default: ask)"
            ),
            _MODEL,
            _arg("--intent", choices=_intents, metavar="INTENT", help="kind of task, instead of the router's choice"),
            _arg("--conversation", metavar="ID", help="continue this conversation"),
            _choice("--priority", "LEVEL", ("high", "normal", "low"), default="normal"),
            _flag("--plan", help="plan first, reading only, and ask whether to go ahead"),
            _flag("--worktree", help="work in a Git worktree of its own, to be merged with `brain merge`"),
            _arg(
                "--verify",
                action="append",
                metavar="COMMAND",
                default=[],
                help="verify the change with this command (repeatable), or `off`; without a terminal, a check that "
                "needs your approval is skipped",
            ),
            _arg("--max-cost", type=float, metavar="USD", help="stop when the models have cost this much"),
            _arg("--max-turns", type=_positive, metavar="N", help="how many turns an agent may take"),
            _arg("--max-duration", type=float, metavar="SECONDS", help="give up after this much work (default: 3600)"),
        ),
    ),
    Command(
        "tasks",
        "Tasks",
        "list tasks, newest first",
        "List the tasks of all workspaces, newest first. It works without a running sidecar and never starts a task.",
        """\
brain tasks
brain tasks --here --search "parser tests"
brain tasks --status running,waiting
brain tasks --limit 200 --json | jq -r 'select(.status == "failed") | .id'""",
        "tasks:list_tasks",
        (
            _flag("--here", help="only tasks of this directory"),
            _arg("--search", "-s", metavar="WORDS", help="only tasks with these words in their text or files"),
            _arg("--status", metavar="STATUS", help="only tasks with this status; separate several with commas"),
            _arg("--limit", type=_positive, default=20, metavar="N", help="how many to list (default: %(default)s)"),
            _flag("--json", help="print one JSON object per line"),
            _DATA_DIR,
        ),
    ),
    Command(
        "show",
        "Tasks",
        "show a task, or follow it live",
        "Show a task from its first event: the request, tool calls, messages, changes and result. With --follow, keep "
        "watching until the task ends; Ctrl-C stops watching and leaves the task alone.",
        """\
brain show                     the newest task
brain show t_4642c5
brain show --follow t_4642c5
brain show t_4642c5 --json | jq .usage""",
        "tasks:show",
        (
            _TASK_ID,
            _flag("--follow", "-f", help="watch until the task ends"),
            _flag("--json", help="print the task as one JSON object; with --follow its events, one per line"),
            _DATA_DIR,
        ),
    ),
    Command(
        "message",
        "Tasks",
        "steer a running task, or continue one that ended",
        "Send a message to a task. A running task reads it at its next step; one that ended continues in the same "
        "conversation.",
        """\
brain message t_4642c5 "leave the tests as they are"
brain message --follow "now search for TODO"         the newest task here""",
        "steer:message",
        (
            _TASK_ID,
            _arg("text", help="the message"),
            _flag("--follow", "-f", help="watch it; Ctrl-C cancels, a second Ctrl-C detaches"),
            _flag("--json", help="with --follow: print the events, one JSON object per line"),
            _DATA_DIR,
        ),
        intermixed=True,
    ),
    Command(
        "approve",
        "Tasks",
        "allow or deny what a task wants to do",
        "Answer the approvals a task waits for. Without --allow or --deny it shows them: the whole command, where it "
        "would run, and why it needs your approval.",
        """\
brain approve                                   show what the newest task here waits for
brain approve t_4642c5 --allow
brain approve t_4642c5 --allow --scope task     don't ask again for the same call in this task
brain approve t_4642c5 a_17 --deny              when several approvals are open""",
        "steer:approve",
        (
            _TASK_ID,
            _arg("approval", metavar="APPROVAL", nargs="?", help="approval id, when several are open"),
            *(
                Argument((f"--{verb}",), {**_DECISION, "const": verb, "help": f"{verb} the call"}, exclusive="decision")
                for verb in ("allow", "deny")
            ),
            _flag("--all", help="answer every open approval"),
            _choice("--scope", "SCOPE", ("once", "task", "workspace"), default="once"),
            _DATA_DIR,
        ),
    ),
    Command(
        "answer",
        "Tasks",
        "answer a question of a task",
        "Answer the question a task waits for, with one of its choices (by number or word) or with your own words. "
        "Without an answer it shows the open questions.",
        """\
brain answer t_4642c5                  show what it asks
brain answer t_4642c5 skip
brain answer t_4642c5 2 --question q_7    when several are open""",
        "steer:answer",
        (
            _TASK_ID,
            _arg("answer", metavar="ANSWER", nargs="?", help="the answer, or the number of a choice"),
            _arg("--question", metavar="QUESTION", help="question id, when several are open"),
            _DATA_DIR,
        ),
    ),
    Command(
        "cancel",
        "Tasks",
        "cancel a task and everything it started",
        "Cancel a task. Returns when every process the task started is dead, and lists what was killed and what had "
        "already happened. Finished work stays; `brain resume` continues from there.",
        "brain cancel t_4642c5",
        "steer:cancel",
        (_TASK_ID, _DATA_DIR),
    ),
    Command(
        "resume",
        "Tasks",
        "resume a task from its last checkpoint",
        "Resume a cancelled, failed or interrupted task from its last checkpoint, without repeating finished steps. "
        "If no sidecar is running, it starts one that exits when it is idle.",
        """\
brain resume t_4642c5
brain resume --follow t_4642c5      and watch it""",
        "run:resume",
        (
            _TASK_ID,
            _flag("--follow", "-f", help="watch it; Ctrl-C cancels, a second Ctrl-C detaches"),
            _flag("--json", help="with --follow: print the events, one JSON object per line"),
            _DATA_DIR,
        ),
    ),
    Command(
        "diff",
        "Tasks",
        "show, accept or reject a task's changes",
        "Show a task's changes as unified diffs. Into a pipe or file it writes a patch for `git apply`. --accept and "
        "--reject take a hunk's id, a file's path or `all`; rejected changes are undone in the files, and the agents "
        "learn about it.",
        """\
brain diff
brain diff t_4642c5 | git apply --reverse       undo all of it
brain diff t_4642c5 --json                      with hunk ids
brain diff t_4642c5 --reject src/a.py           undo one file
brain diff t_4642c5 --accept all""",
        "review:diff",
        (
            _TASK_ID,
            _flag("--json", help="print JSON, by file and hunk"),
            _arg("--accept", action="append", default=[], metavar="WHAT", help="keep a hunk, a file, or all"),
            _arg("--reject", action="append", default=[], metavar="WHAT", help="undo a hunk, a file, or all"),
            _DATA_DIR,
        ),
    ),
    Command(
        "rewind",
        "Tasks",
        "undo what a task did after an event",
        "Rewind a task's files and conversation to one of its events; 0 is before the first. `brain show --json` and "
        "the panel list event numbers. Your own later edits are merged; where they conflict, the file stays as it is. "
        "A rewind can itself be rewound, and `brain resume` continues from there.",
        """\
brain rewind t_4642c5 0 --preview     what would change?
brain rewind t_4642c5 0               undo everything
brain rewind t_4642c5 17              back to event 17
brain rewind t_4642c5 17 --files      only the files""",
        "review:rewind",
        (
            _TASK_ID,
            _arg("seq", type=int, metavar="SEQ", help="number of the event to go back to"),
            _flag("--files", help="rewind the files only and keep the conversation"),
            *_REWIND,
        ),
    ),
    Command(
        "undo",
        "Tasks",
        "undo what a task did to your files",
        "Rewind the newest task in this directory to its start: its changes are undone, yours and those of other tasks "
        "stay. It lists every file that it restored, left alone or could not restore. Repeat it once you removed the "
        "reason. `brain rewind` goes back to any event instead.",
        """\
brain undo                    the newest task in this directory
brain undo --last-change      only its last change; again for the one before
brain undo t_4642c5 --preview""",
        "review:undo",
        (
            _TASK_ID,
            _flag("--last-change", help="undo only the last change of files"),
            *_REWIND,
        ),
    ),
    Command(
        "merge",
        "Tasks",
        "merge an isolated task into your workspace",
        "Merge what a task with its own worktree (`brain run --worktree`) changed into your workspace: three-way, so "
        "your changes since stay. It changes files only, never Git's index, branches or stash. With conflicts it shows "
        "them, changes nothing and exits with 1. After a merge the worktree is removed; `brain undo` takes the merge "
        "back.",
        """\
brain merge t_4642c5 --preview     what would change?
brain merge t_4642c5
brain merge t_4642c5 --markers     conflicts stay in the files, between markers""",
        "worktrees:merge",
        (
            _TASK_ID,
            _flag("--preview", help="show what would change and change nothing"),
            _flag("--markers", help="merge in spite of conflicts, and mark them in the files as Git does"),
            _JSON,
            _DATA_DIR,
        ),
    ),
    Command(
        "worktrees",
        "Tasks",
        "list and remove worktrees of isolated tasks",
        "List the worktrees of isolated tasks, or remove those that nobody needs: `clean` keeps those whose task is at "
        "work, and those with changes that are not merged, unless you name the task and say --discard.",
        """\
brain worktrees
brain worktrees clean
brain worktrees clean --discard t_4642c5     throw its changes away""",
        "worktrees:worktrees",
        (
            _arg(
                "action",
                nargs="?",
                choices=lambda: ("list", "clean"),
                default="list",
                help="list or clean (default: list)",
            ),
            _arg("tasks", nargs="*", metavar="ID", help="clean: only the worktrees of these tasks"),
            _flag("--discard", help="clean: also throw away changes that are not merged"),
            _JSON,
            _DATA_DIR,
        ),
        intermixed=True,
    ),
    Command(
        "fork",
        "Tasks",
        "start a new task from an event of another task",
        "Start a new task with the conversation and files another task had at one of its events, but with a different "
        "instruction or model. The other task keeps its history.",
        """\
brain fork t_4642c5 --to 17 "keep the old name, add a new function instead"
brain fork t_4642c5 --to 17 --model anthropic/claude-sonnet-4-5     retry with another model
brain fork t_4642c5 --keep-files "now write the tests for it\"""",
        "run:fork",
        (
            _TASK_ID,
            _arg("task", nargs="?", help="what to do instead; required if the other task had finished by then"),
            _arg("--to", type=int, metavar="SEQ", help="number of the event to start from (default: the last)"),
            _MODEL,
            _approvals("ask, edits, auto or readonly (default: as in the other task)", None),
            _flag("--keep-files", help="leave the files as they are now"),
            _EVENTS_JSON,
            _DATA_DIR,
        ),
        intermixed=True,
    ),
    Command(
        "search",
        "Code",
        "find code by what it does",
        "Find the places in a workspace that do something, described in plain words. The first search builds an index "
        "of the workspace on this machine; later ones take milliseconds.",
        """\
brain search "where are expired sessions removed"
brain search "retry a request" --path src --limit 3
brain search "parse the configuration" --json | jq -r '.hits[] | "\\(.path):\\(.line)"'""",
        "memory:search",
        (
            _arg("query", metavar="WORDS", help="what the code does"),
            _arg("--path", metavar="PATH", help="only in this folder or file"),
            _arg("--kind", metavar="KIND", help="only this kind, such as function, class or section"),
            _arg("--days", type=_positive, default=0, metavar="N", help="only files changed in the last N days"),
            _arg("--limit", type=_positive, default=8, metavar="N", help="how many to show (default: %(default)s)"),
            _WORKSPACE,
            _JSON,
            _DATA_DIR,
        ),
    ),
    Command(
        "impact",
        "Code",
        "list what depends on a file or a symbol",
        "List what may break if a file or a symbol changes: the files that import it, nearest first.",
        """\
brain impact sidecar/cache/watcher.py
brain impact parse_arguments --depth 1
brain impact Watcher --path sidecar/cache/watcher.py --json""",
        "memory:impact",
        (
            _arg("name", metavar="NAME", help="a file, or the name of a function, class or constant"),
            _arg("--path", metavar="FILE", help="the file that defines the symbol, if several do"),
            _arg(
                "--depth", type=_positive, default=2, metavar="N", help="how many imports away (default: %(default)s)"
            ),
            _WORKSPACE,
            _JSON,
            _DATA_DIR,
        ),
    ),
    Command(
        "memory",
        "Code",
        "show, rebuild or forget the index of a workspace; decide on what agents propose",
        "Show how much of a workspace is indexed and how much room that takes. The index lies in the data directory "
        "and holds nothing that isn't in the workspace. Agents may propose decisions, patterns, team standards and "
        "skills: `notes` lists them, with the difference they make; only you accept them.",
        """\
brain memory
brain memory rebuild
brain memory notes
brain memory accept n_1f0c2a9b4e7d
brain memory forget --workspace ~/project""",
        "memory:manage",
        (
            _arg(
                "action",
                nargs="?",
                default="state",
                metavar="ACTION",
                choices=lambda: ("state", "rebuild", "forget", "notes", "accept", "remove"),
                help="state, rebuild (build it anew and wait), forget (delete it), notes, accept ID or remove ID "
                "(default: %(default)s)",
            ),
            _arg("id", nargs="?", default="", metavar="ID", help="the note, for accept and remove"),
            _WORKSPACE,
            _JSON,
            _DATA_DIR,
        ),
    ),
    Command(
        "tools",
        "Tools and permissions",
        "list the tools",
        "List the tools: what each does, its arguments, and whether it changes anything.",
        """\
brain tools
brain tools --json | jq '.[] | select(.name == "search_code") | .parameters'""",
        "tools:list_tools",
        (_flag("--json", help="print everything as a JSON list"), _DATA_DIR),
    ),
    Command(
        "tool",
        "Tools and permissions",
        "run one tool without a model",
        "Run one tool the way agents do: validated, checked against the policy, and with bounded output. Values are "
        "parsed as JSON where possible, else taken as text; to force text, quote twice: query='\"42\"'.",
        """\
brain tool list_dir path=sidecar
brain tool search_code query=TODO maxResults=5
brain tool run_command command='git status' --approvals auto
brain tool read_file path=README.md startLine=1 endLine=5 --json""",
        "tools:run_tool",
        (
            _arg("name", metavar="NAME", help="tool name; `brain tools` lists them"),
            _arg("args", metavar="key=value", nargs="*", help="the tool's arguments"),
            _WORKSPACE,
            _approvals("auto lets it run commands (default: ask)"),
            _flag("--json", help="print the whole result as JSON"),
            _DATA_DIR,
        ),
    ),
    Command(
        "route",
        "Tools and permissions",
        "explain how a task would be routed",
        "Show the intent and pipeline the router would choose for a task, and why. Runs nothing.",
        'brain route "rename the class and update its callers"',
        "tools:route",
        (_arg("task", help="the task, in plain words"), _JSON, _WORKSPACE, _DATA_DIR),
    ),
    Command(
        "policy",
        "Tools and permissions",
        "explain whether a call would be allowed; grant, list and revoke permissions",
        "`explain` says whether a command or another tool call would be allowed, need your approval, or be denied; it "
        "runs nothing. `allow` grants a repository a standing permission, for unattended tasks; it also covers "
        "the worktrees and clones that the sidecar makes of it. `list` shows grants and the approvals you gave for "
        "whole workspaces, `revoke` takes one back. Harmless programs are listed in `tools/policy/programs.toml`; your "
        "own `policy.toml` in the configuration directory has the same format and comes first.",
        """\
brain policy explain "git log -5"
brain policy explain --approvals auto "npm install"
brain policy allow install npm                install packages from the registry
brain policy allow checks                     run tests, builds and linters, also untrusted
brain policy allow command "make docs"        run exactly this command
brain policy allow spend 2.50 --for 30d       at most so many dollars for each unattended task
brain policy allow-read ~/fixtures            commands may read this path
brain policy allow-host api.example.com       commands may reach this host
brain policy list
brain policy revoke g_17""",
        "",
        actions=(
            Command(
                "explain",
                "",
                "allowed, needs approval, or denied?",
                "Explain whether a call would be allowed. The exit code is 1 if it would be denied.",
                "",
                "policy:explain",
                (
                    _arg("words", metavar="COMMAND", nargs="+", help="a command; with --tool its key=value arguments"),
                    _arg("--tool", metavar="NAME", help="tool to call (default: run_command)"),
                    _approvals("the task's mode: ask, edits, auto or readonly (default: ask)"),
                    _JSON,
                    _WORKSPACE,
                    _DATA_DIR,
                ),
            ),
            Command(
                "list",
                "",
                "list grants, and approvals for whole workspaces",
                "List the grants of repositories, and the approvals you gave for whole workspaces or running tasks.",
                "",
                "policy:list_permissions",
                (_JSON, _DATA_DIR),
            ),
            Command(
                "allow",
                "",
                "grant a repository a standing permission",
                "Grant a repository a standing permission. `command` runs exactly this command line; `install` "
                "installs packages with a package manager (all known ones without VALUE) from its registry; `checks` "
                "runs tests, builds and linters, or one command; `spend` limits the dollars of each unattended task; "
                "`host` and `read` widen the sandbox.",
                "",
                "policy:allow",
                (
                    _arg("kind", metavar="KIND", choices=lambda: GRANTS, help=f"one of {', '.join(GRANTS)}"),
                    _arg(
                        "value", metavar="VALUE", nargs="?", help="the command, package manager, amount, host or path"
                    ),
                    *_GRANT,
                ),
            ),
            Command(
                "allow-read",
                "",
                "let a repository's commands read a path outside it",
                "Let a repository's commands read a path outside the workspace.",
                "",
                "policy:allow_read",
                (_arg("path", metavar="PATH", help="file or directory"), *_GRANT),
            ),
            Command(
                "allow-host",
                "",
                "let a repository's commands reach a host",
                "Let a repository's commands reach a host by its name.",
                "",
                "policy:allow_host",
                (_arg("name", metavar="NAME", help="host name, such as api.example.com"), *_GRANT),
            ),
            Command(
                "revoke",
                "",
                "revoke a grant or an approval",
                "Revoke a grant or an approval; it needs your approval again, also in running tasks.",
                "",
                "policy:revoke",
                (_arg("id", metavar="ID", help="id from `brain policy list`"), _DATA_DIR),
            ),
        ),
    ),
    Command(
        "mcp",
        "Tools and permissions",
        "serve tasks to MCP clients; use the tools of MCP servers",
        "Without an action it is an MCP server on standard input and output: Claude Desktop, Cursor and others start "
        "it, hand over tasks, watch them and take them back. The same is at `/mcp` of a running sidecar, with its "
        "token.\n\n"
        "Agents can use the tools of MCP servers. They are in `mcp.json` of the configuration directory, in the format "
        "of Claude Code, Cursor and VS Code, and in `.mcp.json` and `.vscode/mcp.json` of a workspace that you trust. "
        "A server runs in the sandbox with what its entry grants: no network and no writing unless it says so. You "
        "accept its tools once; when one of them changes, you are asked again.",
        """\
brain mcp                                             for the configuration of an MCP client
brain mcp add notes --network -- npx -y @modelcontextprotocol/server-memory
brain mcp add files --write . -- mcp-server-filesystem .
brain mcp add tickets --header "Authorization: Bearer ${TICKETS_TOKEN}" https://mcp.example.com/mcp
brain mcp list
brain mcp test notes
brain mcp remove notes""",
        "mcp:serve",
        (_WORKSPACE, _DATA_DIR),
        actions=(
            Command(
                "add",
                "",
                "add a server to your own mcp.json, and show its tools",
                "Add a server to your own mcp.json and show its tools. Options come before -- and the command.",
                "",
                "mcp:add",
                (
                    _arg("name", metavar="NAME", help="agents call its tools NAME__TOOL"),
                    _arg("command", metavar="COMMAND", nargs="+", help="its command after --, or its address"),
                    _arg("--env", metavar="NAME=VALUE", action="append", help="variable of its environment"),
                    _arg("--header", metavar="NAME:VALUE", action="append", help="header for its address"),
                    _flag("--network", help="let it use the network"),
                    _arg("--read", metavar="PATH", action="append", help="let it read this path"),
                    _arg("--write", metavar="PATH", action="append", help="let it write below this path"),
                    _arg("--allow", metavar="TOOL", action="append", help="tool that needs no approval; * for all"),
                    _flag("--yes", help="accept its tools without asking"),
                    _WORKSPACE,
                    _DATA_DIR,
                ),
                intermixed=True,
            ),
            Command(
                "list",
                "",
                "list the servers and their state",
                "List the servers of your configuration and of this workspace.",
                "",
                "mcp:list_servers",
                (_JSON, _WORKSPACE, _DATA_DIR),
            ),
            Command(
                "test",
                "",
                "start a server and list its tools",
                "Start a server, list its tools, and offer to accept them.",
                "",
                "mcp:test",
                (
                    _arg("name", metavar="NAME", help="name in mcp.json"),
                    _flag("--accept", help="accept its tools as they are"),
                    _JSON,
                    _WORKSPACE,
                    _DATA_DIR,
                ),
            ),
            Command(
                "resources",
                "",
                "list the resources and prompts that a task can name",
                "List what a task can name: @SERVER:RESOURCE attaches a resource, /SERVER:PROMPT at its start runs a "
                "prompt. Only servers whose tools you accepted are asked.",
                "",
                "mcp:list_references",
                (_JSON, _WORKSPACE, _DATA_DIR),
            ),
            Command(
                "login",
                "",
                "sign in to a remote server",
                "Sign in to a remote server with your browser. Its tokens are kept in the data directory and renewed.",
                "",
                "mcp:login",
                (_arg("name", metavar="NAME", help="name in mcp.json"), _WORKSPACE, _DATA_DIR),
            ),
            Command(
                "input",
                "",
                "store a value that an entry asks for",
                "Store the value of ${input:ID} in an entry; it is read from the terminal or standard input.",
                "",
                "mcp:set_input",
                (_arg("name", metavar="ID", help="id of the input"), _DATA_DIR),
            ),
            Command(
                "remove",
                "",
                "remove a server from your own mcp.json",
                "Remove a server from your own mcp.json and forget its tools.",
                "",
                "mcp:remove",
                (_arg("name", metavar="NAME", help="name in mcp.json"), _DATA_DIR),
            ),
        ),
    ),
    Command(
        "trust",
        "Tools and permissions",
        "trust a workspace to run its tests and harmless commands",
        "Trust a directory: its own tests and harmless commands then run without asking, and its configuration counts. "
        "Trust is stored outside of the directory and ends when what the directory runs or configures changes.",
        """\
brain trust                    trust the current directory
brain trust ~/src/app --revoke
brain trust --list""",
        "tools:trust",
        (
            _arg("directory", metavar="DIR", nargs="?", default=".", help="default: current directory"),
            _flag("--revoke", help="stop trusting it"),
            _flag("--list", help="list trusted directories and change nothing"),
            _JSON,
            _DATA_DIR,
        ),
    ),
    Command(
        "serve",
        "Sidecar",
        "start the sidecar, for an editor or a script",
        "Start the sidecar and run until SIGTERM or SIGINT. When ready it prints one JSON line on standard output, "
        '{"event":"ready","url":…,"pid":…,"tokenFile":…,"version":…}, and nothing else; logs go to standard error. '
        "Unfinished tasks of an earlier sidecar resume.",
        """\
brain serve
brain serve --port 0 --workspace ~/project     any free port; read it from the ready line
brain serve --die-with-parent                  for a desktop shell""",
        "serve:serve",
        (
            _WORKSPACE,
            _arg("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)"),
            _PORT,
            _DATA_DIR,
            _flag("--allow-remote", help="allow a --host that other machines can reach"),
            _flag("--die-with-parent", help="stop when standard input closes"),
            _flag("--exit-when-idle", help="stop when no task runs and no client is connected"),
            _flag("--no-work", help="answer requests, but run no task and stay hidden from other commands"),
        ),
    ),
    Command(
        "shell",
        "Sidecar",
        "run tools in a workspace, as a desktop shell does",
        "Connect to the sidecar as a desktop shell and run its tools in a workspace until stopped. It waits for a "
        "sidecar and reconnects after a restart. On each connection it prints one JSON line on standard output, "
        '{"event":"connected","session":…,"workspace":…,"tools":[…],"sandbox":…}.',
        """\
brain shell
brain shell --tools read_file,edit_file       offer only these tools""",
        "shell:shell",
        (
            _WORKSPACE,
            _DATA_DIR,
            _arg("--tools", metavar="NAMES", help="tools to offer, separated by commas (default: all)"),
            _arg("--name", default="brain shell", help="name to connect as (default: %(default)s)"),
            _flag("--die-with-parent", help="stop when standard input closes"),
        ),
    ),
    Command(
        "acp",
        "Sidecar",
        "be the agent of an editor (Agent Client Protocol)",
        "Speak the Agent Client Protocol on standard input and output: for Zed, JetBrains IDEs, Neovim and others. "
        "It uses the running sidecar; if there is none, it starts one that exits when it is idle. Sessions are "
        "conversations: the panel and `brain tasks` show them too.",
        """\
brain acp""",
        "acp:acp",
        (_DATA_DIR,),
    ),
    Command(
        "doors",
        "Sidecar",
        "receive webhooks of GitHub, Linear, Slack and your own",
        "Listen for signed webhooks at /hooks/github, /hooks/linear, /hooks/slack and /hooks/NAME, and turn them into "
        "tasks. A door is closed until its secret is set. doors.toml in your configuration directory names who may ask "
        "and where the work is done; hooks/NAME.toml describes a webhook of your own. Put a proxy with TLS in front if "
        "senders are on the internet; the API itself stays on loopback.",
        """\
BRAIN_GITHUB_WEBHOOK_SECRET=… brain doors --port 8787""",
        "doors:doors",
        (
            _DATA_DIR,
            _arg("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)"),
            _arg(
                "--port", type=int, default=3848, help="port to listen on, 0 for any free port (default: %(default)s)"
            ),
        ),
    ),
    Command(
        "open",
        "Sidecar",
        "open the panel of the running sidecar",
        "Open the panel of the running sidecar in your browser. The address contains a code that works once, for one "
        "minute.",
        """\
brain open
brain open t_4642c5     show this task
brain open --print      print the address and open nothing""",
        "panel:open_panel",
        (
            _arg("id", metavar="ID", nargs="?", help="task to show, by its id or a unique prefix of it"),
            _flag("--print", help="print the address and open nothing"),
            _DATA_DIR,
        ),
    ),
    Command(
        "desktop",
        "Sidecar",
        "open the panel in its own window",
        "Open the panel in its own window, which is also a desktop shell: it runs the tools in the workspace, like "
        "`brain shell`. If no sidecar is running, it starts one and stops it when you close the window; unfinished "
        "tasks resume at the next start. Requires pywebview: pip install 'rainy-brain[desktop]'.",
        """\
brain desktop
brain desktop --workspace ~/project""",
        "desktop:desktop",
        (
            _WORKSPACE,
            _arg("--port", type=int, default=3847, help="port of a sidecar it starts; any other if taken"),
            _DATA_DIR,
        ),
    ),
    Command(
        "stop",
        "Sidecar",
        "stop the running sidecar",
        "Stop the running sidecar and every process its tasks started. Unfinished tasks resume at the next start.",
        "brain stop",
        "panel:stop",
        (_DATA_DIR,),
    ),
    Command(
        "keys",
        "Setup",
        "store, list or remove API keys",
        "Store the API key of a model provider in your system's keyring, or in a private file if there is none. Keys "
        "in the environment win. No command shows a key or reads one from a workspace.",
        """\
brain keys                                which keys exist, and where
brain keys set anthropic                  prompts for the key
pass show anthropic | brain keys set anthropic
brain keys rm anthropic""",
        "models:keys",
        (
            _choice("action", "ACTION", ("list", "set", "remove", "rm"), nargs="?", default="list"),
            _arg(
                "provider", choices=_providers, metavar="PROVIDER", nargs="?", help="anthropic, gemini, openai or groq"
            ),
            _JSON,
            _DATA_DIR,
        ),
    ),
    Command(
        "models",
        "Setup",
        "list models and model roles",
        "List which model plays which role, whether each is available, and the model servers on this machine (Ollama, "
        "LM Studio, llama.cpp, vLLM) with the context size and tool support they report.",
        """\
brain models
brain models --no-search                  don't look for local servers
brain models --test                       send one small request to each model
brain models --test groq/openai/gpt-oss-20b""",
        "models:models",
        (
            _JSON,
            _flag("--no-search", help="don't look for model servers on this machine"),
            _arg("--test", nargs="?", const="", metavar="MODEL", help="test one model, or all that play a role"),
            _DATA_DIR,
        ),
    ),
    Command(
        "use",
        "Setup",
        "choose the model of a role",
        "Choose the model for every role, or for one. It tests the model with one small request and writes your choice "
        "to config.toml; the next task uses it. `offline` needs no key; `auto` uses the providers you have keys for.",
        """\
brain use anthropic/claude-sonnet-5-5
brain use --role fast groq/openai/gpt-oss-20b
brain use anthropic/claude-sonnet-5-5,offline              falls back to offline
brain use openai/qwen3 --at http://127.0.0.1:11434/v1      a server on this machine
brain use auto""",
        "models:use",
        (
            _arg("model", metavar="MODEL", help="provider/name (several with commas), offline, or auto"),
            _choice("--role", "ROLE", ROLES, help="only this role (default: every role)"),
            _arg("--at", metavar="URL", help="server on this machine for openai/…, or `openai` for OpenAI itself"),
            _flag("--force", help="choose it even if it doesn't answer"),
            _JSON,
            _DATA_DIR,
        ),
    ),
    Command(
        "doctor",
        "Setup",
        "check the setup and suggest fixes",
        "Check everything Rainy Brain depends on and suggest a fix for each problem. Keys are never shown. The exit "
        "code is 1 only if something essential is missing.",
        """\
brain doctor
brain doctor --json | jq '.[] | select(.state != "ok")'""",
        "doctor:doctor",
        (_flag("--json", help="print a JSON list"), _WORKSPACE, _DATA_DIR),
    ),
    Command(
        "completion",
        "Setup",
        "print your shell's completion script",
        "Print a completion script for commands, options, tools and task ids.",
        """\
eval "$(brain completion bash)"                              in ~/.bashrc
eval "$(brain completion zsh)"                               in ~/.zshrc, after compinit
brain completion fish > ~/.config/fish/completions/brain.fish""",
        "completion:completion",
        (
            _choice("shell", "SHELL", ("bash", "zsh", "fish"), nargs="?"),
            _arg("--words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS),
        ),
    ),
)

COMMANDS = {command.name: command for command in _TABLE}
