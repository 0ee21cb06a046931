"""The commands of the group "Sidecar", and `brain` without a command."""

from sidecar.commands.table.arguments import (
    JSON,
    PORT,
    USUAL_PORT,
    WORKSPACE,
    arg,
    choice,
    command,
    flag,
    in_group,
    port,
    positive,
)

DEFAULT = command(
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
    WORKSPACE,
    arg("--port", type=port, help=f"port of the panel (default: {USUAL_PORT}, or a free one if that is taken)"),
    flag("--continue", "-c", help="begin with the newest task in this directory"),
    flag("--panel", help="start the sidecar and open the panel"),
    flag("--no-open", help="open the panel, but no browser"),
)

SIDECAR = in_group(
    "Sidecar",
    command(
        "serve",
        "start the sidecar, for an editor or a script",
        "Start the sidecar and run until SIGTERM or SIGINT. When ready it prints one JSON line on standard output, "
        '{"event":"ready","url":…,"pid":…,"tokenFile":…,"version":…}, and nothing else; logs go to standard error. '
        "Unfinished tasks of an earlier sidecar resume.",
        """\
brain serve
brain serve --port 0 --workspace ~/project     any free port; read it from the ready line
brain serve --die-with-parent                  for a desktop shell""",
        "serve:serve",
        WORKSPACE,
        arg("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)"),
        PORT,
        flag("--allow-remote", help="allow a --host that other machines can reach; needs the next three"),
        arg("--tls-cert", metavar="FILE", help="certificate (PEM), with those that sign it"),
        arg("--tls-key", metavar="FILE", help="its private key (PEM)"),
        arg("--public-name", metavar="HOST", help="the name by which others reach it, as in the certificate"),
        flag("--die-with-parent", help="stop when standard input closes"),
        flag("--exit-when-idle", help="stop when no task runs and no client is connected"),
        flag("--no-work", help="answer requests, but run no task; other commands use it only with a database"),
    ),
    command(
        "worker",
        "run tasks of a shared database",
        "Run tasks that any sidecar on the same database accepts, until SIGTERM or SIGINT; then others continue its "
        "tasks. Needs BRAIN_DATABASE_URL. When ready it prints one JSON line on standard output, "
        '{"event":"ready","worker":…,"pid":…}. It sends a heartbeat every 5 seconds; after 15 seconds without one it '
        "counts as dead, and others continue its tasks from their last step. SIGUSR1 drains it: it finishes its "
        "tasks and exits.",
        """\
BRAIN_DATABASE_URL=postgresql://… brain worker
brain worker --pool exploration --slots 2      run only the tasks of that pool, two at once""",
        "fleet:worker",
        WORKSPACE,
        arg(
            "--pool",
            metavar="NAME",
            default="default",
            help="the pool whose tasks it runs, * for all (default: %(default)s)",
        ),
        arg(
            "--slots",
            type=positive,
            metavar="N",
            help="how many tasks run at once (default: the setting max_tasks)",
        ),
        arg(
            "--alive-file",
            metavar="FILE",
            help="touch this file every 5 seconds; if it gets old, the worker hangs",
        ),
        flag("--die-with-parent", help="stop when standard input closes"),
    ),
    command(
        "fleet",
        "see, drain, stop and scale workers",
        "Show the workers on the database, who leads (*), and what waits. `drain` lets a worker finish its tasks and "
        "exit, `kill` lets it exit at once while others continue its tasks. `scale` starts workers on this machine: "
        "one more while more than ten tasks wait, one less after each minute without work, until you stop it.",
        """\
brain fleet
brain fleet drain 4711-1a2b3c4d
brain fleet scale --least 1 --most 4""",
        "fleet:fleet",
        choice(
            "action",
            "ACTION",
            ("status", "workers", "queue", "drain", "kill", "scale"),
            nargs="?",
            default="status",
        ),
        arg("worker", metavar="WORKER", nargs="?", help="the worker's id"),
        arg(
            "--pool",
            metavar="NAME",
            default="default",
            help="scale: the workers' pool, * for all (default: %(default)s)",
        ),
        arg("--least", type=positive, metavar="N", default=1, help="scale: at least so many (default: %(default)s)"),
        arg("--most", type=positive, metavar="N", default=4, help="scale: at most so many (default: %(default)s)"),
        arg(
            "--idle",
            type=positive,
            metavar="SECONDS",
            default=60,
            help="scale: one less after so long without work (default: %(default)s)",
        ),
        JSON,
    ),
    command(
        "top",
        "watch workers, queue and running tasks",
        "Show the fleet live: workers with their heartbeats, what waits, and the tasks that run. Ctrl-C ends it.",
        """\
brain top
brain top --once""",
        "fleet:top",
        flag("--once", help="print it once"),
    ),
    command(
        "journal",
        "copy the tasks and notes of this machine to a database",
        "Copy the journal of this data directory to PostgreSQL, with events, records and contents for undo, and "
        "compare the counts; then your decisions and patterns. Stop the sidecar first. You can repeat it: what is "
        "there is left alone. Tasks that have not ended are queued there.",
        """\
brain journal copy --to postgresql://brain@db.example/brain""",
        "fleet:journal",
        choice("action", "ACTION", ("copy",)),
        arg("--to", metavar="URL", help="the database (default: BRAIN_DATABASE_URL)"),
    ),
    command(
        "schedules",
        "list what starts by itself, and when",
        "Schedules are Markdown files in `schedules/` of your configuration directory: front matter with `every: 4h`, "
        "`cron: 0 9 * * 1-5` or `stale: 12h` (nothing was done in the workspace for so long), `workspace`, and if you "
        "like `agent`, `pool` (notification, exploration or hybrid), `approvals` (auto or readonly), `maxCost` in one "
        "run, `budget` in a day and `maxPerDay`; below it the task. `pools.toml` beside that folder sets `atOnce` and "
        "`budget` of a pool. A sidecar that stays runs them; a repository has none. What was missed runs once. In a "
        "fleet those of the leader's machine count, so give all processes the same; every node shows them.",
        "brain schedules",
        "fleet:schedules",
        JSON,
    ),
    command(
        "shell",
        "run tools in a workspace, as a desktop shell does",
        "Connect to the sidecar as a desktop shell and run its tools in a workspace until stopped. It waits for a "
        "sidecar and reconnects after a restart. On each connection it prints one JSON line on standard output, "
        '{"event":"connected","session":…,"workspace":…,"tools":[…],"sandbox":…}.',
        """\
brain shell
brain shell --tools read_file,edit_file       offer only these tools""",
        "shell:shell",
        WORKSPACE,
        arg("--tools", metavar="NAMES", help="tools to offer, separated by commas (default: all)"),
        arg("--name", default="brain shell", help="name to connect as (default: %(default)s)"),
        flag("--die-with-parent", help="stop when standard input closes"),
    ),
    command(
        "acp",
        "be the agent of an editor (Agent Client Protocol)",
        "Speak the Agent Client Protocol on standard input and output: for Zed, JetBrains IDEs, Neovim and others. "
        "It uses the running sidecar; if there is none, it starts one that exits when it is idle. Sessions are "
        "conversations: the panel and `brain tasks` show them too.",
        """\
brain acp""",
        "acp:acp",
    ),
    command(
        "doors",
        "receive webhooks of GitHub, Linear, Slack and your own",
        "Listen for signed webhooks at /hooks/github, /hooks/linear, /hooks/slack and /hooks/NAME, and turn them into "
        "tasks. A door is closed until its secret is set. doors.toml in your configuration directory names who may ask "
        "and where the work is done; hooks/NAME.toml describes a webhook of your own. Put a proxy with TLS in front if "
        "senders are on the internet; the API itself stays on loopback. `list` shows deliveries and messages that were "
        "given up after many attempts; `retry` tries them again.",
        """\
BRAIN_GITHUB_WEBHOOK_SECRET=… brain doors --port 8787
brain doors list
brain doors retry out-17""",
        "doors:doors",
        arg(
            "action",
            nargs="?",
            choices=lambda: ("serve", "list", "retry"),
            default="serve",
            help="serve, list or retry (default: serve)",
        ),
        arg("items", nargs="*", metavar="ITEM", help="retry: only these, as `list` names them"),
        JSON,
        arg("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)"),
        arg("--port", type=port, default=3848, help="port to listen on, 0 for any free port (default: %(default)s)"),
    ),
    command(
        "open",
        "open the panel of the running sidecar",
        "Open the panel of the running sidecar in your browser. The address contains a code that works once, for one "
        "minute.",
        """\
brain open
brain open t_4642c5     show this task
brain open --print      print the address and open nothing""",
        "panel:open_panel",
        arg("id", metavar="ID", nargs="?", help="task to show, by its id or a unique prefix of it"),
        flag("--print", help="print the address and open nothing"),
    ),
    command(
        "desktop",
        "open the panel in its own window",
        "Open the panel in its own window, which is also a desktop shell: it runs the tools in the workspace, like "
        "`brain shell`. On Linux an icon in the tray says whether tasks run or need you. If no sidecar is "
        "running, it starts one and stops it when you close the window; unfinished tasks resume at the next start. "
        "Requires pywebview: pip install 'rainy-brain[desktop]'.",
        """\
brain desktop
brain desktop --workspace ~/project""",
        "desktop:desktop",
        WORKSPACE,
        arg("--port", type=port, default=USUAL_PORT, help="port of a sidecar it starts; any other if taken"),
    ),
    command(
        "stop",
        "stop the running sidecar",
        "Stop the running sidecar and every process its tasks started. Unfinished tasks resume at the next start.",
        "brain stop",
        "panel:stop",
    ),
)
