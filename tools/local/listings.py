"""The names in a workspace's directories, kept for as long as a directory is what it was when it was read."""

from collections import OrderedDict

from sidecar.cache import Stamp
from tools.local.files import entries
from tools.local.root import WorkspaceRoot, name_to_text

_DIRECTORIES = 64


class Listings:
    def __init__(self, root: WorkspaceRoot) -> None:
        self._root = root
        self._held: OrderedDict[str, tuple[Stamp, list[str]]] = OrderedDict()

    def names(self, path: str) -> list[str]:
        """In order, those of directories with a `/` at the end. Whoever gets the list does not change it."""
        with entries(self._root, path) as (handle, found):
            stamp = Stamp.at(handle)
            steady = stamp.steady()
            held = self._held.get(path)
            if held is not None and held[0] == stamp:
                return held[1]
            names = [f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in found]
        listed = sorted(map(name_to_text, names))
        if steady:
            self._held[path] = stamp, listed
            while len(self._held) > _DIRECTORIES:
                self._held.popitem(last=False)
        return listed
