"""`brain acp`: an agent for editors that speak the Agent Client Protocol, on standard input and output."""

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Callable

from sidecar.client.service import BrainService
from sidecar.commands.parser import data_dir


def acp(args: argparse.Namespace) -> int:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    place = data_dir(args)
    asyncio.run(_serve(lambda: BrainService.local(place)))
    return 0


async def _serve(connect: Callable[[], BrainService]) -> None:
    from sidecar.acp.agent import AcpAgent
    from sidecar.acp.peer import MAX_LINE, EditorConnection

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    # Of its own, because the transport closes its file.
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    )
    peer = EditorConnection(reader, asyncio.StreamWriter(transport, protocol, None, loop))
    agent = AcpAgent(peer, connect)
    try:
        await peer.serve(agent.handle)
    finally:
        agent.detach()
