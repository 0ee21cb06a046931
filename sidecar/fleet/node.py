"""This process as a member of a fleet: it beats, gets tasks, may lead, and hears what other processes write."""

from collections.abc import Callable

from sidecar.engine.engine import Engine
from sidecar.fleet.bus import Bus
from sidecar.fleet.dispatch import Dispatcher
from sidecar.fleet.leader import Duty, Leader
from sidecar.fleet.membership import Member, Membership
from sidecar.journal.postgres.journal import PostgresJournal


class Node:
    """`stop` ends the process."""

    def __init__(
        self,
        journal: PostgresJournal,
        engine: Engine,
        member: Member,
        redis_url: str,
        stop: Callable[[], None],
        duties: tuple[Duty, ...] = (),
    ) -> None:
        self._journal = journal
        self._engine = engine
        duties += (Bus(journal, redis_url).run,) if redis_url else ()
        self._dispatcher = Dispatcher(journal.conninfo, engine, member.pool, member.slots)
        self._membership = Membership(journal, self._dispatcher, member, lambda: engine.running, engine.drain, stop)
        self._leader = Leader(journal, member.id, duties)

    async def start(self) -> None:
        self._journal.on_written_elsewhere = self._engine.look
        await self._dispatcher.start()
        await self._membership.start()
        self._leader.start()

    def drain(self) -> None:
        self._membership.drain()

    async def close(self) -> None:
        """From now on no task is claimed here. Those that run keep their leases until the engine stops."""
        # A claim that waits for the database would hold up the dispatcher.
        self._journal.fail_fast()
        await self._leader.close()
        await self._dispatcher.close()
        await self._membership.close()
