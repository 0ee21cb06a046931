"""Text of models and tools inside Markdown that others read: it notifies nobody, closes nothing and hides nothing."""

import re

_MENTION = re.compile(r"(?<![\w`/])@(?=[A-Za-z0-9])")
_REFERENCE = re.compile(r"(?<!&)#(?=\d)")
#: `Closes https://…/issues/3` and `fixes GH-3` close that issue when they are merged.
_CLOSING = re.compile(r"(?i)\b(clos|fix|resolv)(?=(?:e|es|ed)?:?\s+(?:https?://|gh-\d))")
_TICKS = re.compile(r"`+")
#: Invisible; it keeps GitHub and Linear from reading what follows as a name or number.
_BREAK = "\u200b"


def plain(text: str) -> str:
    """Mentions, references to issues and HTML comments lose their effect; the rest keeps its form."""
    text = _CLOSING.sub(rf"\1{_BREAK}", text.replace("<!--", "&lt;!--"))
    return _REFERENCE.sub(f"#{_BREAK}", _MENTION.sub(f"@{_BREAK}", text))


def code(text: str) -> str:
    """One line as code, whatever backticks it holds."""
    line = " ".join(text.split())[:300]
    if not line:
        return ""
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def cell(text: str) -> str:
    """Inside a table."""
    return code(text).replace("|", "\\|")
