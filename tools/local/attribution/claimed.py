"""A file that a command changes: how it was before, and the claimed changes that the watch has not yet reported."""

from dataclasses import dataclass, field

from tools.local.attribution.versions import Version
from tools.local.attribution.watch import FileEvent


@dataclass(slots=True)
class ClaimedFile:
    """A file that the command is about to change, or has changed."""

    before: Version
    #: After the command's last finished change, if that is known.
    latest: Version | None = None
    #: Claimed changes that the watch has not yet reported: the threads that opened it for writing, renames, removals.
    writers: list[int] = field(default_factory=list)
    arrivals: int = 0
    removals: int = 0
    #: Threads that still write a file which had this name before: what they write is not here.
    orphans: list[int] = field(default_factory=list)
    #: Threads that write the file which the command is about to rename to this name, and whether this one is it.
    arriving: list[int] = field(default_factory=list)
    leaving: bool = False
    #: Its closings that a look at its processes has shown, and that the watch may still report.
    closings: int = 0
    #: Openings by the command that the watch has not yet reported, and openings by others that have not ended.
    openings: int = 0
    strangers: int = 0
    #: Whether the command was the last to change it.
    owned: bool = True
    doubt: str = ""
    done: list[tuple[Version, Version]] = field(default_factory=list)

    @property
    def pending(self) -> bool:
        return bool(self.writers or self.arrivals or self.removals)

    def writers_left(self, event: FileEvent) -> None:
        """Another file has this name now, or none: those who wrote this one do so elsewhere."""
        if not self.leaving:
            self.orphans += self.writers
        self.writers, self.leaving, self.closings = [], False, 0
        if event.kind == "arrived":
            self.writers, self.arriving = self.arriving, []

    def repeats_closing(self, event: FileEvent) -> bool:
        """Whether it reports a closing by the command that is known."""
        repeats = event.kind == "closed" and not self.writers and self.closings > 0
        self.closings -= repeats
        return repeats

    def count_opening(self, event: FileEvent) -> None:
        if event.kind == "read":
            self.strangers = max(0, self.strangers - 1)
        elif self.openings:
            self.openings -= 1
        else:
            self.strangers += 1
