"""The file that a change starts from."""

from tools.errors import FileMissing, NotAFile, TooLarge
from tools.host import Host

#: What is changed is kept in full for undo, so it has a limit.
LIMIT = 32 * 1024 * 1024


async def existing(host: Host, path: str) -> bytes | None:
    try:
        info = await host.stat(path)
    except FileMissing:
        return None
    if info.kind == "directory":
        raise NotAFile(f"{path} is a directory. Name a file; use run_command for whole directories.")
    if info.size > LIMIT:
        raise TooLarge(f"{path} has {info.size} bytes, more than the {LIMIT} that can be edited. Use run_command.")
    return await host.read(path, LIMIT + 1)


async def required(host: Host, path: str) -> bytes:
    content = await existing(host, path)
    if content is None:
        raise FileMissing(f"{path} does not exist. Look with find_files, or make it with create_file.")
    return content
