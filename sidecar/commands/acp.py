"""`brain acp`: an agent for editors that speak the Agent Client Protocol, on standard input and output."""

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar import __version__
from sidecar.client.service import BrainService
from sidecar.commands.parser import data_dir
from sidecar.commands.shell import find_endpoint
from sidecar.config.data_dir import ShellDirectory

if TYPE_CHECKING:
    from sidecar.acp.buffers import AcpFiles, Share

#: How long a new session waits for its connection to the bridge; then it goes on without.
_CONNECT_SECONDS = 2.0


def acp(args: argparse.Namespace) -> int:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    place = data_dir(args)
    asyncio.run(_serve(lambda: BrainService.local(place), partial(_share_buffers, place)))
    return 0


@asynccontextmanager
async def _share_buffers(directory: Path, workspace: str, files: "AcpFiles") -> AsyncIterator[None]:
    """Connect to the bridge, so that tools read the editor's unsaved text; without it they read the disk."""
    # In a thread: the tools take a while to import, and the editor waits for an answer.
    await asyncio.to_thread(import_module, "bridge.shell.editor")
    from bridge.shell.editor import TOOLS, EditorCallRunner, editor_registry
    from bridge.shell.open_files import OpenFiles
    from bridge.shell.shell import ReferenceShell
    from sidecar.config.paths import config_file
    from sidecar.wire.bridge import ShellInfo

    info = ShellInfo(name=files.editor[:200], version=__version__)
    opened, own = OpenFiles(workspace, directory, files), ShellDirectory(directory)
    shell = ReferenceShell(
        Path(workspace),
        lambda: find_endpoint(directory),
        own.path,
        private=(directory, config_file().parent),
        registry=editor_registry(),
        tools=TOOLS,
        info=info,
    )
    shell.runner = calls = EditorCallRunner(shell.runner, opened, shell.buffers)
    try:
        async with shell:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CONNECT_SECONDS):
                    await shell.connected.wait()
            yield
    finally:
        calls.close()
        own.release()


async def _serve(connect: Callable[[], BrainService], share: "Share") -> None:
    from sidecar.acp.agent import AcpAgent
    from sidecar.acp.peer import MAX_LINE, EditorConnection

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    # A copy of the descriptor, because the transport closes its file.
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    )
    peer = EditorConnection(reader, asyncio.StreamWriter(transport, protocol, None, loop))
    agent = AcpAgent(peer, connect, share)
    try:
        await peer.serve(agent.handle)
    finally:
        agent.detach()
