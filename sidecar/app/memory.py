"""What a sidecar knows: the index of the code, past tasks, notes and skills."""

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sidecar.app.launch import Launch
from sidecar.app.stores import Stores
from sidecar.cache.watcher import Watcher
from sidecar.config.paths import config_file
from sidecar.config.repositories import Repositories
from sidecar.config.settings import Settings
from sidecar.memory.local import LocalMemory
from sidecar.memory.notes import Notes
from sidecar.memory.past import Past
from sidecar.memory.skills import Skills

if TYPE_CHECKING:
    from sidecar.memory.shared_vectors import SharedVectors

log = logging.getLogger(__name__)


class Memories(NamedTuple):
    code: LocalMemory
    past: Past
    notes: Notes
    skills: Skills


def open_memories(launch: Launch, settings: Settings, stores: Stores, watcher: Watcher) -> Memories:
    notes = _open_notes(launch, settings, stores.repositories)
    return Memories(
        code=_open_code(settings, stores.private, watcher),
        past=Past(stores.journal, notes, _open_past_vectors(settings, stores)),
        notes=notes,
        skills=Skills(config_file().parent, stores.trust.trusted),
    )


def _open_code(settings: Settings, private: Path, watcher: Watcher) -> LocalMemory:
    if settings.memory == "r2r":
        from sidecar.memory.r2r import R2RMemory
        from sidecar.memory.r2r_client import R2RClient, R2RError

        try:
            client = R2RClient(settings.r2r_url, os.environ.get("R2R_API_KEY", ""))
            return R2RMemory(client, private, settings.sandbox, watcher.subscribe, vectors=settings.memory_vectors)
        except R2RError as error:
            log.warning("Only the local index answers: %s", error)
    return LocalMemory(private, settings.sandbox, watcher.subscribe, vectors=settings.memory_vectors)


def _open_past_vectors(settings: Settings, stores: Stores) -> "SharedVectors | None":
    """Of a fleet, whose past can be long; on one machine the words find enough."""
    if stores.shared is None or not settings.memory_vectors:
        return None
    from sidecar.memory.shared_vectors import SharedVectors

    return SharedVectors(stores.shared)


def _open_notes(launch: Launch, settings: Settings, repositories: Repositories) -> Notes:
    if not settings.database_url:
        return Notes(launch.data_dir, repositories.home)
    from sidecar.memory.shared_notes import SharedNotes

    return SharedNotes(settings.database_url, place=repositories.home)
