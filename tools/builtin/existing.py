"""The file that a change starts from."""

from tools.errors import FileMissing, NotAFile, TooLarge
from tools.host import Host

#: What is changed is kept in full for undo, so it has a limit.
LIMIT = 32 * 1024 * 1024


async def existing(host: Host, path: str) -> bytes | None:
    try:
        info, content = await host.whole(path, LIMIT)
    except FileMissing:
        return None
    if info.kind == "directory":
        advice = "Name a file; use run_command for whole directories."
        raise NotAFile(f"{path} is a directory.", advice=advice)
    if info.kind != "file":
        raise NotAFile(f"{path} is not a regular file but a pipe, socket or device.", advice="It cannot be edited.")
    if content is None:
        why = f"{path} has {info.size} bytes, more than the {LIMIT} that can be edited."
        raise TooLarge(why, advice="Use run_command.")
    return content


async def required(host: Host, path: str) -> bytes:
    content = await existing(host, path)
    if content is None:
        advice = "Look with find_files, or make it with create_file."
        raise FileMissing(f"{path} does not exist.", advice=advice)
    return content
