"""The command table: name, group, help, examples and arguments of every command, and the function that runs it.

Nothing here imports a command's code, so `brain --help` and completion stay fast. REFERENCE.md and the docs test come
from this table; it has one file per group.
"""

from sidecar.commands.table.arguments import APPROVALS, EFFORTS, ROLES, Argument, Command
from sidecar.commands.table.setup import SETUP
from sidecar.commands.table.sidecar import DEFAULT, SIDECAR
from sidecar.commands.table.tasks import TASKS
from sidecar.commands.table.tools import CODE, TOOLS

COMMANDS = {command.name: command for command in (*TASKS, *CODE, *TOOLS, *SIDECAR, *SETUP)}

__all__ = ["APPROVALS", "COMMANDS", "DEFAULT", "EFFORTS", "ROLES", "Argument", "Command"]
