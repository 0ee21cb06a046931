"""Repositories whose configuration, attributes and hooks would start a program; each tries to run a canary.

`python -m tests.security.git_corpus TIER TRUSTED` attacks with all of them and prints what ran, for another user.
"""

# One line a configuration.
# ruff: noqa: E501

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from sidecar.verify.change import FileVersions
from sidecar.verify.claims import check_claims, parse_claims
from sidecar.verify.counts import parse_counts
from sidecar.verify.facts import GitHead, TaskFacts
from tests.support.workbench import Workbench
from tools.executor.executor import Executor
from tools.local.backend import LocalBackend
from tools.local.confinement import CommandLimits
from tools.local.sandbox.access import SandboxTier
from tools.local.sandbox.bubblewrap import Bubblewrap
from tools.local.sandbox.landlock import Landlock
from tools.local.sandbox.probe import Sandboxes
from tools.policy.policy import Policy

Tier = Literal["bubblewrap", "landlock", "none"]
Setup = Callable[[Path, str], None]

#: `{canary}` is a program that leaves a mark.
SETTINGS = {
    "fsmonitor": '[core]\n\tfsmonitor = "{canary}"',
    "fsmonitor with arguments": '[core]\n\tfsmonitor = "{canary} x;"\n\tfsmonitorHookVersion = 1',
    "fsmonitor by shell": '[core]\n\tfsmonitor = "sh -c {canary};:"',
    "a pager": '[core]\n\tpager = "{canary}"',
    "a pager for each command": "[pager]\n\tlog = {canary}\n\tstatus = {canary}\n\tdiff = {canary}\n\tshow = {canary}\n\tblame = {canary}",
    "an editor": "[core]\n\teditor = {canary}\n[sequence]\n\teditor = {canary}",
    "ssh": '[core]\n\tsshCommand = {canary}\n[remote "origin"]\n\turl = ssh://x/y\n\tpromisor = true\n[extensions]\n\tpartialClone = origin',
    "askpass": "[core]\n\taskPass = {canary}",
    "a git proxy": '[core]\n\tgitProxy = {canary}\n[remote "origin"]\n\turl = git://x/y\n\tpromisor = true\n[extensions]\n\tpartialClone = origin',
    "alternate refs": "[core]\n\talternateRefsCommand = {canary}",
    "gpg": "[gpg]\n\tprogram = {canary}\n[log]\n\tshowSignature = true",
    "gpg of a format": '[gpg "openpgp"]\n\tprogram = {canary}\n[log]\n\tshowSignature = true',
    "gpg x509": '[gpg]\n\tformat = x509\n[gpg "x509"]\n\tprogram = {canary}\n[log]\n\tshowSignature = true',
    "gpg ssh": '[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = {canary}\n\tdefaultKeyCommand = {canary}\n\tallowedSignersFile = /dev/null\n[log]\n\tshowSignature = true\n[commit]\n\tgpgSign = true',
    "a credential helper": '[credential]\n\thelper = "!{canary}"\n[remote "origin"]\n\turl = http://127.0.0.1:9/x\n\tpromisor = true\n[extensions]\n\tpartialClone = origin',
    "a credential helper of a host": '[credential "http://127.0.0.1:9"]\n\thelper = "{canary}"',
    "a clean filter": '[filter "evil"]\n\tclean = {canary}',
    "a required clean filter": '[filter "evil"]\n\tclean = {canary}\n\trequired',
    "a smudge filter": '[filter "evil"]\n\tsmudge = {canary}',
    "a filter process": '[filter "evil"]\n\tprocess = {canary}',
    "a filter in capitals": '[FILTER "evil"]\n\tCLEAN = {canary}',
    "a filter in the old form": "[filter.evil]\n\tclean = {canary}",
    "a filter on one line": '[filter "evil"]clean={canary}',
    "a filter over two lines": '[filter "evil"]\n\tclean = {canary} \\\n x',
    "a filter in quotes": '[filter "evil"]\n\tclean = "{canary}" # harmless',
    "a filter after nonsense": '[core]\n\tx = "\n[filter "evil"]\n\tclean = {canary}',
    "a filter with line ends of Windows": '[filter "evil"]\r\n\tclean = {canary}\r\n',
    "a filter after a byte order mark": '\ufeff[filter "evil"]\n\tclean = {canary}',
    "a filter with a tab and a semicolon": '[filter\t"evil"]\n\tclean\t=\t{canary};',
    "a filter beside many others": "".join(f'[filter "f{n}"]\n\tclean = true\n' for n in range(50))
    + '[filter "evil"]\n\tclean = {canary}',
    "an external diff": "[diff]\n\texternal = {canary}",
    "a diff command": '[diff "evil"]\n\tcommand = {canary}',
    "a text conversion": '[diff "evil"]\n\ttextconv = {canary}',
    "a cached text conversion": '[diff "evil"]\n\ttextconv = {canary}\n\tcachetextconv = true',
    "a conversion for binary files": '[diff "evil"]\n\tbinary = true\n\ttextconv = {canary}',
    "a difftool": '[diff]\n\ttool = evil\n[difftool "evil"]\n\tcmd = {canary}\n[difftool]\n\tprompt = false',
    "a merge driver": '[merge "evil"]\n\tdriver = {canary}\n\trecursive = binary',
    "a mergetool": '[merge]\n\ttool = evil\n[mergetool "evil"]\n\tcmd = {canary}',
    "an upload pack": '[remote "origin"]\n\turl = .\n\tuploadpack = {canary}\n\tpromisor = true\n[extensions]\n\tpartialClone = origin',
    "an upload pack of another": '[remote "other"]\n\turl = /\n\tuploadpack = {canary};\n\tpromisor\n\tpartialclonefilter = blob:none',
    "an ext remote": '[remote "origin"]\n\turl = "ext::{canary}"\n\tpromisor = true\n[extensions]\n\tpartialClone = origin\n[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always',
    "an ext remote by rewriting": '[url "ext::{canary} "]\n\tinsteadOf = http://x/\n[remote "origin"]\n\turl = http://x/\n\tpromisor = true\n[extensions]\n\tpartialClone = origin\n[protocol "ext"]\n\tallow = always',
    "a remote with a helper": '[remote "origin"]\n\tvcs = "ext {canary}"\n\turl = x\n\tpromisor = true\n[extensions]\n\tpartialClone = origin',
    "aliases": '[alias]\n\tstatus = "!{canary}"\n\tlog = "!{canary}"\n\tdiff = "!{canary}"\n\tls = "!{canary}"',
    "an include": "[include]\n\tpath = ../evil.config",
    "an include by its absolute path": "[include]\n\tpath = {root}/evil.config",
    "an include for this directory": '[includeIf "gitdir:{root}/"]\n\tpath = {root}/evil.config',
    "an include for any directory": '[includeIf "gitdir/i:**"]\n\tpath = ../evil.config',
    "an include for this branch": '[includeIf "onbranch:**"]\n\tpath = ../evil.config',
    "an include by remote": '[remote "origin"]\n\turl = http://x/y\n[includeIf "hasconfig:remote.*.url:http://x/**"]\n\tpath = ../evil.config',
    "an attributes file": '[core]\n\tattributesFile = {root}/evil.attributes\n[filter "other"]\n\tclean = {canary}',
    "a pack hook": "[uploadpack]\n\tpackObjectsHook = {canary}",
    "an interactive filter": "[interactive]\n\tdiffFilter = {canary}",
    "a trailer": '[trailer "x"]\n\tcommand = {canary}\n\tcmd = {canary}\n\tifmissing = add',
    "a submodule update": '[submodule "sub"]\n\turl = ./x\n\tactive = true\n\tupdate = "!{canary}"\n[status]\n\tsubmoduleSummary = true\n[diff]\n\tsubmodule = diff',
    "mail": "[sendemail]\n\tsmtpServer = {canary}\n[imap]\n\ttunnel = {canary}",
    "garbage collection": "[gc]\n\tauto = 1\n\trecentObjectsHook = {canary}\n[maintenance]\n\tauto = true",
    "archives": '[tar "tar.gz"]\n\tcommand = {canary}',
    "hooks from the configuration": '[hook "x"]\n\tcommand = {canary}\n\tevent = post-index-change',
    "browsers": '[web]\n\tbrowser = evil\n[browser "evil"]\n\tcmd = {canary}\n[man "evil"]\n\tcmd = {canary}\n[help]\n\tautoCorrect = immediate',
    "another working tree": '[core]\n\tworktree = {root}/other\n[filter "evil"]\n\tclean = {canary}',
    "hooks elsewhere": "[core]\n\thooksPath = {root}/hooks",
    "everything of the worktree": "[extensions]\n\tworktreeConfig = true\n[core]\n\trepositoryformatversion = 1",
    "a version from the future": '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tnoop = true\n[filter "evil"]\n\tclean = {canary}',
}
_FILTER = '[filter "evil"]\n\tclean = {canary}\n[core]\n\tfsmonitor = {canary}\n[diff "evil"]\n\ttextconv = {canary}\n'


def _bare(root: Path, canary: str) -> None:
    """A model writes a bare repository of plain files, none of which is protected."""
    shutil.rmtree(root / ".git")
    for name in ("refs/x", "objects/x"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("")
    (root / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "config").write_text(
        f'[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = "{canary};"\n\tpager = {canary}\n'
        + _FILTER.format(canary=canary)
    )


def _bare_above(root: Path, canary: str) -> None:
    _bare(root, canary)
    for name in ("HEAD", "config", "refs", "objects"):
        shutil.move(root / name, root.parent / name)


def _git_file(root: Path, canary: str) -> None:
    shutil.move(root / ".git", root / "plain")
    (root / "plain/config").write_text("[core]\n\trepositoryformatversion = 0\n" + _FILTER.format(canary=canary))
    (root / ".git").write_text("gitdir: plain\n")


def _git_link(root: Path, canary: str) -> None:
    _git_file(root, canary)
    (root / ".git").unlink()
    (root / ".git").symlink_to("plain")


def _common(root: Path, canary: str) -> None:
    shutil.copytree(root / ".git", root / "elsewhere")
    (root / "elsewhere/config").write_text("[core]\n\trepositoryformatversion = 0\n" + _FILTER.format(canary=canary))
    (root / ".git/commondir").write_text("../elsewhere\n")


def _submodule(root: Path, canary: str) -> None:
    inner = root / "sub"
    git(root, "init", "-q", "sub")
    (inner / "b.txt").write_text("b\n")
    (inner / ".gitattributes").write_text("* filter=evil diff=evil\n")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "sub")
    git(root, "add", "sub")
    (inner / "b.txt").write_text("c\n")
    with (inner / ".git/config").open("a") as config:
        config.write(_FILTER.format(canary=canary))
    (root / ".gitmodules").write_text(
        f'[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tupdate = "!{canary}"\n\tignore = none\n'
    )


def _moved_submodule(root: Path, canary: str) -> None:
    _submodule(root, canary)
    (root / ".git/modules").mkdir()
    shutil.move(root / "sub/.git", root / ".git/modules/sub")
    (root / "sub/.git").write_text("gitdir: ../.git/modules/sub\n")


def _plain_submodule(root: Path, canary: str) -> None:
    """Nothing in `.gitmodules` keeps Git from a commit."""
    _submodule(root, canary)
    (root / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tignore = none\n')
    git(root, "commit", "-qm", "sub")
    hook = root / "sub/.git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(canary, hook)


def _embedded(root: Path, canary: str) -> None:
    """A repository in the workspace that isn't a submodule."""
    _submodule(root, canary)
    git(root, "rm", "-q", "--cached", "-f", "sub")
    (root / ".gitmodules").unlink()


def _alternates(root: Path, canary: str) -> None:
    (root / ".git/objects/info").mkdir(exist_ok=True)
    (root / ".git/objects/info/alternates").write_text(f"{root}/elsewhere\n")
    (root / "elsewhere").mkdir()
    (root / ".git/config").write_text(SETTINGS["alternate refs"].format(canary=canary))


def _many_attributes(root: Path, canary: str) -> None:
    """Built-in and personal drivers by name, and macros."""
    (root / ".gitattributes").write_text(
        "[attr]evil filter=evil diff=evil merge=evil\n* evil\na.txt filter=lfs diff=lfs working-tree-encoding=UTF-16\n"
    )
    with (root / ".git/config").open("a") as config:
        config.write(f'[filter "lfs"]\n\tclean = {canary}\n\tprocess = {canary}\n\trequired = true\n')


def _worktree_config(root: Path, canary: str) -> None:
    git(root, "config", "extensions.worktreeConfig", "true")
    (root / ".git/config.worktree").write_text(_FILTER.format(canary=canary))


def _hooks(root: Path, canary: str) -> None:
    for name in ("post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout", "reference-transaction"):
        place = root / ".git/hooks" / name
        place.parent.mkdir(exist_ok=True)
        shutil.copy(canary, place)


def _info_attributes(root: Path, canary: str) -> None:
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/attributes").write_text("* filter=late diff=late\n")
    (root / ".git/config").write_text(f'[filter "late"]\n\tclean = {canary}\n[diff "late"]\n\ttextconv = {canary}\n')


def _missing_object(root: Path, canary: str) -> None:
    name = git(root, "rev-parse", "HEAD:a.txt").strip()
    (root / ".git/objects" / name[:2] / name[2:]).unlink()
    (root / ".git/config").write_text(SETTINGS["an upload pack"].format(canary=canary, root=root))


def _own_git(root: Path, canary: str) -> None:
    shutil.copy(canary, root / "git")
    os.environ["PATH"] = f"{root}:{os.environ['PATH']}"


PLACES: dict[str, Setup] = {
    "a bare repository of plain files": _bare,
    "a bare repository above": _bare_above,
    "a git file that leads to plain files": _git_file,
    "a git link that leads to plain files": _git_link,
    "a common directory elsewhere": _common,
    "a submodule": _submodule,
    "a submodule with its directory in ours": _moved_submodule,
    "a submodule that is registered": _plain_submodule,
    "a repository inside": _embedded,
    "alternate objects": _alternates,
    "attributes with macros": _many_attributes,
    "a configuration of the worktree": _worktree_config,
    "hooks": _hooks,
    "attributes of the repository": _info_attributes,
    "an object that is missing": _missing_object,
    "a git of the workspace's own": _own_git,
}


def _of_settings(text: str) -> Setup:
    def write(root: Path, canary: str) -> None:
        with (root / ".git/config").open("a", encoding="utf-8", newline="") as config:
            config.write(text.replace("{canary}", canary).replace("{root}", str(root)) + "\n")

    return write


HOSTILE: dict[str, Setup] = {**{name: _of_settings(text) for name, text in SETTINGS.items()}, **PLACES}


def git(root: Path, *words: str) -> str:
    line = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", *words]
    return subprocess.run(line, cwd=root, check=True, capture_output=True, text=True, timeout=30).stdout


def make_repository(root: Path, canary: str) -> None:
    """A commit with a signature, a changed file, and attributes for every kind of driver."""
    git(root, "init", "-q", ".")
    (root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n*.bin diff=evil\n")
    (root / "a.txt").write_text("one\n")
    (root / "b.bin").write_bytes(b"\0\1")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    commit = git(root, "cat-file", "commit", "HEAD")
    head, _, body = commit.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    (root / "signed").write_text(f"{head}\n{signature}\n\n{body}")
    name = git(root, "hash-object", "-t", "commit", "-w", "--literally", "signed").strip()
    git(root, "update-ref", "HEAD", name)
    (root / "signed").unlink()
    (root / "a.txt").write_text("two\n")
    (root / "b.bin").write_bytes(b"\0\2")
    (root / "new.txt").write_text("new\n")
    (root / "evil.config").write_text(_FILTER.format(canary=canary))
    (root / "evil.attributes").write_text("* filter=other\n")
    (root / "hooks").mkdir()
    shutil.copy(canary, root / "hooks/post-index-change")


def make_canary(place: Path, mark: Path) -> str:
    """It marks every place that a command may write, in a sandbox or out of it."""
    places = f'{mark} {place.parent}/workspace/{mark.name} "${{TMPDIR:-/tmp}}"/{mark.name} ./{mark.name} /dev/shm/{mark.name}'
    place.write_text(f'#!/bin/sh\nfor place in {places}; do echo "$0 $*" >> "$place"; done 2>/dev/null\n')
    place.chmod(0o755)
    return str(place)


def make_sandbox(tier: Tier) -> SandboxTier | None:
    program = shutil.which("bwrap")
    if tier == "bubblewrap":
        assert program is not None
        return Bubblewrap(program)
    return Landlock() if tier == "landlock" else None


class GitBench(Workbench):
    def __init__(self, root: Path, tier: Tier, *, trusted: bool) -> None:
        super().__init__(root)
        sandboxes = Sandboxes()
        sandboxes._found, sandboxes._looked = make_sandbox(tier), True
        # Without a sandbox only Git's own settings protect.
        sandboxes._reader, sandboxes._reader_looked = sandboxes._found, True
        self.backend = LocalBackend(
            self.registry, self.data_dir, sandboxes=sandboxes, limits=CommandLimits(), trusted=lambda workspace: trusted
        )
        self.executor = Executor(self.registry, [self.backend], Policy(lambda workspace: trusted))

    async def look(self) -> None:
        """Every way in which our Git reads a repository."""
        await self.call("git_status")
        await self.call("git_diff")
        await self.call("git_diff", staged=True)
        await self.call("git_diff", ref="HEAD")
        await self.call("git_log", limit=3)
        await self.call("git_log", since="last tag")
        await self.call("git_show", ref="HEAD")
        await self.call("git_show", ref="HEAD:a.txt")
        await self.call("git_blame", path="a.txt")
        await self.call("review_changes")
        await self.call("review_changes", ref="HEAD")
        await self.call("get_workspace_info")
        await self.call("search_code", query="one")
        host = self.backend.host(str(self.workspace))
        report = "I made 3 commits and committed everything as abc1234. Created a.txt."
        claims, counts = parse_claims(report), parse_counts(report)
        facts = TaskFacts(GitHead(commit=None, at=0))
        changes = [FileVersions("a.txt", b"one\n", b"two\n")]
        await check_claims(claims, counts, (), changes, facts, host, "v1")

    async def stage(self) -> None:
        """Every way in which our Git writes."""
        await self.call("git_add", paths=["a.txt", "new.txt"])
        await self.call("git_add", paths=["."])
        await self.call("git_commit", message="Something")


async def attack(root: Path, name: str, tier: Tier, *, trusted: bool) -> list[str]:
    """What ran of one hostile repository: empty if nothing did."""
    root.mkdir(parents=True)
    root.chmod(0o755)
    mark = root / f"RAN-{os.getpid()}-{root.name}"
    bench, path = GitBench(root, tier, trusted=trusted), os.environ["PATH"]
    canary = make_canary(root / "canary", mark)
    try:
        make_repository(bench.workspace, canary)
        HOSTILE[name](bench.workspace, canary)
        _forget_marks(root, mark)
        await bench.look()
        if not trusted or tier == "none":
            # Where it is trusted, a sandbox may run its hooks and filters.
            await bench.stage()
        ran = _marks(root, mark)
        os.environ["PATH"] = path
        # A command changes a file that Git has: the scan asks Git for its content.
        await bench.call("run_command", command="printf x >> b.bin; rm -f a.txt")
        return [f"{name}: {line}" for line in [*ran, *_marks(root, mark)]]
    finally:
        os.environ["PATH"] = path
        await bench.executor.close()


def _places(root: Path, mark: Path) -> Iterator[Path]:
    yield from (Path("/dev/shm") / mark.name, Path(tempfile.gettempdir()) / mark.name)
    yield from root.rglob(mark.name)


def _forget_marks(root: Path, mark: Path) -> None:
    for place in _places(root, mark):
        place.unlink(missing_ok=True)


def _marks(root: Path, mark: Path) -> list[str]:
    return [f"{place}: {place.read_text().strip()}" for place in _places(root, mark) if place.exists()]


async def attack_all(root: Path, tier: Tier, names: Sequence[str], *, trusted: bool) -> list[str]:
    found = []
    for number, name in enumerate(names):
        found += await attack(root / f"{number}-{tier}", name, tier, trusted=trusted)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        chosen = list(HOSTILE)[:: int(sys.argv[3])]
        ran = asyncio.run(attack_all(Path(place), sys.argv[1], chosen, trusted=sys.argv[2] == "trusted"))  # type: ignore[arg-type]
    print(len(chosen), "repositories;", "\n".join(ran) or "nothing ran")
    sys.exit(bool(ran))
