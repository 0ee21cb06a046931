"""Text in a file and back again, so that what was not edited keeps its bytes: encoding, BOM, line endings."""

import codecs
from typing import NamedTuple

from tools.errors import BinaryFile, ToolError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOK = 8_192


class TextFile(NamedTuple):
    """A file's text as it is, line endings included, and what it takes to write it back."""

    text: str
    encoding: str
    bom: bytes

    @classmethod
    def of(cls, content: bytes, path: str = "The file") -> "TextFile":
        for bom, encoding in _BOMS:
            if content.startswith(bom):
                try:
                    return cls(content[len(bom) :].decode(encoding), encoding, bom)
                except UnicodeDecodeError:
                    break
        if is_binary(content):
            raise BinaryFile(f"{path} is binary. It is not shown or edited as text.")
        try:
            return cls(content.decode("utf-8"), "utf-8", b"")
        except UnicodeDecodeError:
            # Each byte is a character there, so that every file comes back byte by byte.
            return cls(content.decode("latin-1"), "latin-1", b"")

    @property
    def newline(self) -> str:
        windows = self.text.count("\r\n")
        return "\r\n" if windows * 2 > self.text.count("\n") else "\n"

    def encoded(self, text: str, path: str) -> bytes:
        try:
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise ToolError(
                f"{path} is written in {self.encoding}, which has no {character!r}. Use characters that it has.",
                code="encoding",
            ) from error

    def rewritten(self, content: str, path: str) -> bytes:
        """A wholly new text for this file. A final newline that it had, it keeps."""
        text = content.replace("\r\n", "\n")
        if self.text.endswith("\n") and text and not text.endswith("\n"):
            text += "\n"
        return self.encoded(text.replace("\n", "\r\n") if self.newline == "\r\n" else text, path)


def new_text(content: str) -> bytes:
    return content.encode("utf-8")


def is_binary(content: bytes) -> bool:
    return b"\0" in content[:_LOOK]
