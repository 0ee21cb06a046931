"""The bridge protocol without I/O: no asyncio, no sockets, no clock. What must be done comes back as effects."""

from bridge.session.effects import Effect, Notified, Run, Send, Settled, ShellEffect, Stop, Streamed, Welcomed
from bridge.session.errors import BridgeError, DuplicateCall, FrameTooLarge, TooManyCalls, TooManyShells
from bridge.session.frames import Bad, read_shell_frame, read_sidecar_frame
from bridge.session.sessions import Sessions
from bridge.session.shell import ShellSession
from bridge.session.sidecar import SidecarSession

__all__ = [
    "Bad",
    "BridgeError",
    "DuplicateCall",
    "Effect",
    "FrameTooLarge",
    "Notified",
    "Run",
    "Send",
    "Sessions",
    "Settled",
    "ShellEffect",
    "ShellSession",
    "SidecarSession",
    "Stop",
    "Streamed",
    "TooManyCalls",
    "TooManyShells",
    "Welcomed",
    "read_shell_frame",
    "read_sidecar_frame",
]
