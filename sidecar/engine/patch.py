"""Writes a file's change as Git does, so that `git apply` takes it: any name, mode, link, rename and content."""

import os
import zlib
from base64 import b85encode
from collections.abc import Sequence
from hashlib import sha1

from sidecar.engine.merge import File
from tools.local.root import text_to_name

_NO_BLOB = "0" * 40
_LITERAL_LINE = 52
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def git_patch(
    path: str, before: File | None, after: File | None, hunks: Sequence[str] | None, renamed_from: str | None = None
) -> str:
    """`hunks` are those of a text, in patch format; `None` for a binary content."""
    old, new = f"a/{renamed_from or path}", f"b/{path}"
    lines = [f"diff --git {_quoted(old)} {_quoted(new)}", *_modes(before, after)]
    if renamed_from is not None:
        lines += [
            f"similarity index {100 if before and after and before.content == after.content else 50}%",
            f"rename from {_quoted(renamed_from)}",
            f"rename to {_quoted(path)}",
        ]
    head = "".join(f"{line}\n" for line in lines)
    if before is not None and after is not None and before.content == after.content:
        return head if len(lines) > 1 else ""  # Git takes no change of other modes
    if hunks is None:
        return f"{head}index {_blob(before)}..{_blob(after)}\nGIT binary patch\n{_literal(after)}\n{_literal(before)}\n"
    if not hunks:
        return head  # an empty file that comes or goes
    source = "/dev/null" if before is None else _marked(old)
    target = "/dev/null" if after is None else _marked(new)
    return f"{head}--- {source}\n+++ {target}\n" + "".join(hunks)


def _modes(before: File | None, after: File | None) -> list[str]:
    if before is None or after is None:
        file = after if before is None else before
        return [f"{'new' if before is None else 'deleted'} file mode {_mode(file)}"]
    if before.mode is None or after.mode is None or _mode(before) == _mode(after):
        return []
    return [f"old mode {_mode(before)}", f"new mode {_mode(after)}"]


def _mode(file: File | None) -> str:
    if file is None or file.mode is None:
        return "100644"
    return "120000" if file.linked else "100755" if file.mode & 0o100 else "100644"


def _blob(file: File | None) -> str:
    """The name by which Git knows a content."""
    if file is None:
        return _NO_BLOB
    return sha1(b"blob %d\0" % len(file.content) + file.content, usedforsecurity=False).hexdigest()


def _literal(file: File | None) -> str:
    """A content as Git's binary patches hold it: compressed, 52 bytes a line, each line led by its length."""
    content = b"" if file is None else file.content
    packed = zlib.compress(content)
    lines = [f"literal {len(content)}"]
    for place in range(0, len(packed), _LITERAL_LINE):
        part = packed[place : place + _LITERAL_LINE]
        length = chr(ord("A") + len(part) - 1) if len(part) <= 26 else chr(ord("a") + len(part) - 27)
        lines.append(length + b85encode(part, pad=True).decode())
    return "".join(f"{line}\n" for line in lines)


def _marked(name: str) -> str:
    """A name in a `---` or `+++` line: a tab ends one that holds a blank."""
    quoted = _quoted(name)
    return f"{quoted}\t" if " " in quoted and not quoted.startswith('"') else quoted


def _quoted(name: str) -> str:
    """As Git writes a name: in quotation marks, with octal bytes, if anything in it is unusual."""
    raw = os.fsencode(text_to_name(name))
    if all(0x20 <= byte < 0x7F and byte not in (34, 92) for byte in raw):
        return raw.decode()
    return '"' + "".join(_byte(byte) for byte in raw) + '"'


def _byte(byte: int) -> str:
    if byte in _ESCAPES:
        return f"\\{_ESCAPES[byte]}"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
