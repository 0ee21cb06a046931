"""Files: read for a change; text is decoded and encoded so that everything not edited keeps its bytes."""

import codecs
from typing import NamedTuple

from tools.errors import BinaryFile, FileMissing, NotADirectory, NotAFile, TooLarge, ToolError
from tools.host import Host

#: Undo stores changed files in full, so their size is limited.
LIMIT = 32 * 1024 * 1024

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 8_192


class TextFile(NamedTuple):
    """A file's text with its line endings, and what it takes to write it back."""

    text: str
    encoding: str
    bom: bytes

    @classmethod
    def decode(cls, content: bytes, path: str = "The file") -> "TextFile":
        for bom, encoding in _BOMS:
            if content.startswith(bom):
                try:
                    return cls(content[len(bom) :].decode(encoding), encoding, bom)
                except UnicodeDecodeError:
                    break
        if is_binary(content):
            raise BinaryFile(f"{path} is a binary file and can't be shown or edited as text.")
        try:
            return cls(content.decode("utf-8"), "utf-8", b"")
        except UnicodeDecodeError:
            # Latin-1 maps each byte to a character, so that every file round-trips.
            return cls(content.decode("latin-1"), "latin-1", b"")

    @property
    def newline(self) -> str:
        windows = self.text.count("\r\n")
        return "\r\n" if windows * 2 > self.text.count("\n") else "\n"

    def encode(self, text: str, path: str) -> bytes:
        try:
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise ToolError(
                f"{path} is encoded in {self.encoding}, which has no {character!r}.",
                advice="Use only characters of this encoding.",
                code="encoding",
            ) from error

    def rewrite(self, content: str, path: str) -> bytes:
        """Encode a new text for this file; it keeps the line endings and a final newline."""
        text = content.replace("\r\n", "\n")
        if self.text.endswith("\n") and text and not text.endswith("\n"):
            text += "\n"
        return self.encode(text.replace("\n", "\r\n") if self.newline == "\r\n" else text, path)


def encode_text(content: str) -> bytes:
    return content.encode("utf-8")


def is_binary(content: bytes) -> bool:
    return b"\0" in content[:_SAMPLE]


async def exists(host: Host, path: str) -> bool:
    try:
        await host.stat(path)
    except ToolError:
        return False
    return True


async def read_existing(host: Host, path: str) -> bytes | None:
    try:
        info, content = await host.whole(path, LIMIT)
    except FileMissing:
        return None
    if info.kind == "directory":
        advice = "Name a file; use run_command for whole directories."
        raise NotAFile(f"{path} is a directory.", advice=advice)
    if info.kind != "file":
        raise NotAFile(f"{path} is a pipe, socket or device and can't be edited.")
    if content is None:
        why = f"{path} has {info.size} bytes, more than the limit of {LIMIT} for edits."
        raise TooLarge(why, advice="Use run_command.")
    return content


async def read_required(host: Host, path: str) -> bytes:
    content = await read_existing(host, path)
    if content is None:
        advice = "Look for it with find_files, or create it with create_file."
        raise FileMissing(f"{path} does not exist.", advice=advice)
    return content


async def read_content(host: Host, path: str) -> bytes | None:
    """All of a file; `None` if there is none."""
    try:
        info = await host.stat(path)
        return await host.read(path, info.size + 1)
    except (FileMissing, NotADirectory):
        return None
