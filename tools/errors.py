"""Everything that can go wrong with a call. The executor turns each error into a result that says what to do next.

`message` says what happened, to people and models; `advice` is for the model, which knows tools by their names.

ToolError
├── InvalidArguments      the arguments don't match the schema
├── UnknownTool           no tool has this name
├── ToolNotOffered        this agent may not use it
├── Denied                policy forbids it
│   ├── Declined          you declined
│   └── Unattended        it needs an approval, and the task is unattended
├── ApprovalRequired      it needs an approval, and the caller can't ask
├── SecretFile            it may hold secrets, and reading it isn't approved
├── PathDenied            a path leaves the workspace, or can't be checked
├── WorkspaceGone         the workspace was deleted or replaced
├── FileMissing           the path does not exist
├── FileExists            the path already exists
├── NotAFile              a directory, a pipe, a device
├── NotADirectory
├── TooLarge
├── BinaryFile
├── NoMatch               a text, pattern or patch that doesn't apply
├── ChangedElsewhere      someone else edited the file
├── CommandMissing        the program isn't installed
├── TimedOut
├── Unconfirmed           somebody else's server gave no result; it may have taken effect
└── HostGone              the backend went away; the call may be retried
    └── NeverSent         before the call reached it
"""

from sidecar.wire.base import ErrorBody, JsonObject
from tools.text import clip


class ToolError(Exception):
    code = "tool_failed"
    transient = False

    def __init__(
        self,
        message: str,
        *,
        advice: str = "",
        code: str | None = None,
        transient: bool | None = None,
        details: JsonObject | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.details = details
        if code is not None:
            self.code = code
        if transient is not None:
            self.transient = transient

    @property
    def body(self) -> ErrorBody:
        return ErrorBody(code=self.code, message=clip(self.message, 2_000), advice=self.advice or None)

    @property
    def for_model(self) -> str:
        """Message and advice in one text."""
        gap = " " if self.message.endswith(".") else "\n"  # the output of another program ends without a period
        return f"{self.message}{gap}{self.advice}" if self.advice else self.message


class InvalidArguments(ToolError):
    code = "invalid_arguments"


class UnknownTool(ToolError):
    code = "unknown_tool"


class ToolNotOffered(ToolError):
    code = "tool_not_offered"


class Denied(ToolError):
    code = "denied"


class Declined(Denied):
    """You denied the approval. The model gets another text, because it would read "you" as itself."""

    def __init__(self) -> None:
        super().__init__("You declined.", advice="Don't try it another way; ask what they want instead.")

    @property
    def for_model(self) -> str:
        return f"The user declined this call. {self.advice}"


_ONE_BY_ONE = (
    "Commands that only look or run tests may need none, but only one at a time: without ;, &&, |, redirections, "
    "variables and wildcards. Don't try anything else another way; say in your answer what was not permitted."
)


class Unattended(Denied):
    """It needs an approval, and the task is unattended."""

    def __init__(self, why: str, grant: str = "", *, compound: bool = False) -> None:
        hint = f" To permit it for this repository: brain policy allow {grant}" if grant else ""
        super().__init__(
            f"Not allowed without approval ({why}), and this task runs unattended.{hint}",
            advice=_ONE_BY_ONE
            if compound
            else "Don't try it another way. Go on with what is here, without it; if the task can't be done so, do the "
            "rest and say in your answer what was not permitted.",
        )


class ApprovalRequired(ToolError):
    code = "approval_required"


class SecretFile(ToolError):
    """The executor asks for approval when a call meets one; a search over many files passes them over."""

    code = "secret_file"

    def __init__(self, path: str, name: str) -> None:
        leads = "" if path.endswith(name) else f" leads to {name}, which"
        super().__init__(f"{path}{leads} may hold secrets", advice="Go on without it, or tell the user.")


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


class Unconfirmed(ToolError):
    """Not asked about, as a lost command is: the model hears of it and goes on."""

    code = "unconfirmed"


class HostGone(ToolError):
    code = "host_gone"
    transient = True


class NeverSent(HostGone):
    """Nothing can have happened, so another backend may run the call."""
