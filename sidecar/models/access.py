"""Where a provider is, and with which key."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Access:
    provider: str
    #: Never shown: not in a log, not in a traceback.
    key: str | None = field(repr=False)
    base_url: str | None
    #: Until the next bytes; what a reply as a whole may take is counted elsewhere.
    timeout: float = 600.0
    connect_timeout: float = 10.0
