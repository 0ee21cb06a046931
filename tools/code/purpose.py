"""What a file says that it is for."""

from tools.code.definitions import doc_of, uncommented
from tools.code.source import PYTHON, Source, text


def purpose_of(source: Source) -> str:
    """The module's docstring, or the comment that it begins with, if that is not the first function's."""
    if source.kind in PYTHON:
        return doc_of(source.root)
    comments: list[str] = []
    end = -1
    for child in source.root.children:
        if "comment" not in child.type:
            # A comment that touches what follows it belongs to that.
            return "" if child.start_point[0] - end <= 1 and end >= 0 else uncommented("\n".join(comments))
        if text(child).startswith("#!") or "eslint" in text(child) or "@ts-" in text(child):
            continue
        comments.append(text(child))
        end = child.end_point[0]
    return uncommented("\n".join(comments))
