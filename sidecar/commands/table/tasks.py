"""The commands of the group "Tasks"."""

from sidecar.commands.table.arguments import (
    DECISION,
    EFFORTS,
    EVENTS_JSON,
    JSON,
    MODEL,
    OUTPUT,
    REWIND,
    TASK_ID,
    WORKSPACE,
    Argument,
    action,
    amount,
    approvals,
    arg,
    choice,
    command,
    flag,
    in_group,
    intents,
    positive,
    whole,
)

_LIMITS = (
    arg(
        "--verify",
        action="append",
        metavar="COMMAND",
        default=[],
        help="verify the change with this command (repeatable), or `off`; without a terminal, a check that needs your "
        "approval is skipped",
    ),
    arg("--max-cost", type=amount, metavar="USD", help="stop when the models have cost this much"),
    arg("--max-turns", type=positive, metavar="N", help="how many turns an agent may take"),
    arg("--max-duration", type=amount, metavar="SECONDS", help="give up after this much work (default: 3600)"),
)
_REMOTE = (
    arg("--remote", metavar="URL", help="work on a clone of this Git remote; the result is a branch there"),
    arg("--branch", metavar="NAME", help="begin with this branch of the remote"),
)
_ASKING = approvals(
    "ask before commands, edits to ask before edits too, auto to never ask and deny instead, readonly to change "
    "nothing (default: ask)"
)
_EFFORT = choice("--effort", "LEVEL", EFFORTS, help="low, medium or high: how much models that reason should think")
_PRIORITY = choice("--priority", "LEVEL", ("high", "normal", "low"), default="normal")


def _workers(what: str, default: int) -> Argument:
    return arg("--workers", type=positive, metavar="N", help=f"{what} worked on at once, up to 8 (default: {default})")


TASKS = in_group(
    "Tasks",
    command(
        "run",
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
        arg("task", help='what to do, in plain words; "-" reads standard input'),
        WORKSPACE,
        *OUTPUT,
        flag("--continue", "-c", "--last", help="continue the newest conversation in this directory"),
        _ASKING,
        MODEL,
        _EFFORT,
        arg("--intent", choices=intents, metavar="INTENT", help="kind of task, instead of the router's choice"),
        arg("--conversation", metavar="ID", help="continue this conversation"),
        _PRIORITY,
        flag("--plan", help="plan first, reading only, and ask whether to go ahead"),
        _workers("steps of a plan, each in a worktree,", 1),
        flag("--worktree", help="work in a Git worktree of its own, to be merged with `brain merge`"),
        *_REMOTE,
        *_LIMITS,
    ),
    command(
        "crew",
        "let several specialists work on a goal",
        "A strategist splits the goal into parts, an architect reviews the plan, and specialists (your own agents too) "
        "work on the parts at the same time, each as a task of its own in its own Git worktree. What passes its checks "
        "is merged, and the whole is verified after each merge; a part that fails is tried three times. The result is "
        "in a worktree until you take it over with `brain merge`; of a remote it is one branch there. Cancel and "
        "resume act on all of it.",
        """\
brain crew "add a comments table, an API for it and a page that shows them"
brain crew "port the tests to pytest" --workers 2 --verify "make test\"""",
        "run:crew",
        arg("task", help='the goal, in plain words; "-" reads standard input'),
        WORKSPACE,
        *OUTPUT,
        _ASKING,
        MODEL,
        _EFFORT,
        _PRIORITY,
        _workers("parts", 4),
        flag("--here", help="merge into the workspace itself, not into a worktree"),
        *_REMOTE,
        *_LIMITS,
    ),
    command(
        "pr",
        "review pull requests on GitHub",
        "Work on pull requests. It needs BRAIN_GITHUB_TOKEN, or the id and key file of a GitHub App, and the "
        "repository in doors.toml.",
        "brain pr review 12",
        "",
        actions=(
            action(
                "review",
                "review a pull request",
                "Review a pull request in a clone of its head, reading only, and post the result: line comments with "
                "their severity, and the rest in the text above them. It never approves and never blocks.",
                "review:review",
                arg("number", type=positive, metavar="NUMBER", help="the number of the pull request"),
                arg("--repository", metavar="OWNER/NAME", help="default: the one of the workspace in doors.toml"),
                flag("--no-post", help="print the review only"),
                JSON,
                WORKSPACE,
                examples="""\
brain pr review 12
brain pr review 12 --repository acme/shop --no-post""",
            ),
        ),
    ),
    command(
        "tasks",
        "list tasks, newest first",
        "List the tasks of all workspaces, newest first. It works without a running sidecar and never starts a task.",
        """\
brain tasks
brain tasks --here --search "parser tests"
brain tasks --status running,waiting
brain tasks --limit 200 --json | jq -r 'select(.status == "failed") | .id'""",
        "tasks:list_tasks",
        flag("--here", help="only tasks of this directory"),
        arg("--search", "-s", metavar="WORDS", help="only tasks with these words in their text or files"),
        arg("--status", metavar="STATUS", help="only tasks with this status; separate several with commas"),
        arg("--limit", type=positive, default=20, metavar="N", help="how many to list (default: %(default)s)"),
        flag("--json", help="print one JSON object per line"),
    ),
    command(
        "show",
        "show a task, or follow it live",
        "Show a task from its first event: the request, tool calls, messages, changes and result. With --follow, keep "
        "watching until the task ends; Ctrl-C stops watching and leaves the task alone.",
        """\
brain show                     the newest task
brain show t_4642c5
brain show --follow t_4642c5
brain show t_4642c5 --json | jq .usage""",
        "tasks:show",
        TASK_ID,
        flag("--follow", "-f", help="watch until the task ends"),
        flag("--json", help="print the task as one JSON object; with --follow its events, one per line"),
    ),
    command(
        "trace",
        "print or send a task's OpenTelemetry trace",
        "Print a task as OpenTelemetry spans (OTLP as JSON): its agents, their model requests and tool calls. Spans "
        "hold names, times, tokens and outcomes; --content adds what was said, and arguments and results of calls. To "
        "send the trace of every task when it ends, set `trace_endpoint`.",
        """\
brain trace t_4642c5 -o trace.json
brain trace --send http://127.0.0.1:4318""",
        "stats:trace",
        TASK_ID,
        arg("--output", "-o", metavar="FILE", help="write to this file instead of standard output"),
        arg(
            "--send",
            nargs="?",
            const="",
            metavar="URL",
            help="send it to this collector (default: OTEL_EXPORTER_OTLP_ENDPOINT)",
        ),
        flag("--content", help="include texts, arguments and results"),
    ),
    command(
        "stats",
        "show tokens and estimated cost by day, model and agent",
        "Show how many requests models answered, their tokens and their cost, estimated by the price table. Tasks that "
        "were pruned since still count.",
        """\
brain stats
brain stats --by model --days 7""",
        "stats:stats",
        choice("--by", "WHAT", ("day", "model", "agent"), help="only by day, model or agent"),
        arg("--days", type=positive, default=30, help="days with usage, the newest (default: %(default)s)"),
        flag("--json", help="print one JSON object"),
    ),
    command(
        "message",
        "steer a running task, or continue one that ended",
        "Send a message to a task. A running task reads it at its next step; one that ended continues in the same "
        "conversation.",
        """\
brain message t_4642c5 "leave the tests as they are"
brain message --follow "now search for TODO"         the newest task here""",
        "steer:message",
        TASK_ID,
        arg("text", help="the message"),
        flag("--follow", "-f", help="watch it; Ctrl-C cancels, a second Ctrl-C detaches"),
        flag("--json", help="with --follow: print the events, one JSON object per line"),
        intermixed=True,
    ),
    command(
        "approve",
        "allow or deny what a task wants to do",
        "Answer the approvals a task waits for. Without --allow or --deny it shows them: the whole command, where it "
        "would run, and why it needs your approval.",
        """\
brain approve                                   show what the newest task here waits for
brain approve t_4642c5 --allow
brain approve t_4642c5 --allow --scope task     don't ask again for the same call in this task
brain approve t_4642c5 a_17 --deny              when several approvals are open""",
        "steer:approve",
        TASK_ID,
        arg("approval", metavar="APPROVAL", nargs="?", help="approval id, when several are open"),
        *(
            Argument((f"--{verb}",), {**DECISION, "const": verb, "help": f"{verb} the call"}, exclusive="decision")
            for verb in ("allow", "deny")
        ),
        flag("--all", help="answer every open approval"),
        choice("--scope", "SCOPE", ("once", "task", "workspace"), default="once"),
    ),
    command(
        "answer",
        "answer a question of a task",
        "Answer the question a task waits for, with one of its choices (by number or word) or with your own words. "
        "Without an answer it shows the open questions.",
        """\
brain answer t_4642c5                  show what it asks
brain answer t_4642c5 skip
brain answer t_4642c5 2 --question q_7    when several are open""",
        "steer:answer",
        TASK_ID,
        arg("answer", metavar="ANSWER", nargs="?", help="the answer, or the number of a choice"),
        arg("--question", metavar="QUESTION", help="question id, when several are open"),
    ),
    command(
        "cancel",
        "cancel a task and everything it started",
        "Cancel a task. Returns when every process the task started is dead, and lists what was killed and what had "
        "already happened. Finished work stays; `brain resume` continues from there.",
        "brain cancel t_4642c5",
        "steer:cancel",
        TASK_ID,
    ),
    command(
        "resume",
        "resume a task from its last checkpoint",
        "Resume a cancelled, failed or interrupted task from its last checkpoint, without repeating finished steps. "
        "If no sidecar is running, it starts one that exits when it is idle.",
        """\
brain resume t_4642c5
brain resume --follow t_4642c5      and watch it""",
        "run:resume",
        TASK_ID,
        flag("--follow", "-f", help="watch it; Ctrl-C cancels, a second Ctrl-C detaches"),
        flag("--json", help="with --follow: print the events, one JSON object per line"),
    ),
    command(
        "diff",
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
        TASK_ID,
        flag("--json", help="print JSON, by file and hunk"),
        arg("--accept", action="append", default=[], metavar="WHAT", help="keep a hunk, a file, or all"),
        arg("--reject", action="append", default=[], metavar="WHAT", help="undo a hunk, a file, or all"),
    ),
    command(
        "rewind",
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
        TASK_ID,
        arg("seq", type=whole, metavar="SEQ", help="number of the event to go back to"),
        flag("--files", help="rewind the files only and keep the conversation"),
        *REWIND,
    ),
    command(
        "undo",
        "undo what a task did to your files",
        "Rewind the newest task in this directory to its start: its changes are undone, yours and those of other tasks "
        "stay. It lists what it restored, left alone and could not restore, and exits with 1 unless all is "
        "restored. Repeat it once you removed the reason. `brain rewind` goes back to any event instead.",
        """\
brain undo                    the newest task in this directory
brain undo --last-change      only its last change; again for the one before
brain undo t_4642c5 --preview""",
        "review:undo",
        TASK_ID,
        flag("--last-change", help="undo only the last change of files"),
        *REWIND,
    ),
    command(
        "merge",
        "merge an isolated task into your workspace",
        "Merge what a task with its own worktree (`brain run --worktree`) changed into your workspace: three-way, so "
        "your changes since stay. It changes files only, never Git's index, branches or stash. With conflicts it shows "
        "them, changes nothing and exits with 1. After a merge the worktree is removed; `brain undo` takes the merge "
        "back.",
        """\
brain merge t_4642c5 --preview     what would change?
brain merge t_4642c5
brain merge t_4642c5 --markers     conflicts stay in the files, between markers""",
        "review:merge",
        TASK_ID,
        flag("--preview", help="show what would change and change nothing"),
        flag("--markers", help="merge in spite of conflicts, and mark them in the files as Git does"),
        JSON,
    ),
    command(
        "worktrees",
        "list and remove worktrees of isolated tasks",
        "List the worktrees of isolated tasks, or remove those that are no longer needed: `clean` keeps those whose "
        "task is at work, and those with changes that are not merged, unless you name the task and say --discard.",
        """\
brain worktrees
brain worktrees clean
brain worktrees clean --discard t_4642c5     throw its changes away""",
        "review:worktrees",
        arg(
            "action",
            nargs="?",
            choices=lambda: ("list", "clean"),
            default="list",
            help="list or clean (default: list)",
        ),
        arg("tasks", nargs="*", metavar="ID", help="clean: only the worktrees of these tasks"),
        flag("--discard", help="clean: also throw away changes that are not merged"),
        JSON,
        intermixed=True,
    ),
    command(
        "fork",
        "start a new task from an event of another task",
        "Start a new task with the conversation and files another task had at one of its events, but with a different "
        "instruction or model. The other task keeps its history.",
        """\
brain fork t_4642c5 --to 17 "keep the old name, add a new function instead"
brain fork t_4642c5 --to 17 --model anthropic/claude-sonnet-4-5     retry with another model
brain fork t_4642c5 --keep-files "now write the tests for it\"""",
        "run:fork",
        TASK_ID,
        arg("task", nargs="?", help="what to do instead; required if the other task had finished by then"),
        arg("--to", type=whole, metavar="SEQ", help="number of the event to start from (default: the last)"),
        MODEL,
        approvals("ask, edits, auto or readonly (default: as in the other task)", None),
        flag("--keep-files", help="leave the files as they are now"),
        EVENTS_JSON,
        intermixed=True,
    ),
)
