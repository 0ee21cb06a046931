"""Named tokens in the database: every node of a fleet knows them, and one that is removed works nowhere any more."""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

import psycopg

from sidecar.config.tokens import ROLES, NamedToken, TokenError, find_token, new_token
from sidecar.journal.errors import JournalError
from sidecar.journal.postgres.connection import LOST, SCHEMA, address, connect, shown
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.journal.postgres.schema import migrate

log = logging.getLogger(__name__)

REFRESH_SECONDS = 1.0
#: A node that knows nothing newer admits none: a token may have been removed since.
STALE_SECONDS = 60.0
_ALL = "SELECT name, role, hash, at FROM tokens ORDER BY at"
_ADD = (
    "INSERT INTO tokens (name, role, hash, at) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT (name) DO UPDATE SET role = excluded.role, hash = excluded.hash, at = excluded.at RETURNING name"
)
_REMOVE = "DELETE FROM tokens WHERE name = %s RETURNING name"


class TokenCopies:
    """What a node knows of the tokens, at most about a second old."""

    def __init__(self, journal: PostgresJournal) -> None:
        self._journal = journal
        self._known: dict[str, NamedToken] = {}
        self._at = 0.0

    def find(self, token: str) -> NamedToken | None:
        if time.monotonic() - self._at > STALE_SECONDS:
            return None
        return find_token(self._known, token)

    async def refresh(self) -> None:
        asked = time.monotonic()
        found = [NamedToken(*row) for row in await self._journal.query(_ALL)]
        self._known = {each.hash: each for each in found if each.role in ROLES}
        self._at = asked

    async def run(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            try:
                await self.refresh()
            except JournalError as error:
                log.debug("The tokens are not read again: %s", error)


class DatabaseTokens:
    """For the command line: each call has its own connection."""

    def __init__(self, url: str) -> None:
        self._url = url

    def all(self) -> list[NamedToken]:
        return [NamedToken(*row) for row in self._ask(_ALL)]

    def add(self, name: str, role: str) -> str:
        token, added = new_token(name, role, time.time())
        self._ask(_ADD, (added.name, added.role, added.hash, added.at))
        return token

    def remove(self, name: str) -> bool:
        return bool(self._ask(_REMOVE, (name,)))

    def _ask(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            return asyncio.run(_ask(self._url, query, values))
        except (psycopg.Error, *LOST) as error:
            raise TokenError(f"The database {shown(self._url)} doesn't answer ({error}). Nothing changed.") from error


async def _ask(url: str, query: str, values: Sequence[object]) -> list[Any]:
    connection = await connect(address(url, SCHEMA))
    try:
        await migrate(connection, SCHEMA)
        return await (await connection.execute(query, values)).fetchall()
    finally:
        await connection.close()
