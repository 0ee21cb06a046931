"""Decides whether a call may run: by tool, arguments, workspace trust and approval mode. Deny wins."""

import asyncio
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sidecar.config.grants import Permissions
from sidecar.config.trust import TrustChange
from sidecar.wire.tasks import Approvals
from tools.environments import ProjectEnvironment, find_environment
from tools.policy.command_lines import (
    FindsPrograms,
    Judgement,
    find_denied,
    find_impostor,
    find_network,
    find_protected,
    judge,
    runs_project,
    simple_words,
)
from tools.policy.consent import consents
from tools.policy.package_managers import PackageRegistry, Registries, find_manager
from tools.policy.programs import BadTable, ProgramTable, Table
from tools.protected import may_be_certificate, protected_part, secret_part
from tools.spec import Arguments, External, ToolSpec

#: Tools that show names of files and nothing of their content.
_NAMES_ONLY = frozenset({"list_dir", "read_directory_tree", "find_files", "git_log", "git_status"})
_GIT_WRITES = frozenset({"git_add", "git_commit"})


class Decision(NamedTuple):
    """`network`: whether the command may reach the network once a person has allowed it."""

    verdict: Literal["allow", "ask", "deny"]
    why: str
    network: bool = False
    #: Only a missing trust makes it ask: allowed, it gets the rights that it would have in a trusted workspace.
    contained: bool = False
    #: What changed since you trusted the workspace, if that is the reason.
    change: TrustChange | None = None


#: What takes less may run on the event loop.
_QUICK_SECONDS = 0.001


class _Environment:
    """The project's own environment, looked for only if a program's name matters."""

    def __init__(self, workspace: str, directory: str) -> None:
        self._place = workspace, directory
        self._found: ProjectEnvironment | None = None

    def finds(self, name: str) -> bool:
        if self._found is None:
            self._found = find_environment(*self._place)
        return self._found.finds(name)


class Policy:
    """`trusted` says whether you trust a workspace, `contained` whether commands run in a sandbox.

    `change` is what a trusted workspace's tests, builds and linters would run differently than when you trusted it.
    `reaches_hosts` says whether the sandbox can reach granted hosts and no others.
    """

    def __init__(
        self,
        trusted: Callable[[str], bool] = lambda workspace: False,
        contained: Callable[[], bool] = lambda: True,
        own_table: Path | None = None,
        approved: Callable[[str, str], bool] = lambda workspace, binding: False,
        permissions: Callable[[str], Permissions] = lambda workspace: Permissions(),
        change: Callable[[str], TrustChange | None] = lambda workspace: None,
        reaches_hosts: Callable[[], bool] = lambda: True,
    ) -> None:
        #: Whether an approval for the workspace covers exactly this call.
        self.approved = approved
        #: What was granted to the workspace's repository.
        self.permissions = permissions
        self.change = change
        self._trusted = trusted
        self._contained = contained
        self._reaches_hosts = reaches_hosts
        self._registries = Registries()
        self._programs = ProgramTable(own_table)
        #: How long each workspace took to prepare, in seconds.
        self._prepared: dict[str, float] = {}

    def prepare(self, workspace: str) -> None:
        """Find out what takes a while the first time: in a thread, so that `decide` needn't hold up the event loop."""
        began = time.perf_counter()
        self.change(workspace)
        self._contained()
        self._prepared[workspace] = time.perf_counter() - began

    def is_prepared(self, workspace: str) -> bool:
        """Whether preparing it again takes less time than a thread would."""
        return self._prepared.get(workspace, _QUICK_SECONDS) < _QUICK_SECONDS

    def decide(
        self, spec: ToolSpec, args: Arguments, workspace: str, approvals: Approvals, task_text: str = ""
    ) -> Decision:
        if spec.external is not None:
            return self._external(spec, spec.external, approvals)
        if name := _find_secret(spec, args):
            return decide_secret(f"{name} may hold secrets", approvals)
        if spec.asks:
            return self._asking(spec, args, workspace, approvals)
        if spec.effects == "none" and not spec.runs_project:
            return Decision("allow", "it only reads")
        if spec.effects == "none":
            return self._checkers(spec, workspace, approvals)
        if approvals == "readonly":
            return Decision("deny", f"the task is read-only, and {spec.name} may change something")
        if spec.effects == "files":
            return _decide_files(args, approvals)
        command = getattr(args, "command", None)
        if command is not None:
            cwd = getattr(args, "cwd", ".")
            here = cwd in (".", "", workspace)
            environment = _Environment(workspace, cwd)
            return self._command(command, workspace, approvals, task_text, environment, here=here)
        if spec.runs_project:
            return self._tests(workspace, approvals)
        if approvals == "auto":
            return Decision("allow", "you allow changes without approval")
        if spec.name in _GIT_WRITES:
            return Decision("ask", "it changes the repository")
        return Decision("ask", "a command can do anything that you can")

    def _external(self, spec: ToolSpec, external: External, approvals: Approvals) -> Decision:
        """A tool that isn't ours. What its author says about it is a hint, and decides nothing."""
        if external.only_reads:
            return Decision("allow", "you say that it only reads")
        if approvals == "readonly":
            return Decision("deny", f"the task is read-only, and only {external.source} says what {spec.name} does")
        if external.allowed:
            return Decision("allow", "your configuration lets it run without approval")
        if approvals == "auto" and external.yours:
            return Decision("allow", "you allow changes without approval")
        if approvals == "auto" and external.contained:
            return self._allow_contained("you allow changes without approval, and it runs in a sandbox")
        return Decision("ask", f"{external.source} carries it out, outside of this project's control")

    def _asking(self, spec: ToolSpec, args: Arguments, workspace: str, approvals: Approvals) -> Decision:
        """It changes nothing by itself, but a person decides on it."""
        if why := args.forbidden():
            return Decision("deny", why.removesuffix("."))
        host = args.host()
        if host and host in self.permissions(workspace).hosts:
            return Decision("allow", f"you granted {host}")
        if not host and approvals == "readonly":
            return Decision("deny", "the task is read-only")
        if not host and approvals == "auto":
            return Decision("allow", "you allow changes without approval")
        return Decision("ask", f"{spec.asks}: {host}" if host else spec.asks)

    def _checkers(self, spec: ToolSpec, workspace: str, approvals: Approvals) -> Decision:
        """It reads, but with programs that may come from the project."""
        trusted = self._trusted(workspace)
        change = self.change(workspace) if trusted else None
        if trusted and change is None:
            return self._allow_contained("it only reads, with the checkers of a project that you trust")
        if approvals == "auto":
            return self._allow_contained("you allow commands without approval")
        if None in self.permissions(workspace).checks:
            return self._allow_contained("you granted this repository its checks")
        decision = _ask_for_trust("it runs the project's own checkers", change)
        if approvals == "readonly":
            return Decision("deny", f"{spec.name} needs approval: {decision.why}")
        return decision

    def _tests(self, workspace: str, approvals: Approvals) -> Decision:
        if approvals == "auto":
            return self._allow_contained("you allow commands without approval")
        if None in self.permissions(workspace).checks:
            return self._allow_contained("you granted this repository its checks")
        if not self._trusted(workspace):
            return _ask_for_trust("it runs the project's own code")
        if (change := self.change(workspace)) is not None:
            return _ask_for_trust("it runs the project's own code", change)
        return self._allow_contained("it runs the tests of a project that you trust")

    def _command(
        self,
        command: str | Sequence[str],
        workspace: str,
        approvals: Approvals,
        task_text: str,
        environment: FindsPrograms,
        *,
        here: bool,
    ) -> Decision:
        """`here`: it runs in the workspace's own directory, which is where consent and grants are meant."""
        line = command if isinstance(command, str) else shlex.join(command)
        try:
            table = self._programs.load()
        except BadTable as error:
            return Decision("ask", str(error))
        if program := find_denied(command, table):
            return Decision("deny", program.why or f"{program.name} acts with more rights than this workspace grants")
        known = judge(command, workspace, table, environment)
        network = known.network or find_network(line, table)
        if (granted := self._by_grant(command, line, workspace, known, environment, here=here)) is not None:
            return granted
        matters = approvals == "auto" or (here and not network)
        protected = find_protected(line) if known.why and matters else None
        if here and not network and not protected and consents(line, task_text):
            if self._may_run(command, workspace, table, environment):
                return self._allow_contained("your task is this command, or tells us to run it")
            change = self.change(workspace) if self._trusted(workspace) else None
            if change is not None and approvals != "auto":
                return _ask_for_trust("it runs the project's own code", change)
            if known.why:
                known = known._replace(why="it runs the project's own code, and you don't trust this workspace")
        if approvals == "auto":
            if network:
                return Decision("ask", known.why if known.network else f"{network} reaches the network", network=True)
            if protected:
                return Decision("ask", f"it names {protected}, which controls what runs later or holds secrets")
            return self._allow_contained("you allow commands without approval")
        if known.why:
            return Decision("ask", known.why, network=bool(network))
        if not self._trusted(workspace):
            why = f"you don't trust this workspace; after `brain trust`, {line.split()[0]} runs without approval"
            return Decision("ask", why, contained=True)
        if known.project and (change := self.change(workspace)) is not None:
            return _ask_for_trust("it runs the project's own code", change)
        does = "runs the project's own checks" if known.project else "only reads"
        return self._allow_contained(f"{known.name} with these options {does}")

    def _may_run(
        self,
        command: str | Sequence[str],
        workspace: str,
        table: Table,
        environment: FindsPrograms,
    ) -> bool:
        """Whether an order in the task is enough: what runs the project's own code needs your trust too."""
        if not runs_project(command, table, environment):
            return True
        return self._trusted(workspace) and self.change(workspace) is None

    def _by_grant(
        self,
        command: str | Sequence[str],
        line: str,
        workspace: str,
        known: Judgement,
        environment: FindsPrograms,
        *,
        here: bool,
    ) -> Decision | None:
        """Allowed by a grant, in the sandbox: no keys, no protected files, and only granted hosts."""
        permissions = self.permissions(workspace)
        if not (permissions.commands or permissions.installs or permissions.checks):
            return None
        if here and line.strip() in permissions.commands:
            return self._allow_contained("you granted this command")
        if here and line.strip() in permissions.checks:
            return self._allow_contained("you granted this check")
        if None in permissions.checks and known.project and not known.why:
            return self._allow_contained("you granted this repository its checks")
        manager = find_manager(argv) if permissions.installs and (argv := simple_words(command)) is not None else None
        if manager is None or argv is None or permissions.installs.isdisjoint({None, manager}):
            return None
        # Your grant is for the client that you installed; that of a project counts where its code does.
        impostor = find_impostor(argv[0], workspace, environment)
        if impostor and not ("/" not in argv[0] and environment.finds(argv[0]) and self._trusted(workspace)):
            return Decision("ask", f"you granted installs with {manager}, but {impostor}", network=True)
        if "-m" in argv and not self._trusted(workspace):
            why = (
                f"you granted installs with {manager}, but `-m` takes modules of a workspace first that you don't trust"
            )
            return Decision("ask", why, network=True)
        if not self._reaches_hosts():
            why = f"you granted installs with {manager}, but the sandbox of this machine reaches no host"
            return Decision("ask", why, network=True)
        return self._allow_contained(f"you granted installs with {manager}")

    async def registry(self, args: Arguments, workspace: str) -> PackageRegistry:
        """What a command may reach by grants: the hosts you named, and a registry for its installs.

        For an install it asks the package manager, in a thread.
        """
        permissions = self.permissions(workspace)
        command = getattr(args, "command", None)
        argv = simple_words(command) if permissions.installs and command is not None else None
        manager = find_manager(argv) if argv is not None else None
        if manager is None or permissions.installs.isdisjoint({None, manager}):
            return PackageRegistry(permissions.hosts)
        found = await asyncio.to_thread(self._registries.find, manager, workspace)
        return found._replace(hosts=(*permissions.hosts, *found.hosts))

    def suggest_grant(self, spec: ToolSpec, args: Arguments) -> str:
        """What to grant to permit such a call for good; empty if it must be asked each time."""
        command = getattr(args, "command", None)
        if command is None:
            return "checks" if spec.runs_project else ""
        argv = simple_words(command)
        if argv is None:
            return ""
        return f"install {manager}" if (manager := find_manager(argv)) else f"command {shlex.quote(shlex.join(argv))}"

    def _allow_contained(self, why: str) -> Decision:
        """Without a sandbox, a command needs approval."""
        if self._contained():
            return Decision("allow", why)
        return Decision("ask", "it would run without a sandbox: none works on this machine, or it is turned off")


def _ask_for_trust(what: str, change: TrustChange | None = None) -> Decision:
    if change is None:
        return Decision("ask", f"{what}, and you don't trust this workspace", contained=True)
    return Decision("ask", f"{what}, and {change.describe()}", contained=True, change=change)


def decide_secret(why: str, approvals: Approvals) -> Decision:
    """A file that may hold secrets, in a trusted workspace too: only a person may have a model read it."""
    return Decision("deny" if approvals in ("auto", "readonly") else "ask", why)


def _find_secret(spec: ToolSpec, args: Arguments) -> str | None:
    """A path of the call that may hold secrets. Where only the content can tell, the host asks when it is read."""
    if spec.effects != "none" or spec.name in _NAMES_ONLY:
        return None
    for path in args.paths():
        if (name := secret_part(path)) and not may_be_certificate(path):
            return name
    return None


def _decide_files(args: Arguments, approvals: Approvals) -> Decision:
    for path in args.paths():
        if name := protected_part(path) or secret_part(path):
            return Decision("ask", f"{name} controls what runs later or holds secrets")
    if approvals == "edits":
        return Decision("ask", "edits ask first: you chose that, or the request may be just a question")
    return Decision("allow", "it edits files in the workspace, which can be undone")
