"""The system calls that change files by name, with the places of their arguments, for each architecture."""

from typing import Literal, NamedTuple

Kind = Literal["open", "openat2", "create", "rename", "remove", "link", "hard link", "change", "fchmod"]

#: Of `open`: write only, read and write, create, truncate.
WRITING = 0o1 | 0o2 | 0o100 | 0o1000
EXCLUSIVE = 0o200
AT_REMOVEDIR = 0x200
AT_SYMLINK_NOFOLLOW = 0x100
_HERE = -1


class SystemCall(NamedTuple):
    """`paths` are pairs of argument places: the directory's handle, -1 for the current one, and the name."""

    kind: Kind
    paths: tuple[tuple[int, int], ...]
    flags: int = -1


X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003
NO_FOLLOW = {X86_64: 0o400000, I386: 0o400000, AARCH64: 0o100000}

#: Each call with its number on x86_64, aarch64 and i386, -1 where there is none. The frequent ones come first.
_TABLE: dict[str, tuple[SystemCall, int, int, int]] = {
    "openat": (SystemCall("open", ((0, 1),), 2), 257, 56, 295),
    "open": (SystemCall("open", ((_HERE, 0),), 1), 2, -1, 5),
    "openat2": (SystemCall("openat2", ((0, 1),)), 437, 437, 437),
    "creat": (SystemCall("create", ((_HERE, 0),)), 85, -1, 8),
    "rename": (SystemCall("rename", ((_HERE, 0), (_HERE, 1))), 82, -1, 38),
    "renameat": (SystemCall("rename", ((0, 1), (2, 3))), 264, 38, 302),
    "renameat2": (SystemCall("rename", ((0, 1), (2, 3)), 4), 316, 276, 353),
    "unlink": (SystemCall("remove", ((_HERE, 0),)), 87, -1, 10),
    "unlinkat": (SystemCall("remove", ((0, 1),), 2), 263, 35, 301),
    "link": (SystemCall("hard link", ((_HERE, 0), (_HERE, 1))), 86, -1, 9),
    "linkat": (SystemCall("hard link", ((0, 1), (2, 3))), 265, 37, 303),
    "symlink": (SystemCall("link", ((_HERE, 1),)), 88, -1, 83),
    "symlinkat": (SystemCall("link", ((1, 2),)), 266, 36, 304),
    "mknod": (SystemCall("link", ((_HERE, 0),)), 133, -1, 14),
    "mknodat": (SystemCall("link", ((0, 1),)), 259, 33, 297),
    "truncate": (SystemCall("change", ((_HERE, 0),)), 76, 45, 92),
    "truncate64": (SystemCall("change", ((_HERE, 0),)), -1, -1, 193),
    "chmod": (SystemCall("change", ((_HERE, 0),)), 90, -1, 15),
    "fchmodat": (SystemCall("change", ((0, 1),)), 268, 53, 306),
    "fchmodat2": (SystemCall("change", ((0, 1),), 3), 452, 452, 452),
    "fchmod": (SystemCall("fchmod", ()), 91, 52, 94),
}
SYSTEM_CALLS: dict[int, dict[int, SystemCall]] = {
    architecture: {numbers[place]: call for call, *numbers in _TABLE.values() if numbers[place] >= 0}
    for place, architecture in enumerate((X86_64, AARCH64, I386))
}
#: By machine: the architectures whose programs it runs, its own first.
MACHINES = {"x86_64": (X86_64, I386), "aarch64": (AARCH64,)}
