"""One server as an `mcp.json` describes it, in the formats of Claude Code, Cursor and VS Code."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from pydantic import JsonValue

Transport = Literal["stdio", "http"]

_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_NAME = 32
_VARIABLE = re.compile(r"\$\{([^${}]{1,200})\}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
#: Variables whose values are keys. A workspace's file can't read them: it would decide where they go.
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|SESSION|^BRAIN_", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}\Z")
_MAX_WORDS = 200
_MAX_TEXT = 32_000


class BadEntry(ValueError):
    """Why an entry can't be used, in words for its author."""


@dataclass(frozen=True, slots=True)
class ServerGrants:
    """What the server's process may do beside reading its workspace and the system."""

    network: bool = False
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServerEntry:
    """Variables are already expanded, for `workspace`."""

    name: str
    #: Whether it is in your configuration directory; otherwise the workspace brought it.
    own: bool
    transport: Transport
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    #: For OAuth: clientId, clientSecret, scopes; usually the server registers us by itself.
    oauth: Mapping[str, str] = field(default_factory=dict)
    grants: ServerGrants = field(default_factory=ServerGrants)
    #: Tools that need no approval, and tools that only read, by your own word; `*` is all of them.
    allow: frozenset[str] = frozenset()
    read_only: frozenset[str] = frozenset()
    #: Tools that may run beside other calls, though they don't say that they only read; and the other way round.
    parallel: frozenset[str] = frozenset()
    serial: frozenset[str] = frozenset()
    #: Seconds for a call. Naming it also says that a silent call is not a hung one.
    timeout: float = 60.0
    patient: bool = False
    disabled: bool = False
    workspace: str = ""
    #: The conversations that an editor lent it to; empty for a server of all. One more is no other server.
    conversations: frozenset[str] = field(default=frozenset(), compare=False)

    @cached_property
    def launch(self) -> str:
        """Digest of what is started or called, with which environment and grants. Another value is another server."""
        parts = [
            self.transport,
            self.command,
            "" if self.cwd == self.workspace else self.cwd,
            self.url,
            sorted(self.environment.items()),
            sorted(self.headers.items()),
            self.grants.network,
            self.grants.read,
            self.grants.write,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @cached_property
    def identity(self) -> tuple[str, str, str]:
        """Which server this is. Editors may lend different ones of the same name to their conversations."""
        return self.workspace, self.name, self.launch if self.conversations else ""

    @cached_property
    def pin_key(self) -> str:
        """Your own servers are the same in every workspace, unless their entry names it."""
        if self.conversations:
            return json.dumps(self.identity)
        named = (self.environment, self.headers)
        words = [
            *self.command,
            self.url,
            *self.grants.read,
            *self.grants.write,
            *(word for each in named for word in each.values()),
        ]
        varies = not self.own or any(self.workspace in word for word in words)
        return json.dumps([self.name, self.workspace if varies else ""])

    def serves(self, conversation: str) -> bool:
        return not self.conversations or conversation in self.conversations

    def allows(self, tool: str) -> bool:
        return not self.allow.isdisjoint({tool, "*"})

    def only_reads(self, tool: str) -> bool:
        return not self.read_only.isdisjoint({tool, "*"})

    @property
    def where(self) -> str:
        """What runs or is called, for people."""
        return self.url or " ".join(self.command)

    def secrets(self) -> dict[str, str]:
        """Values of the entry that no event may show."""
        named = {**self.environment, **self.headers, **self.oauth}
        return {f"mcp-{self.name}-{key}": value for key, value in named.items() if _SECRET.search(key)}


def server_name(written: str) -> str:
    """The name as tools carry it. Never with two underscores, so `SERVER__TOOL` is unambiguous."""
    return re.sub(r"_{2,}", "_", _NAME.sub("_", written))[:_MAX_NAME].strip("_-")


class Variables:
    """Expands `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${workspaceFolder}` and `${input:id}`."""

    def __init__(
        self,
        environment: Mapping[str, str],
        workspace: str,
        inputs: Mapping[str, str],
        *,
        own: bool,
    ) -> None:
        self._environment = environment
        self._workspace = workspace
        self._inputs = inputs
        self._own = own

    def expand(self, text: str) -> str:
        return _VARIABLE.sub(lambda match: self._value(match[1]), text)

    def _value(self, name: str) -> str:
        if name == "workspaceFolder":
            return self._workspace
        if name == "workspaceFolderBasename":
            return self._workspace.rpartition("/")[2]
        if name == "userHome":
            return self._environment.get("HOME", "")
        if name.startswith("input:"):
            found = self._inputs.get(name[6:])
            if found is None:
                raise BadEntry(f"it needs the input {name[6:]!r}; set it with: brain mcp input {name[6:]}")
            return found
        name, _, default = name.removeprefix("env:").partition(":-")
        if not _IDENTIFIER.match(name):
            raise BadEntry(f"${{{name}}} is not a variable that we know")
        if not self._own and _SECRET.search(name):
            raise BadEntry(
                f"it wants ${name}, and a workspace may not read your keys; if you want that, copy the entry to your "
                "own mcp.json"
            )
        value = self._environment.get(name) or default
        if not value and not _:
            raise BadEntry(f"the variable {name} is not set")
        return value


def parse_entry(written: str, raw: object, expand: Callable[[str], str], workspace: str, *, own: bool) -> ServerEntry:
    """Raises `BadEntry`."""
    name = server_name(written)
    if not name:
        raise BadEntry(f"{written[:60]!r} has no letter or digit")
    if not isinstance(raw, dict):
        raise BadEntry("it is not an object")
    read = _Reader(raw, expand)
    kind = str(raw.get("type", raw.get("transport", ""))).lower()
    if kind == "sse":
        raise BadEntry("the SSE transport is gone from the specification; use the server's streamable HTTP address")
    if kind not in ("", "stdio", "http", "streamable-http", "streamablehttp", "streamable_http"):
        raise BadEntry(f"type must be stdio or http, not {kind[:40]!r}")
    url = read.text("url") or read.text("serverUrl")
    if url or kind not in ("", "stdio"):
        if not re.match(r"https?://[^\s/]+", url):
            raise BadEntry("url must be an http:// or https:// address")
        transport: Transport = "http"
    else:
        transport = "stdio"
    command = read.text("command")
    if transport == "stdio" and not command:
        raise BadEntry("it needs a command, or a url")
    headers = read.mapping("headers")
    if bad := [each for each in headers if not _HEADER.match(each)]:
        raise BadEntry(f"{bad[0][:60]!r} is not the name of a header")
    timeout = raw.get("timeout")
    if timeout is not None and (not isinstance(timeout, (int, float)) or not 1 <= timeout <= 3_600):
        raise BadEntry("timeout is in seconds, from 1 to 3600")
    return ServerEntry(
        name,
        own,
        transport,
        command=(command, *read.words("args")) if transport == "stdio" else (),
        environment=read.mapping("env"),
        cwd=read.text("cwd") or workspace,
        url=url if transport == "http" else "",
        headers=headers,
        oauth=read.mapping("oauth"),
        grants=_grants(raw.get("grants"), expand, workspace, own=own),
        # What needs no approval is yours to say, not a repository's.
        allow=_names(raw.get("allow")) if own else frozenset(),
        read_only=_names(raw.get("readOnly")) if own else frozenset(),
        parallel=_names(raw.get("parallel")),
        serial=_names(raw.get("serial")),
        timeout=float(timeout) if timeout is not None else 60.0,
        patient=timeout is not None,
        disabled=bool(raw.get("disabled", False)),
        workspace=workspace,
    )


def _grants(raw: object, expand: Callable[[str], str], workspace: str, *, own: bool) -> ServerGrants:
    if raw is None:
        return ServerGrants()
    if not isinstance(raw, dict) or not raw.keys() <= {"network", "read", "write"}:
        raise BadEntry("grants may hold network (true or false), read and write (lists of paths)")
    reader = _Reader(raw, expand)
    read, write = (tuple(_place(path, workspace) for path in reader.words(key)) for key in ("read", "write"))
    for path in (*read, *write):
        if not own and not f"{path}/".startswith(f"{workspace}/"):
            raise BadEntry(f"a workspace can't grant {path}, which is outside of it")
    return ServerGrants(raw.get("network") is True, read, write)


def _place(path: str, workspace: str) -> str:
    import os.path

    return os.path.realpath(os.path.join(workspace, os.path.expanduser(path)))  # noqa: PTH111, PTH118


def _names(raw: object) -> frozenset[str]:
    if raw is True:
        return frozenset({"*"})
    return frozenset(each for each in raw if isinstance(each, str)) if isinstance(raw, list) else frozenset()


class _Reader:
    def __init__(self, raw: Mapping[str, Any], expand: Callable[[str], str]) -> None:
        self._raw = raw
        self._expand = expand

    def text(self, key: str) -> str:
        return self._one(key, self._raw.get(key, ""))

    def words(self, key: str) -> Sequence[str]:
        raw = self._raw.get(key, [])
        if not isinstance(raw, list) or len(raw) > _MAX_WORDS:
            raise BadEntry(f"{key} must be a list of at most {_MAX_WORDS} texts")
        return tuple(self._one(key, each) for each in raw)

    def mapping(self, key: str) -> dict[str, str]:
        raw = self._raw.get(key, {})
        if not isinstance(raw, dict) or len(raw) > _MAX_WORDS:
            raise BadEntry(f"{key} must be an object of at most {_MAX_WORDS} texts")
        return {str(name): self._one(key, value) for name, value in raw.items()}

    def _one(self, key: str, value: JsonValue) -> str:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or len(value) > _MAX_TEXT or "\0" in value:
            raise BadEntry(f"{key} must be text")
        return self._expand(value)
