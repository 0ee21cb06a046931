"""Ways out of a sandbox, as a program inside tries them; each must fail. Prints one line for each way that worked.

`python -m tests.security.escapes TIER` sets the stage and tries all of them in that tier, for another user.
"""

import asyncio
import os
import pty
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.workbench import Workbench
from tools.executor.executor import Executor
from tools.local.backend import LocalBackend
from tools.local.confinement import CommandLimits
from tools.policy.policy import Policy

#: Runs inside. It gets the stage's places as arguments.
ATTACKER = r"""
import ctypes, fcntl, os, socket, sys, termios
home, outside, terminal, master = sys.argv[1:5]
libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": 0, "aarch64": 1}[os.uname().machine]
NR = {"ptrace": (101, 117), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
      "io_uring_setup": (425, 425), "bpf": (321, 280), "userfaultfd": (323, 282), "perf_event_open": (298, 241),
      "process_vm_readv": (310, 270), "pidfd_getfd": (438, 438), "setns": (308, 268), "mount": (165, 40),
      "unshare": (272, 97), "open_tree": (428, 428), "kcmp": (312, 272)}

def attempt(name):
    def decorate(act):
        try:
            found = act()
        except (OSError, ValueError):
            return
        if found is not None and found is not False:
            print("ESCAPED", name, repr(found)[:100], flush=True)
    return decorate

def call(name, *args):
    ctypes.set_errno(0)
    answer = libc.syscall(NR[name][numbers], *args)
    if answer < 0 and ctypes.get_errno() in (1, 38):   # not permitted, not there
        raise OSError
    return (name, answer, ctypes.get_errno())

# -- system calls
attempt("ptrace")(lambda: call("ptrace", 0, 0, 0, 0))
attempt("keyctl")(lambda: call("keyctl", 0, -3, 1))
attempt("add_key")(lambda: call("add_key", b"user", b"x", b"y", 1, -3))
attempt("request_key")(lambda: call("request_key", b"user", b"x", None, -3))
attempt("io_uring")(lambda: call("io_uring_setup", 1, ctypes.create_string_buffer(120)))
attempt("bpf")(lambda: call("bpf", 0, None, 0))
attempt("userfaultfd")(lambda: call("userfaultfd", 1))
attempt("perf")(lambda: call("perf_event_open", ctypes.create_string_buffer(128), 0, -1, -1, 0))
attempt("process memory")(lambda: call("process_vm_readv", os.getpid(), None, 0, None, 0, 0))
attempt("handles of others")(lambda: call("pidfd_getfd", 0, 0, 0))
attempt("kcmp")(lambda: call("kcmp", os.getpid(), os.getpid(), 0, 0, 0))
attempt("namespaces of others")(lambda: call("setns", 0, 0))
attempt("mount")(lambda: call("mount", b"x", b"/tmp", b"tmpfs", 0, None))
attempt("a tree of mounts")(lambda: call("open_tree", -100, b"/", 1))
attempt("a user namespace")(lambda: call("unshare", 0x10000000))
attempt("a network namespace")(lambda: call("unshare", 0x40000000))

# -- sockets
def connect(path, kind):
    with socket.socket(socket.AF_UNIX, kind) as own:
        own.connect(path)
        own.send(b"from inside")
    return True

for place in (outside + "/stream", home + "/stream", "stream"):
    attempt("a Unix socket at " + place)(lambda: connect(place, socket.SOCK_STREAM))
for place in (outside + "/datagram", home + "/datagram", "datagram"):
    attempt("a datagram socket at " + place)(lambda: connect(place, socket.SOCK_DGRAM))
    def pair():
        own, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        own.sendto(b"from a pair", place)
        return True
    attempt("a pair of datagram sockets to " + place)(pair)
    def reconnect():
        own, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        own.connect(place)
        own.send(b"from a pair")
        return True
    attempt("a reconnected pair to " + place)(reconnect)
attempt("an abstract socket")(lambda: connect("\0" + os.path.basename(outside), socket.SOCK_STREAM))
for name, family, kind in (("vsock", 40, 1), ("netlink", 16, 3), ("packet", 17, 3), ("alg", 38, 5),
                           ("bluetooth", 31, 3),
                           ("tipc", 30, 2), ("can", 29, 3), ("xdp", 44, 3), ("kcm", 41, 2), ("rds", 21, 5)):
    attempt(name)(lambda: socket.socket(family, kind, 0))
attempt("the network")(lambda: socket.create_connection(("198.51.100.1", 80), 0.5))
attempt("the loopback outside")(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[5])), 0.5))

# -- terminals
def terminals():
    return [name for name in os.listdir("/dev/pts") if name.isdigit()]
attempt("terminals of others")(lambda: terminals() or None)
attempt("a terminal of somebody")(lambda: os.open(terminal, os.O_RDWR | os.O_NOCTTY))
attempt("a terminal, to write")(lambda: os.open(terminal, os.O_WRONLY | os.O_NOCTTY))
attempt("a terminal, to read")(lambda: os.open(terminal, os.O_RDONLY | os.O_NOCTTY))
def push():
    handle = os.open("/dev/tty", os.O_RDWR)
    fcntl.ioctl(handle, termios.TIOCSTI, b"x")
    return True
attempt("input for a terminal")(push)
def push_own():
    first, second = os.openpty()
    fcntl.ioctl(second, termios.TIOCSTI, b"x")
    return True
attempt("input for any terminal")(push_own)

# -- files
for folder, _, names in os.walk(home):
    for name in names:
        if name.startswith(("SECRET", "secret")):
            attempt("found " + folder + "/" + name)(lambda: "canary" in open(folder + "/" + name).read() or None)
for line in open("places.txt").read().split("\n"):
    attempt("read " + line)(lambda: "canary" in open(line).read() or None)
    attempt("wrote " + line)(lambda: open(line, "r+").close() or ("canary" in open(line).read() or None))
for name, change in (("chmod", lambda path: os.chmod(path, 0o777)), ("times", lambda path: os.utime(path, (1, 1))),
                     ("chown", lambda path: os.chown(path, 12345, 12345)),
                     ("xattr", lambda path: os.setxattr(path, "user.x", b"y")),
                     ("fchmod", lambda path: os.fchmod(os.open(path, os.O_RDONLY), 0o777)),
                     ("a path handle", lambda path: os.chmod("/proc/self/fd/%d" % os.open(path, os.O_PATH), 0o777)),
                     ("removed", os.unlink), ("renamed", lambda path: os.rename(path, "here"))):
    for path in (home + "/.ssh/id", outside + "/file", "/etc/hostname"):
        # Only the stage can tell whether it happened to a file that it made.
        try:
            change(path)
        except OSError:
            pass
os.symlink(outside, "sub/way-out")
for change in (lambda: os.chmod("sub/way-out/file", 0o777), lambda: os.chmod("../outside/file", 0o777)):
    try:
        change()
    except OSError:
        pass
print("TRIED", flush=True)
"""
#: Relative to the home directory. Some are behind links.
_SECRET_NAMES = """
.ssh/id .aws/credentials .vault-token .cargo/credentials.toml .claude/settings.json .codex/auth.json .pgpass .my.cnf
.config/gh/hosts.yml .docker/config.json .kube/config .bash_history .zsh_history .python_history .npmrc .netrc .gnupg/x
.git-credentials .pypirc .config/gcloud/x .azure/x .m2/settings.xml .gradle/gradle.properties .terraform.d/x
.huggingface/x .cache/huggingface/token .local/share/keyrings/x .config/Code/x .psql_history .node_repl_history
.gitconfig notes.txt Documents/letter.txt other-project/.env other-project/main.py
"""
SECRETS = _SECRET_NAMES.split()


class Stage:
    """A home directory with keys, sockets, a terminal and files outside of the workspace."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.outside, self.workspace = root / "home", root / "outside", root / "workspace"
        for place in (self.home, self.outside, self.workspace):
            place.mkdir(parents=True, exist_ok=True)
        for name in SECRETS:
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text("canary")
        self._link()
        self.file = self.outside / "file"
        self.file.write_text("canary")
        os.utime(self.file, (1_000_000, 1_000_000))
        self.file.chmod(0o640)
        (self.home / ".ssh/id").chmod(0o600)
        (self.workspace / "attacker.py").write_text(ATTACKER)
        (self.workspace / "sub").mkdir()
        linked = ["vault/aws/credentials", "real-kube/config", "token-file"]
        places = [*(str(self.home / name) for name in SECRETS), *(str(root / name) for name in linked)]
        (self.workspace / "places.txt").write_text("\n".join([*places, "aws-copy/credentials"]))

    def _link(self) -> None:
        """`~/.aws` and others lead elsewhere, also into the workspace."""
        (self.root / "vault").mkdir()
        (self.home / ".aws").rename(self.root / "vault/aws")
        (self.home / ".aws").symlink_to(self.root / "vault/aws")
        (self.home / ".kube").rename(self.root / "real-kube")
        (self.home / ".kube").symlink_to("../real-kube")
        (self.root / "token-file").write_text("canary")
        (self.home / ".vault-token").unlink()
        (self.home / ".vault-token").symlink_to(self.root / "token-file")
        (self.workspace / "aws-copy").mkdir()
        (self.workspace / "aws-copy/credentials").write_text("canary")
        (self.home / ".config/doctl").symlink_to(self.workspace / "aws-copy")

    @contextmanager
    def services(self) -> Iterator[tuple[str, str]]:
        """Sockets that listen outside, and somebody's terminal: its name, and a port on the loopback."""
        open_sockets = []
        for folder in (self.outside, self.home, self.workspace):
            for name, kind in (("stream", socket.SOCK_STREAM), ("datagram", socket.SOCK_DGRAM)):
                own = socket.socket(socket.AF_UNIX, kind)
                own.bind(str(folder / name))
                if kind == socket.SOCK_STREAM:
                    own.listen()
                open_sockets.append(own)
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind("\0" + self.outside.name)
        abstract.listen()
        loopback = socket.create_server(("127.0.0.1", 0))
        first, second = pty.openpty()
        try:
            yield os.ttyname(second), str(loopback.getsockname()[1])
        finally:
            os.close(first)
            os.close(second)
            for own in (*open_sockets, abstract, loopback):
                own.close()

    def damage(self) -> list[str]:
        """What happened to files outside."""
        found, mode = [], self.file.stat()
        if (mode.st_mode & 0o777, mode.st_mtime, mode.st_uid) != (0o640, 1_000_000, os.getuid()):
            found.append(f"the file outside was changed: {oct(mode.st_mode)} {mode.st_mtime} {mode.st_uid}")
        if os.listxattr(self.file):
            found.append("the file outside has new attributes")
        if (self.home / ".ssh/id").stat().st_mode & 0o777 != 0o600:
            found.append("the key's mode was changed")
        return found


async def try_all(root: Path, tier: str) -> list[str]:
    """The ways out that worked."""
    from tests.security.sandboxed import sandboxes_of

    stage = Stage(root)
    os.environ["HOME"] = str(stage.home)
    bench = Workbench(root)
    bench.backend = LocalBackend(bench.registry, bench.data_dir, sandboxes=sandboxes_of(tier), limits=CommandLimits())
    bench.executor = Executor(bench.registry, [bench.backend], Policy())
    bench.ledger.answer = "deny"  # nobody allows anything
    try:
        with stage.services() as (terminal, port):
            words = [sys.executable, "attacker.py", str(stage.home), str(stage.outside), terminal, "-", port]
            outcome = await bench.call("run_command", command=words, timeoutMs=60_000)
    finally:
        await bench.executor.close()
    text = f"{outcome.content}\n{outcome.error}"
    escaped = [line for line in text.split("\n") if line.startswith("ESCAPED")]
    return [*escaped, *stage.damage(), *(() if "TRIED" in text else [f"it didn't try everything: {text[-2_000:]}"])]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        found = asyncio.run(try_all(Path(place), sys.argv[1]))
    print("\n".join(found) or "nothing escaped")
    sys.exit(bool(found))
