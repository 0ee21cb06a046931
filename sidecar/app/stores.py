"""What a sidecar keeps: the journal, memory, your decisions and keys; local, or in the database of a fleet."""

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.api.identity import KnownTokens
from sidecar.app.launch import Launch
from sidecar.cache import Caches
from sidecar.cache.watcher import Watcher
from sidecar.config.approvals import StandingApprovals
from sidecar.config.data_dir import DataDir
from sidecar.config.grants import Grants
from sidecar.config.keys import NAMES, Keys
from sidecar.config.paths import config_file
from sidecar.config.repositories import Repositories
from sidecar.config.settings import ModelSettings, Settings
from sidecar.config.tokens import Tokens
from sidecar.config.trust import Trust
from sidecar.journal.port import Journal, Retention
from sidecar.journal.sqlite import SqliteJournal
from sidecar.memory.local import LocalMemory
from sidecar.memory.notes import Notes
from sidecar.memory.past import Past
from sidecar.memory.skills import Skills
from sidecar.telemetry.redaction import environment_secrets

if TYPE_CHECKING:
    from sidecar.fleet.tokens import TokenCopies
    from sidecar.journal.postgres.journal import PostgresJournal

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stores:
    #: What only this process uses; workers may share the data directory.
    private: Path
    journal: Journal
    #: The journal, if other processes use it too.
    shared: "PostgresJournal | None"
    caches: Caches
    memory: LocalMemory
    notes: Notes
    past: Past
    repositories: Repositories
    trust: Trust
    skills: Skills
    approvals: StandingApprovals
    grants: Grants
    choices: ModelSettings
    keys: Keys

    def secrets(self, token: str) -> dict[str, str]:
        """Values to redact everywhere."""
        stored = {f"{name}-key": key for name in NAMES if (key := self.keys.find(name))}
        return {**environment_secrets(os.environ), **stored, "sidecar-token": token}


async def open_stores(launch: Launch, settings: Settings, data: DataDir, private: Path) -> Stores:
    shared = await _open_database(launch, settings) if settings.database_url else None
    journal: Journal = shared or await SqliteJournal.open(data.journal, _retention(settings))
    caches = Caches()
    repositories = Repositories(data.path)
    notes = _open_notes(launch, settings, repositories)
    trust = Trust(data, repositories)
    choices = ModelSettings(settings, config_file(), os.environ)
    return Stores(
        private=private,
        journal=journal,
        shared=shared,
        caches=caches,
        memory=_open_memory(settings, private, caches.watcher),
        notes=notes,
        past=Past(journal, notes),
        repositories=repositories,
        trust=trust,
        skills=Skills(config_file().parent, trust.trusted),
        approvals=StandingApprovals(data),
        grants=Grants(data.path, repositories),
        choices=choices,
        keys=Keys(os.environ, launch.data_dir, choices.served_at),
    )


def _retention(settings: Settings) -> Retention:
    return Retention(settings.keep_days, settings.keep_bytes, settings.keep_undo_bytes)


async def _open_database(launch: Launch, settings: Settings) -> "PostgresJournal":
    from sidecar.journal.postgres.journal import PostgresJournal

    pools = None if launch.pool is None else [launch.pool]
    return await PostgresJournal.open(settings.database_url, _retention(settings), pools=pools, claims_expired=False)


def _open_memory(settings: Settings, private: Path, watcher: Watcher) -> LocalMemory:
    if settings.memory == "r2r":
        from sidecar.memory.r2r import R2RMemory
        from sidecar.memory.r2r_client import R2RClient, R2RError

        try:
            client = R2RClient(settings.r2r_url, os.environ.get("R2R_API_KEY", ""))
            return R2RMemory(client, private, settings.sandbox, watcher.subscribe)
        except R2RError as error:
            log.warning("Only the local index answers: %s", error)
    return LocalMemory(private, settings.sandbox, watcher.subscribe)


def _open_notes(launch: Launch, settings: Settings, repositories: Repositories) -> Notes:
    if not settings.database_url:
        return Notes(launch.data_dir, repositories.home)
    from sidecar.memory.shared_notes import SharedNotes

    return SharedNotes(settings.database_url, place=repositories.home)


def open_tokens(stores: Stores, data: DataDir) -> "tuple[KnownTokens, TokenCopies | None]":
    """A fleet has them in its database; a node that serves copies them from there all the time."""
    if stores.shared is None:
        return Tokens(data.path), None
    from sidecar.fleet.tokens import TokenCopies

    copies = TokenCopies(stores.shared)
    return copies, copies
