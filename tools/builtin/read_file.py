import asyncio
import base64
import posixpath
import re
from typing import Annotated

from pydantic import Field

from sidecar.wire.text import plural
from tools.code.files import find_near
from tools.errors import BinaryFile, FileMissing, InvalidArguments, NotAFile, TooLarge
from tools.host import Host
from tools.ledger import digest
from tools.parsed import parse_json
from tools.secret_files import KEY_LINE, key_lines
from tools.spec import Arguments, Call, Output, ResultSource, ToolResult, ToolSpec
from tools.text_files import TextFile, is_binary

#: A file up to this size is read as a whole; from a larger one, only the requested lines.
WHOLE = 10 * 1024 * 1024
_SCAN = 128 * 1024 * 1024
_LINES = 2_000
_LINE = 2_000
_CELL_OUTPUT = 2_000
_IMAGE = 4 * 1024 * 1024
_IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}

Line = Annotated[int, Field(ge=1)]


class ReadFileArguments(Arguments):
    path: str
    start_line: Line | None = None
    end_line: Line | None = None


class ReadFile:
    spec = ToolSpec(
        name="read_file",
        description=(
            "Read a file with line numbers. startLine and endLine (from 1, inclusive) select a part; without them you "
            f"get at most {_LINES} lines. Images are attached, notebooks are shown cell by cell."
        ),
        arguments=ReadFileArguments,
        brief=f"Read a file or a range of its lines (from 1), at most {_LINES} at once.",
        executor="hybrid",
        retryable=True,
        cache="files",
    )

    async def run(self, args: ReadFileArguments, host: Host, call: Call, output: Output) -> ToolResult:
        try:
            return await read_path(host, args.path, args.start_line, args.end_line)
        except FileMissing as error:
            if near := await find_near(args.path, host, call):
                raise FileMissing(error.message, advice=f"Did you mean {' or '.join(near)}?") from error
            raise


async def read_path(host: Host, path: str, start: int | None, end: int | None) -> ToolResult:
    if start is not None and end is not None and end < start:
        raise InvalidArguments(f"endLine {end} is before startLine {start}. Lines count from 1, inclusive.")
    info, content = await host.whole(path, WHOLE)
    if info.kind == "directory":
        raise NotAFile(f"{path} is a directory.", advice="Use list_dir for its entries.")
    if info.kind != "file":
        raise NotAFile(f"{path} is a pipe, socket or device and can't be read.")
    if content is None:
        return await _large(host, path, info.size, start or 1, end)
    source = (ResultSource(info, content),)
    suffix = posixpath.splitext(path)[1].lower()
    if suffix in _IMAGES:
        return _image(path, content, _IMAGES[suffix], source)
    if suffix == ".ipynb" and start is None and end is None and (shown := _notebook(path, content)) is not None:
        return ToolResult(shown, {"path": path, "hash": digest(content)}, f"notebook {path}", sources=source)
    lines = _lines(TextFile.decode(content, path).text)
    total = len(lines)
    first = start or 1
    if first > max(total, 1):
        raise InvalidArguments(f"{path} has {plural(total, 'line')}; startLine {first} is past its end.")
    last = min(end or total, total, first + _LINES - 1)
    if first > 1 and b"PRIVATE KEY" in content:
        inside = key_lines(lines)
        lines = [KEY_LINE if number in inside else line for number, line in enumerate(lines, 1)]
    shown = _numbered(lines[first - 1 : last], first)
    if last < min(end or total, total):
        shown += f"\n… {plural(total - last, 'more line')}; continue with startLine {last + 1}"
    return ToolResult(
        content=shown or "(empty)",
        details={"path": path, "hash": digest(content), "startLine": first, "endLine": last, "totalLines": total},
        summary=f"{path} lines {first}–{last} of {total}" if total else f"{path} (empty)",
        sources=source,
    )


async def _large(host: Host, path: str, size: int, start: int, end: int | None) -> ToolResult:
    """Find the requested lines by reading from the beginning, within a limit."""
    last = min(end or start + _LINES - 1, start + _LINES - 1)
    number, offset, kept, rest = 1, 0, [], b""
    while number <= last and offset < min(size, _SCAN):
        chunk = await host.read(path, 1 << 20, offset)
        if not chunk:
            break
        if offset == 0 and is_binary(chunk):
            raise BinaryFile(f"{path} is a binary file ({size} bytes) and can't be shown.")
        length = len(chunk)
        chunk, nul, _ = chunk.partition(b"\0")
        offset = size if nul else offset + length  # after a NUL comes no more text
        await asyncio.sleep(0)  # let other tasks run
        count = chunk.count(b"\n")
        if number + count < start:
            number += count
            rest = chunk[chunk.rfind(b"\n") + 1 :] if count else rest[: _LINE * 4] + chunk[: _LINE * 4]
            continue
        pieces = (rest + chunk).split(b"\n")
        rest = pieces.pop()[: _LINE * 4]
        for piece in pieces:
            if start <= number <= last:
                kept.append(piece)
            number += 1
    if number <= last and rest and number >= start:
        kept.append(rest)
    if not kept:
        raise TooLarge(
            f"{path} has {size} bytes, and line {start} was not found in the first {offset}.",
            advice="Use search_code, or run_command with sed -n or tail.",
        )
    text = _numbered([piece.decode("utf-8", "replace").rstrip("\r") for piece in kept], start)
    end_line = start + len(kept) - 1
    return ToolResult(
        content=f"{text}\n… {path} has {size} bytes; continue with startLine {end_line + 1}",
        details={"path": path, "startLine": start, "endLine": end_line, "size": size},
        summary=f"{path} lines {start}–{end_line} of a large file",
    )


def _image(path: str, content: bytes, media_type: str, source: tuple[ResultSource, ...]) -> ToolResult:
    if len(content) > _IMAGE:
        raise TooLarge(f"{path} is an image of {len(content)} bytes, more than the limit of {_IMAGE} for attachments.")
    data = base64.b64encode(content).decode("ascii")
    return ToolResult(
        content=f"{path} is an image ({media_type}, {len(content)} bytes); it is attached.",
        details={"path": path, "attachments": [{"name": path, "mediaType": media_type, "data": data}]},
        summary=f"image {path}",
        sources=source,
    )


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def strip_line_numbers(content: str) -> str:
    """The text of a result of this tool: the inverse of the numbering."""
    return re.sub(r"^ *\d+ ", "", content, flags=re.MULTILINE)


def _numbered(lines: list[str], first: int) -> str:
    row = f"%{len(str(first + len(lines)))}d %.{_LINE}s"
    return "\n".join([row % pair for pair in enumerate(lines, first)])


def _notebook(path: str, content: bytes) -> str | None:
    """The cells in order; `None` if it isn't a notebook after all."""
    try:
        notebook = parse_json(content)
        found = notebook["cells"]
        parts = [f"{path}: {len(found)} cells"]
        for number, cell in enumerate(found, 1):
            parts.append(f"── cell {number} ({cell['cell_type']})")
            parts.append("".join(cell.get("source", "")).rstrip("\n"))
            for output in cell.get("outputs", ()):
                if text := _cell_output(output):
                    parts.append(f"→ {text[:_CELL_OUTPUT]}")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return "\n".join(parts)


def _cell_output(output: dict[str, object]) -> str:
    if "text" in output:
        return "".join(output["text"]).rstrip("\n")  # type: ignore[arg-type]
    data = output.get("data")
    if isinstance(data, dict):
        return "".join(data.get("text/plain", "")).rstrip("\n")
    return str(output.get("evalue", ""))
