"""The bridge protocol without I/O: no asyncio, no sockets, no clock. A session returns effects to carry out."""
