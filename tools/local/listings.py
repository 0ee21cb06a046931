"""The names in a workspace's directories, kept for as long as a directory is what it was when it was read."""

from collections import OrderedDict

from sidecar.cache import Stamp
from tools.local.door import Door
from tools.local.files import entries
from tools.local.names import shown

_DIRECTORIES = 64


class Listings:
    def __init__(self, door: Door) -> None:
        self._door = door
        self._held: OrderedDict[str, tuple[Stamp, list[str]]] = OrderedDict()

    def names(self, path: str) -> list[str]:
        """In order, those of directories with a `/` at the end. Whoever gets the list does not change it."""
        with entries(self._door, path) as (handle, found):
            stamp = Stamp.at(handle)
            steady = stamp.steady()
            held = self._held.get(path)
            if held is not None and held[0] == stamp:
                return held[1]
            names = [f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in found]
        listed = sorted(map(shown, names))
        if steady:
            self._held[path] = stamp, listed
            while len(self._held) > _DIRECTORIES:
                self._held.popitem(last=False)
        return listed
