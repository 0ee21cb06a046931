"""Why a server failed, in words that say what to do about it."""

import re

from pydantic import ValidationError

from tools.mcp.entry import ServerEntry
from tools.mcp.listing import clean

#: What a sandboxed server runs into, and the grant that would help.
_HINTS = (
    (("EROFS", "Read-only file system", "read-only file system"), 'grants: {"write": ["PATH"]}'),
    (
        ("ENETUNREACH", "EAI_AGAIN", "ENOTFOUND", "Network is unreachable", "name resolution", "dns error"),
        'grants: {"network": true}',
    ),
)
#: The same, while it starts: its own files are hidden from it.
_START_HINTS = (
    *_HINTS,
    (("MODULE_NOT_FOUND", "ModuleNotFoundError", "No such file or directory"), 'grants: {"read": ["PATH"]}'),
)
#: Launchers that download the server; with the network they may also fill their caches.
LAUNCHERS = frozenset({"npx", "npm", "pnpm", "pnpx", "bunx", "bun", "uvx", "uv", "pipx", "deno"})
_STACK_FRAME = re.compile(r"\s+at |\s*File \"|\s*\^+\s*$|Node\.js v|node:internal/|\s*[{}\]]*\s*$")
_SHOWN = 500
_CLOSED = "Connection closed"


def describe_error(error: BaseException, entry: ServerEntry, limit: float) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"It was not ready within {limit:g} s."
    if isinstance(error, ValidationError):
        problems = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3])
        return f"It sent what the protocol does not allow: {clean('; '.join(problems))[:_SHOWN]}."
    text = (clean(str(error)).strip() or type(error).__name__)[:_SHOWN].rstrip(".")
    if type(error).__name__.startswith("OAuth"):
        return (
            f"It wants you to sign in, which failed: {text}. If it takes only known clients, add `oauth` to its entry."
        )
    if type(error).__name__ == "ConnectError":
        return f"Nothing answers at {entry.url}."
    if entry.transport == "http" and type(error).__name__ == "MCPError":
        return f"{entry.url} answered: {text}."
    return "It ended before it was ready." if text == _CLOSED else f"{text}."


def telling_lines(said: str) -> str:
    """The end of what a server wrote, without the frames of a stack."""
    return "\n".join(line for line in said.splitlines() if not _STACK_FRAME.match(line))[-_SHOWN:].strip()


def download_hint(entry: ServerEntry) -> str:
    """For a server that shows no life because it can't be downloaded."""
    program = entry.command[0].rpartition("/")[2] if entry.command else ""
    if program not in LAUNCHERS or entry.grants.network:
        return ""
    return f'{program} may want to download it: its entry has no grants: {{"network": true}} (brain mcp add --network).'


def sandbox_hint(server: str, text: str, *, starting: bool = False) -> str:
    """What a server's sandbox may have kept from it; empty if nothing in the text says so."""
    for signs, grant in _START_HINTS if starting else _HINTS:
        for sign in signs:
            if sign in text:
                return f"[The sandbox may be why: the entry of {server} in mcp.json has no {grant}.]"
    return ""
