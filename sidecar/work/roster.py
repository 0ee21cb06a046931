"""The built-in agents: purpose, model role, tools and turn limit."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from sidecar.wire.system import AgentInfo

_PROMPTS = Path(__file__).parent / "prompts"

READ = (
    "read_file",
    "read_files",
    "list_dir",
    "read_directory_tree",
    "find_files",
    "search_code",
    "find_code",
    "impact",
    "similar",
    "tests_of",
    "recall",
    "propose_note",
    "skill",
    "get_workspace_info",
    "git_status",
    "git_diff",
    "git_log",
    "git_show",
    "git_blame",
    "get_diagnostics",
    "analyze_code",
    "find_symbols",
    "describe_symbol",
    "find_usages",
    "describe_file",
    "describe_project",
    "review_changes",
    "find_commands",
)
WRITE = (
    "write_file",
    "create_file",
    "edit_file",
    "multi_edit",
    "apply_patch",
    "move_file",
    "delete_file",
    "rename_symbol",
    "organize_imports",
    "move_symbol",
)
RUN = ("run_command", "command_output", "stop_command", "run_tests", "git_add", "git_commit")
#: Tools that organize the work and change nothing.
FURTHER = ("todo", "delegate", "fetch_url")
#: Asks for the tools that change something.
SET_MODE = "set_mode"


@dataclass(frozen=True, slots=True)
class Agent:
    name: str
    description: str
    role: str
    tools: tuple[str, ...]
    #: Turns after which it is asked to finish; while it makes progress it may go on.
    max_iterations: int
    #: Tools that it begins with, before the common ones.
    first: tuple[str, ...] = ()
    #: The prompt of a custom agent, and its model, which overrides the role's.
    text: str = ""
    model: str = ""
    #: A program that speaks ACP does the work; and what it may reach beside the workspace.
    command: tuple[str, ...] = ()
    network: bool = False
    #: Names of environment variables that it gets.
    keys: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def prompt(self) -> str:
        """The system prompt. All built-in agents share one, so that they can share a conversation."""
        return self.text or read_prompt("assistant")

    @property
    def part(self) -> str:
        """A built-in agent's instructions for its part of the work; the coder's part is the work itself."""
        return "" if self.text or self.command or self.name == "coder" else read_prompt(self.name)

    def read_only(self) -> "Agent":
        return replace(self, tools=tuple(tool for tool in self.tools if tool in READ or tool in FURTHER))

    def info(self) -> AgentInfo:
        return AgentInfo(
            name=self.name,
            description=self.description,
            role=self.role,
            tools=list(self.tools),
            max_iterations=self.max_iterations,
        )


ROSTER: dict[str, Agent] = {
    agent.name: agent
    for agent in (
        Agent("planner", "Turns a request into a plan of small steps.", "fast", READ, 3),
        Agent("coder", "Reads and changes code.", "smart", (*READ, *WRITE, *RUN, *FURTHER), 10),
        Agent("reviewer", "Reviews a change and reports problems.", "fast", (*READ, "run_tests"), 5),
        Agent("terminal", "Runs commands and tests and reads their output.", "instant", (*READ, *RUN), 5),
        Agent(
            "researcher",
            "Answers a question about the workspace and cites its sources.",
            "smart",
            READ,
            5,
            ("find_code",),
        ),
        Agent("docs", "Writes documentation.", "smart", (*READ, *WRITE, *RUN, *FURTHER), 5),
    )
}


@cache
def read_prompt(name: str) -> str:
    return (_PROMPTS / f"{name}.md").read_text(encoding="utf-8")
