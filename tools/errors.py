"""What can go wrong with a call. The executor turns each into a result that tells the model what to do next.

`message` says what happened, to people and models; `advice` is for the model alone, which knows tools by their names.

ToolError
├── InvalidArguments      the arguments do not fit the schema
├── UnknownTool           no tool has this name
├── ToolNotOffered        this agent may not use it
├── Denied                policy or the person said no
├── ApprovalRequired      a person would have to be asked, and none can be
├── PathDenied            a path leaves the workspace, or cannot be checked
├── WorkspaceGone         the workspace was deleted or replaced
├── FileMissing           nothing is there
├── FileExists            something is there already
├── NotAFile              a directory, a pipe, a device
├── NotADirectory
├── TooLarge
├── BinaryFile
├── NoMatch               a text, pattern or patch that does not apply
├── ChangedElsewhere      somebody else edited the file
├── CommandMissing        the program is not installed
├── TimedOut
└── HostGone              the place where it ran is away; may be tried again
"""

from sidecar.wire.events import ErrorBody
from tools.text import clip


class ToolError(Exception):
    code = "tool_failed"
    transient = False

    def __init__(
        self, message: str, *, advice: str = "", code: str | None = None, transient: bool | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        if code is not None:
            self.code = code
        if transient is not None:
            self.transient = transient

    @property
    def body(self) -> ErrorBody:
        return ErrorBody(code=self.code, message=clip(self.message, 2_000), advice=self.advice or None)

    @property
    def for_model(self) -> str:
        """All of it, for the model."""
        gap = " " if self.message.endswith(".") else "\n"  # what another program said ends anyhow
        return f"{self.message}{gap}{self.advice}" if self.advice else self.message


class InvalidArguments(ToolError):
    code = "invalid_arguments"


class UnknownTool(ToolError):
    code = "unknown_tool"


class ToolNotOffered(ToolError):
    code = "tool_not_offered"


class Denied(ToolError):
    code = "denied"


class ApprovalRequired(ToolError):
    code = "approval_required"


class PathDenied(ToolError):
    code = "path_denied"


class WorkspaceGone(ToolError):
    code = "workspace_gone"


class FileMissing(ToolError):
    code = "not_found"


class FileExists(ToolError):
    code = "already_exists"


class NotAFile(ToolError):
    code = "not_a_file"


class NotADirectory(ToolError):
    code = "not_a_directory"


class TooLarge(ToolError):
    code = "too_large"


class BinaryFile(ToolError):
    code = "binary_file"


class NoMatch(ToolError):
    code = "no_match"


class ChangedElsewhere(ToolError):
    code = "changed_elsewhere"


class CommandMissing(ToolError):
    code = "command_not_found"


class TimedOut(ToolError):
    code = "timed_out"


class HostGone(ToolError):
    code = "host_gone"
    transient = True
