"""How a message to a person spells counts and lists. It is here because every room words messages."""

from collections.abc import Sequence


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 file`, `2 files`; `many` is an irregular plural."""
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


def listed(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def bulleted(lines: Sequence[str], most: int) -> list[str]:
    """A list in Markdown; its last line counts those that are left out."""
    more = [f"- … {len(lines) - most} more"] if len(lines) > most else []
    return [*(f"- {line}" for line in lines[:most]), *more]
