"""The commands of `brain`, one module each, and what each is for.

A module has `ABOUT` and `EXAMPLES` for its help; `define` says what it takes, and sets what is called as `act`.
"""

from typing import NamedTuple


class Command(NamedTuple):
    module: str
    summary: str


#: What `brain` does when it is given no command.
ALONE = "panel"

COMMANDS = {
    "run": Command("run", "carry out a task and watch it here"),
    "tasks": Command("tasks", "list the tasks, newest first"),
    "show": Command("show", "show a task, or follow it while it runs"),
    "message": Command("message", "steer a running task, or continue an ended one"),
    "approve": Command("approve", "answer what a task asks for"),
    "cancel": Command("cancel", "stop a task and everything it started"),
    "resume": Command("resume", "go on with a task that stopped"),
    "diff": Command("diff", "show what a task changed"),
    "rewind": Command("rewind", "take back what a task did"),
    "fork": Command("fork", "start a new task from a checkpoint of another one"),
    "tools": Command("tools", "list the tools"),
    "tool": Command("tool", "run one tool, without a model"),
    "route": Command("route", "say what would be done with a task, and why"),
    "policy": Command("policy", "say whether a command would be allowed, and why"),
    "trust": Command("trust", "let a workspace run its own tests and harmless commands"),
    "serve": Command("serve", "start the sidecar, for an editor or a script"),
    "shell": Command("shell", "carry out tools in a workspace, as a desktop shell does"),
    "open": Command("open", "open the panel of the running sidecar"),
    "desktop": Command("desktop", "open the panel in a window of its own"),
    "stop": Command("stop", "stop the running sidecar"),
    "keys": Command("keys", "put away the key of a model provider"),
    "models": Command("models", "say which models there are, and which plays which role"),
    "use": Command("use", "choose the model of a role, and try it"),
    "doctor": Command("doctor", "say what is set up, what is missing, and how to fix it"),
    "completion": Command("completion", "print the completion script of your shell"),
}

GROUPS = {
    "tasks": ("run", "tasks", "show", "message", "approve", "cancel", "resume", "diff", "rewind", "fork"),
    "tools": ("tools", "tool", "route", "policy", "trust"),
    "the sidecar": ("serve", "shell", "open", "desktop", "stop", "keys", "models", "use", "doctor", "completion"),
}
