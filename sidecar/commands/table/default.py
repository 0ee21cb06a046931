"""`brain` without a command."""

from sidecar.commands.table.arguments import WORKSPACE, arg, command, flag

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
    arg(
        "--port",
        type=int,
        default=3847,
        help="port to listen on, 0 for any free port (default: %(default)s)",
    ),
    flag("--continue", "-c", help="begin with the newest task in this directory"),
    flag("--panel", help="start the sidecar and open the panel"),
    flag("--no-open", help="open the panel, but no browser"),
)
