"""Kinds of task, and the slash commands that name them: one table for the router, the command line and the panel."""

from typing import Literal, NamedTuple, get_args

Intent = Literal[
    "chat",
    "explain_code",
    "edit_code",
    "refactor_code",
    "create_project",
    "run_command",
    "review_code",
    "write_docs",
    "research",
]
INTENTS: tuple[Intent, ...] = get_args(Intent)

#: A slash command at the start of a task: one word after a slash that can't be the start of a path.
SLASH_PATTERN = r"/([A-Za-z0-9_-]+)(?!\S)\s*"


class SlashCommand(NamedTuple):
    intent: Intent
    #: Shown where commands are suggested; aliases have none.
    hint: str = ""
    #: Part of the request: "/explain the parser" asks to "explain the parser".
    verb: str = ""
    #: The request may bring its own verb instead: "/refactor rename a to b".
    verb_optional: bool = False


SLASH_COMMANDS: dict[str, SlashCommand] = {
    **{intent: SlashCommand(intent) for intent in INTENTS if intent != "research"},
    "ask": SlashCommand("chat", "Only talk, change nothing"),
    "explain": SlashCommand("explain_code", "Explain code, change nothing", "explain"),
    "find": SlashCommand("explain_code", "", "find"),
    "edit": SlashCommand("edit_code", "Change code"),
    "fix": SlashCommand("edit_code", "", "fix", verb_optional=True),
    "refactor": SlashCommand("refactor_code", "Plan and change code in several places", "refactor", verb_optional=True),
    "new": SlashCommand("create_project", "", "create"),
    "create": SlashCommand("create_project", "Start a new project", "create"),
    "run": SlashCommand("run_command", "Run a command or the tests", "run"),
    "review": SlashCommand("review_code", "Review code", "review"),
    "docs": SlashCommand("write_docs", "Write documentation", "document", verb_optional=True),
    "document": SlashCommand("write_docs", "", "document", verb_optional=True),
    "research": SlashCommand("research", "Research a question and cite its sources"),
}
