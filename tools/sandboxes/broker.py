"""The way out of a container: a proxy to the hosts that its command may reach, which adds secrets on the way.

A container has no network, only our Unix socket; a relay inside serves it on the container's own loopback. A command
names `http://HOST/…` for a host with a secret. Out here the request becomes HTTPS and gets the header, so the secret is
never in the sandbox: not in its environment, not in a file.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from tools.local.sandbox.gateway import HostProxy, Upstream, plain_host
from tools.local.temporary import make_directory
from tools.sandboxes.port import NetworkAccess, SandboxError, SecretRule

PORT = 3_128
_NAMED = re.compile(r"\$([A-Z][A-Z0-9_]+)")
_MAX_HEAD = 16_384
_PERL = """
use IO::Socket::UNIX; use IO::Socket::INET;
my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ARGV[1], Listen => 64, ReuseAddr => 1) or die $!;
$| = 1; $SIG{CHLD} = 'IGNORE'; print "ready\\n";
sub copy { my ($f, $t) = @_; while (sysread($f, my $b, 65536)) { syswrite($t, $b) } shutdown($t, 1) }
while (my $c = $l->accept) { next if fork; my $u = IO::Socket::UNIX->new(Peer => $ARGV[0]) or exit;
  if (fork) { copy($c, $u); wait } else { copy($u, $c) } exit }
"""
_PYTHON = """
import socket, sys, threading
def copy(f, t):
    try:
        while b := f.recv(65536): t.sendall(b)
        t.shutdown(1)
    except OSError: pass
l = socket.create_server(('127.0.0.1', int(sys.argv[2])), backlog=64); print('ready', flush=True)
while True:
    c, _ = l.accept(); u = socket.socket(socket.AF_UNIX); u.connect(sys.argv[1])
    for pair in ((c, u), (u, c)): threading.Thread(target=copy, args=pair, daemon=True).start()
"""
#: Whichever of the two the image has.
RELAY = 'if command -v perl >/dev/null; then exec perl -e "$1" "$3" "$4"; else exec python3 -c "$2" "$3" "$4"; fi'


class Broker(HostProxy):
    """One for each sandbox. `secret` finds a value by the name of its variable."""

    def __init__(self, rules: Mapping[str, SecretRule], secret: Callable[[str], str | None]) -> None:
        super().__init__()
        self._rules = {plain_host(name): rule for name, rule in rules.items()}
        self._secret = secret
        self._network = NetworkAccess()
        self._added: dict[str, Upstream] = {}
        self.path = str(Path(make_directory("broker", self)) / "socket")

    async def start(self) -> None:
        self._server = await asyncio.start_unix_server(self._connected, self.path, limit=_MAX_HEAD)
        # Its directory is ours alone; inside the container, the command may have any user.
        Path(self.path).chmod(0o666)

    def allow(self, network: NetworkAccess) -> dict[str, str]:
        """For the next command: what it may reach, and its variables."""
        self._network = network._replace(hosts=tuple(map(plain_host, network.hosts)))
        self._added = {name: self._with_secret(name, rule) for name, rule in self._rules.items() if self._allows(name)}
        url = f"http://127.0.0.1:{PORT}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        return {**dict.fromkeys(names, url), "NO_PROXY": "localhost,127.0.0.1", "NODE_USE_ENV_PROXY": "1"}

    def relay(self, socket: str) -> list[str]:
        """What serves the socket inside, on the loopback of the container."""
        return ["/bin/sh", "-c", RELAY, "sh", _PERL, _PYTHON, socket, str(PORT)]

    def upstream(self, name: str, port: int, head: bytes, *, tunnel: bool) -> Upstream | None:
        if not self._allows(name):
            return None
        return Upstream(name, port) if tunnel else self._added.get(name, Upstream(name, port))

    def _allows(self, name: str) -> bool:
        return self._network.anywhere or name in self._network.hosts

    def _with_secret(self, name: str, rule: SecretRule) -> Upstream:
        at = urlsplit(rule.url or f"https://{name}")
        secure = at.scheme == "https"
        header = (rule.header, fill_in(rule.value, self._secret))
        return Upstream(at.hostname or name, at.port or (443 if secure else 80), secure, header)


def fill_in(value: str, secret: Callable[[str], str | None]) -> str:
    """The value of a header. Raises `SandboxError` for a name that nothing is stored for."""

    def found(match: re.Match[str]) -> str:
        text = secret(match[1])
        if not text:
            raise SandboxError(f"sandbox.toml names ${match[1]}, which is neither in the environment nor stored.")
        return text

    return _NAMED.sub(found, value)
