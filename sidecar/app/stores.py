"""What a sidecar keeps: the journal, your decisions and keys; local, or in the database of a fleet."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sidecar.api.identity import KnownTokens
from sidecar.app.launch import Launch, split
from sidecar.config.approvals import StandingApprovals
from sidecar.config.data_dir import DataDir
from sidecar.config.grants import Grants
from sidecar.config.keys import NAMES, Keys
from sidecar.config.paths import config_file
from sidecar.config.repositories import Repositories
from sidecar.config.settings import ModelSettings, Settings
from sidecar.config.tokens import Tokens
from sidecar.config.trust import Trust
from sidecar.journal.port import Retention
from sidecar.journal.sqlite import SqliteJournal
from sidecar.telemetry.redaction import environment_secrets

if TYPE_CHECKING:
    from sidecar.fleet.tokens import TokenCopies
    from sidecar.journal.postgres.journal import PostgresJournal


class Stores(NamedTuple):
    #: What only this process uses; workers may share the data directory.
    private: Path
    journal: "SqliteJournal | PostgresJournal"
    #: The journal, if other processes use it too.
    shared: "PostgresJournal | None"
    repositories: Repositories
    trust: Trust
    approvals: StandingApprovals
    grants: Grants
    choices: ModelSettings
    keys: Keys
    #: By `git-HOST`.
    git_tokens: dict[str, str]

    def secrets(self, token: str) -> dict[str, str]:
        """Values to redact everywhere."""
        stored = {f"{name}-key": key for name in NAMES if (key := self.keys.find(name))}
        return {**environment_secrets(os.environ), **stored, "sidecar-token": token, **self.git_tokens}


async def open_stores(launch: Launch, settings: Settings, data: DataDir, private: Path) -> Stores:
    shared = await _open_database(settings) if settings.database_url else None
    journal = shared or await SqliteJournal.open(data.journal, _retention(settings))
    repositories = Repositories(data.path)
    choices = ModelSettings(settings, config_file(), os.environ)
    return Stores(
        private=private,
        journal=journal,
        shared=shared,
        repositories=repositories,
        trust=Trust(data, repositories),
        approvals=StandingApprovals(data),
        grants=Grants(data.path, repositories),
        choices=choices,
        keys=Keys(os.environ, launch.data_dir, choices.served_at),
        git_tokens=_git_tokens(os.environ.get("BRAIN_GIT_TOKENS", "")),
    )


def _retention(settings: Settings) -> Retention:
    return Retention(settings.keep_days, settings.keep_bytes, settings.keep_undo_bytes)


async def _open_database(settings: Settings) -> "PostgresJournal":
    from sidecar.journal.postgres.journal import PostgresJournal

    return await PostgresJournal.open(settings.database_url, _retention(settings))


def _git_tokens(text: str) -> dict[str, str]:
    """By `git-HOST`, from `host=TOKEN,other=TOKEN`."""
    pairs = (entry.partition("=") for entry in split(text))
    return {f"git-{host.strip().lower()}": token.strip() for host, _, token in pairs if token.strip()}


def open_tokens(stores: Stores, data: DataDir) -> "tuple[KnownTokens, TokenCopies | None]":
    """A fleet has them in its database; a node that serves copies them from there all the time."""
    if stores.shared is None:
        return Tokens(data.path), None
    from sidecar.fleet.tokens import TokenCopies

    copies = TokenCopies(stores.shared)
    return copies, copies
