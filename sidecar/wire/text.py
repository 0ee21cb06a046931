"""How a message to a person spells a count. It is here because every room words messages."""


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 file`, `2 files`; `many` is an irregular plural."""
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"
