"""Sections of a Markdown file that are kept up to date between two marks; everything else is its author's."""

import re


def mark(name: str) -> tuple[str, str]:
    return f"<!-- brain:{name} -->", f"<!-- /brain:{name} -->"


def has_own(text: str, heading: str) -> bool:
    """Whether the author has written a section of that heading, outside of any marks."""
    outside = re.sub(r"<!-- brain:([\w-]+) -->.*?<!-- /brain:\1 -->", "", text, flags=re.DOTALL)
    return re.search(rf"^#+\s+{re.escape(heading)}\s*$", outside, re.MULTILINE | re.IGNORECASE) is not None


def with_section(text: str, name: str, content: str) -> str:
    """The text with that section refreshed where its marks stand, or added at the end."""
    begin, end = mark(name)
    block = f"{begin}\n{content.strip()}\n{end}"
    pattern = re.compile(rf"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if pattern.search(text):
        return pattern.sub(lambda _: block, text, count=1)
    return f"{text.rstrip()}\n\n{block}\n" if text.strip() else f"{block}\n"


def below_title(text: str, name: str, content: str) -> str:
    """As `with_section`, but a new one stands right below the title and its words: before the first section."""
    begin, _ = mark(name)
    first = re.search(r"^## ", text, re.MULTILINE)
    if begin in text or first is None:
        return with_section(text, name, content)
    block = with_section("", name, content)
    return f"{text[: first.start()]}{block}\n{text[first.start() :]}"
