"""`doors.toml` and `hooks/NAME.toml` of the configuration directory: who may ask, for what, and where.

[github]
label = "brain"                  # an issue with this label becomes a task
mention = "@rainy-brain"         # so does a comment with this word
allow = ["alice"]                # whose labels and comments count
[github.repositories]
"acme/shop" = "/home/alice/shop" # whose trust and grants the work has; it is done in a clone
"""

import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sidecar.cache.verified import Stamp
from sidecar.config.errors import UsageError
from sidecar.wire.tasks import AgentName, Approvals

GITHUB_URL = "https://api.github.com"
Table = TypeVar("Table", bound=BaseModel)
AbsolutePath = Annotated[str, Field(pattern=r"^/")]


class DoorsError(UsageError):
    """A file of the configuration directory can't be used. The message names it and says what to change."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GithubDoor(_Table):
    label: str = "brain"
    mention: str = "@rainy-brain"
    allow: list[str] = []
    approvals: Approvals = "auto"
    repositories: dict[str, AbsolutePath] = {}
    #: Work in clones and offer pull requests; without it, tasks work in the workspaces themselves.
    pull_requests: bool = True
    #: Where the clones are; a folder of the cache directory unless you name one.
    clones: AbsolutePath | None = None
    #: Where the repositories are served; derived from BRAIN_GITHUB_URL unless you name it.
    git: Annotated[str, Field(pattern=r"^https?://[^/@]+(/[^@]*)?$")] | None = None


class LinearPick(_Table):
    """Take the next issue of this team, by priority, when no session is at work; only those with `label`, if given."""

    team: str
    label: str = ""
    every: Annotated[float, Field(ge=1, le=86_400)] = 60


class LinearDoor(_Table):
    #: Ids or e-mail addresses of people; by team key, where the work is done.
    allow: list[str] = []
    approvals: Approvals = "auto"
    teams: dict[str, AbsolutePath] = {}
    pick: LinearPick | None = None


class SlackDoor(_Table):
    #: Ids of people, such as `U012AB3CD`, who may start, steer and stop tasks; those who may also approve and answer;
    #: by channel id, where the work is done.
    allow: list[str] = []
    decide: list[str] = []
    approvals: Approvals = "auto"
    channels: dict[str, AbsolutePath] = {}


class TelegramDoor(_Table):
    """As for Slack. An id of Telegram is a number; write it as text."""

    allow: list[str] = []
    decide: list[str] = []
    approvals: Approvals = "auto"
    chats: dict[str, AbsolutePath] = {}


class EscalationStep(_Table):
    """`channel` is desktop, mail, webhook:NAME, slack:CHANNEL or telegram:CHAT. All of `after` count from the start."""

    channel: Annotated[str, Field(pattern=r"^(desktop|mail|webhook:[a-z0-9_-]+|slack:[A-Z0-9]+|telegram:-?[0-9]+)$")]
    after: Annotated[float, Field(ge=0, le=604_800)] = 0
    #: Also in quiet hours; then it comes before those that wait for the morning, which are left out.
    at_night: bool = False

    @property
    def is_chat(self) -> bool:
        return self.channel.startswith(("slack:", "telegram:"))


class EscalationRules(_Table):
    """Who hears, one after the other, that a task needs someone.

    [escalation]
    quiet = "22:00-07:00"
    chain = [{channel = "desktop"}, {channel = "slack:C012AB3CD", after = 120}, {channel = "mail", after = 900}]
    """

    on: list[Literal["waiting", "failed", "escalated"]] = ["waiting", "failed", "escalated"]
    #: Such as `22:00-07:00`, in local time.
    quiet: Annotated[str, Field(pattern=r"^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?$")] = ""
    chain: Annotated[list[EscalationStep], Field(max_length=20)] = []


class Doors(_Table):
    #: Where people reach the panel, for links in chats and mails; empty: messages name the command.
    panel_url: str = ""
    github: GithubDoor = GithubDoor()
    linear: LinearDoor = LinearDoor()
    slack: SlackDoor = SlackDoor()
    telegram: TelegramDoor = TelegramDoor()
    escalation: EscalationRules = EscalationRules()


class IncomingHook(_Table):
    """One webhook of your own. `{a.b.0}` in `task` and `subject` is replaced by that value of the JSON."""

    #: The environment variable with the secret.
    secret: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{2,80}$")]
    header: str = "X-Signature-256"
    prefix: str = "sha256="
    id_header: str = ""
    #: Where a task works, and its text; or the name of a schedule that a delivery starts.
    workspace: AbsolutePath | None = None
    task: Annotated[str, Field(max_length=20_000)] = ""
    schedule: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]*$", max_length=100)] = ""
    #: Deliveries of one subject go to one task, in order; empty: each starts its own.
    subject: str = ""
    approvals: Literal["auto", "readonly"] = "auto"
    #: The agent that works on it, one of the roster or of your own; without it, the router chooses.
    agent: AgentName | None = None

    @model_validator(mode="after")
    def _names_one_thing(self) -> "IncomingHook":
        if bool(self.schedule) == bool(self.task and self.workspace):
            raise ValueError("name a `task` and its `workspace`, or a `schedule`")
        return self


class Webhook(_Table):
    """Where events of your tasks are sent, signed with `secret`. `events` are types, or `*` for all."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    url: Annotated[str, Field(pattern=r"^https?://")]
    secret: Annotated[str, Field(min_length=8)]
    events: list[str] = ["complete", "error", "escalation"]


class _Webhooks(_Table):
    webhook: list[Webhook] = []


def load_webhooks(directory: Path) -> list[Webhook]:
    file = directory / "webhooks.toml"
    return _read(file, _Webhooks).webhook if file.exists() else []


def load_doors(directory: Path) -> Doors:
    file = directory / "doors.toml"
    return Doors() if not file.exists() else _read(file, Doors)


def load_hook(directory: Path, name: str) -> IncomingHook | None:
    """`name` is one that a path may hold: letters, digits, `-` and `_`."""
    file = directory / "hooks" / f"{name}.toml"
    return _read(file, IncomingHook) if file.is_file() else None


def secret_of(environ: Mapping[str, str], door: str) -> str:
    variable = {
        "github": "BRAIN_GITHUB_WEBHOOK_SECRET",
        "linear": "BRAIN_LINEAR_WEBHOOK_SECRET",
        "slack": "BRAIN_SLACK_SIGNING_SECRET",
    }[door]
    return environ.get(variable, "")


#: By file, what it held and the state that it was read in.
_held: dict[Path, tuple[Stamp, BaseModel]] = {}
#: A file that was changed so recently may change again within a tick of its clock.
_FRESH_NS = 2_000_000_000
_MOST_HELD = 100


def _read(file: Path, kind: type[Table]) -> Table:
    """Each delivery asks; a file that didn't change isn't parsed again."""
    try:
        stamp, held = Stamp.of(str(file)), _held.get(file)
        if held is not None and held[0] == stamp and isinstance(held[1], kind):
            return held[1]
        table = kind.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
        if stamp is not None and stamp.steady(time.time_ns() - _FRESH_NS):
            if len(_held) >= _MOST_HELD:
                _held.clear()
            _held[file] = (stamp, table)
        return table
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DoorsError(f"{file}: `{where}`: {first['msg']}.") from error
    except (OSError, ValueError) as error:
        raise DoorsError(f"{file} can't be read: {error}") from error
