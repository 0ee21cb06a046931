"""Approval prompts: where paths really lead, what exactly a prompt shows, and what an approval is bound to."""

import posixpath
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from tools.errors import FileMissing, NotADirectory
from tools.executor.binding import ApprovalBinding, bind, bind_subject, command_variables
from tools.executor.context import CallContext
from tools.host import FileChange, Host, ResolvingHost
from tools.ledger import ApprovalPrompt, digest
from tools.local.repository.view import HooksPath, is_hook
from tools.paths import normalize
from tools.policy.policy import Decision
from tools.protected import protected_part, runs_scripts, secret_part
from tools.spec import describe_arguments
from tools.text import escape_hidden

#: Programs whose configuration decides what the project's tests and checkers run.
_RUN_BY_TESTS = ("pytest", "npm", "make", "cargo", "go", "mypy", "eslint")


async def find_leads(paths: Iterable[str], host: ResolvingHost) -> dict[str, str]:
    """Where each path leads, under its one name: a patch may write it in several ways."""
    names = dict.fromkeys(normalize(path, host.workspace) for path in paths)
    return {name: await host.resolve(name) for name in names}


async def check_links(leads: Mapping[str, str], host: Host, decision: Decision) -> Decision:
    """A link must not serve as another name for a protected file; `leads` says where each path leads."""
    hooks = HooksPath(host.workspace).find()
    for path, real in leads.items():
        if name := protected_part(real) or secret_part(real):
            return Decision("ask", f"{path} leads to {name}, which controls what runs later or holds secrets")
        if is_hook(real, hooks):
            return Decision("ask", f"{path} is a hook: core.hooksPath names its directory, and Git runs it later")
        with suppress(FileMissing, NotADirectory):
            info = await host.stat(path)
            if info.kind == "file" and info.links > 1:
                return Decision("ask", f"{path} is a hard link; its other name may be outside the workspace")
            if info.kind == "file" and runs_scripts(path):
                return Decision("ask", f"{path} holds commands that others run later")
    return decision


def build_prompt(
    context: CallContext, stage: str, why: str, diff: str | None, bound: str | None = None, omitted: int = 0
) -> ApprovalPrompt:
    """`bound` is the hash of what the approval is bound to, `omitted` how many lines of the diff are left out."""
    command = getattr(context.args, "command", None) if context.review is None else None
    argv = None if command is None else ("/bin/sh", "-c", command) if isinstance(command, str) else tuple(command)
    cwd = getattr(context.args, "cwd", None)
    if context.commands:
        (argv, cwd), *others = context.commands
        why += "".join(f"; it may also run {shlex.join(each.argv)}" for each in others)

    def show(text: str) -> str:
        return escape_hidden(context.clean(text))

    return ApprovalPrompt(
        id=f"{context.call.id}:{stage}",
        call_id=context.call.id,
        tool=context.spec.name,
        action=show(f"{context.spec.name} {describe_arguments(context.call.args)}"[:500]),
        why=show(why),
        argv=None if argv is None else tuple(map(show, argv)),
        cwd=None if argv is None else show(_directory(context, cwd)),
        diff=None if diff is None else show(diff),
        omitted_lines=omitted,
        environment=None if argv is None else tuple(sorted(command_variables())),
        binding=bound if bound is not None else bind_call(context, None).digest,
    )


def bind_call(context: CallContext, changes: Sequence[FileChange] | None) -> ApprovalBinding:
    """What an approval of this call is bound to; `changes` are what a file tool would write."""
    if context.review is not None:
        # An approval for the task or the workspace holds for this tool of this server, whatever the arguments.
        return bind_subject(context.spec.name, context.review.subject)
    spec, command = context.spec, getattr(context.args, "command", None)
    content = None if changes is None else _describe(changes)
    runs = command if command is not None else _RUN_BY_TESTS if spec.runs_project else None
    if context.commands is not None:
        # The words of all of them, and what the programs that they start read by convention.
        runs = (*(word for each in context.commands for word in each.argv), *_RUN_BY_TESTS)
        content = repr(context.commands)
    if runs is None and spec.effects == "command":
        runs = ("git",)
    return bind(
        spec.name,
        context.call.args,
        _directory(context, getattr(context.args, "cwd", None)),
        runs,
        content,
        context.workspace,
        # What gets no more rights than a trusted project's tests isn't bound to every test.
        whole=not context.contained,
    )


def _directory(context: CallContext, cwd: str | None) -> str:
    return posixpath.normpath(posixpath.join(context.workspace, cwd or "."))


def _describe(changes: Sequence[FileChange]) -> str:
    """Exactly what would be written, and over what."""
    return repr(
        [
            (
                change.path,
                change.mode,
                *(None if data is None else digest(data) for data in (change.before, change.after)),
            )
            for change in changes
        ]
    )
