"""A file that is to be changed by its syntax: understood as a whole, or not touched."""

from tools.code.tree import Source, family_of, parsed
from tools.errors import BinaryFile, ToolError


def source_of(path: str, content: bytes) -> Source:
    if family_of(path) is None:
        raise ToolError(f"{path} is no Python, TypeScript or JavaScript file.", code="unknown_language")
    source = parsed(path, content)
    if source is None:
        raise BinaryFile(f"{path} is not UTF-8 text; nothing was changed.")
    if source.errors:
        raise ToolError(
            f"{path} has a syntax error at line {source.errors[0]}; it is left alone. Mend it first.",
            code="syntax_error",
        )
    return source
