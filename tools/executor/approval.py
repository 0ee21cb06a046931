"""Before a person is asked: what a path really leads to, and what exactly the question is."""

import posixpath
from contextlib import suppress

from tools.errors import FileMissing, NotADirectory
from tools.executor.context import CallContext
from tools.host import Host, ResolvingHost
from tools.ledger import ApprovalPrompt
from tools.policy.binding import binding, environment_names
from tools.policy.policy import Decision
from tools.protected import protected_part, runs_scripts
from tools.spec import describe_arguments
from tools.text import escape_hidden


async def check_links(passage: CallContext, host: Host, decision: Decision) -> Decision:
    """A link must not be another name for what is protected."""
    if not isinstance(host, ResolvingHost):
        return decision
    for path in passage.args.paths():
        if name := protected_part(await host.resolve(path)):
            return Decision("ask", f"{path} leads to {name}, which decides what runs later, or holds secrets")
        with suppress(FileMissing, NotADirectory):
            found = await host.stat(path)
            if found.kind == "file" and found.links > 1:
                return Decision("ask", f"{path} has another name (a hard link), perhaps outside of the workspace")
            if found.kind == "file" and runs_scripts(path):
                return Decision("ask", f"{path} holds commands that others run later")
    return decision


def build_prompt(passage: CallContext, stage: str, why: str, diff: str | None) -> ApprovalPrompt:
    command = getattr(passage.args, "command", None)
    argv = None if command is None else ("/bin/sh", "-c", command) if isinstance(command, str) else tuple(command)
    directory = posixpath.normpath(posixpath.join(passage.context.workspace, getattr(passage.args, "cwd", None) or "."))

    def show(text: str) -> str:
        return escape_hidden(passage.redact(text))

    return ApprovalPrompt(
        id=f"{passage.call.id}:{stage}",
        call_id=passage.call.id,
        action=show(f"{passage.spec.name} {describe_arguments(passage.call.args)}"[:500]),
        why=show(why),
        argv=None if argv is None else tuple(map(show, argv)),
        cwd=None if argv is None else show(directory),
        diff=None if diff is None else show(diff),
        environment=None if argv is None else tuple(environment_names()),
        binding=binding(passage.spec.name, passage.call.args, directory, command, diff),
    )
