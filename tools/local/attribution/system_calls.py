"""The system calls that change files by name, with the places of their arguments, for each architecture."""

from typing import Literal, NamedTuple

Kind = Literal["open", "openat2", "create", "rename", "remove", "link", "change", "fchmod"]

#: Of `open`: write only, read and write, create, truncate.
WRITING = 0o1 | 0o2 | 0o100 | 0o1000
EXCLUSIVE = 0o200
NO_FOLLOW = {0xC000003E: 0o400000, 0x40000003: 0o400000, 0xC00000B7: 0o100000}
AT_REMOVEDIR = 0x200
AT_SYMLINK_NOFOLLOW = 0x100
_HERE = -1


class SystemCall(NamedTuple):
    """`paths` are pairs of argument places: the directory's handle, -1 for the current one, and the name."""

    kind: Kind
    paths: tuple[tuple[int, int], ...]
    flags: int = -1


_OPEN = SystemCall("open", ((_HERE, 0),), 1)
_OPENAT = SystemCall("open", ((0, 1),), 2)
_OPENAT2 = SystemCall("openat2", ((0, 1),))
_CREAT = SystemCall("create", ((_HERE, 0),))
_RENAME = SystemCall("rename", ((_HERE, 0), (_HERE, 1)))
_RENAMEAT = SystemCall("rename", ((0, 1), (2, 3)))
_RENAMEAT2 = SystemCall("rename", ((0, 1), (2, 3)), 4)
_UNLINK = SystemCall("remove", ((_HERE, 0),))
_UNLINKAT = SystemCall("remove", ((0, 1),), 2)
_LINK = SystemCall("link", ((_HERE, 1),))
_LINKAT = SystemCall("link", ((2, 3),))
_SYMLINKAT = SystemCall("link", ((1, 2),))
_MKNOD = SystemCall("link", ((_HERE, 0),))
_MKNODAT = SystemCall("link", ((0, 1),))
_CHANGE = SystemCall("change", ((_HERE, 0),))
_CHANGEAT = SystemCall("change", ((0, 1),))
_CHANGEAT2 = SystemCall("change", ((0, 1),), 3)
_FCHMOD = SystemCall("fchmod", ())

X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003

#: By architecture and number, the frequent ones first.
SYSTEM_CALLS: dict[int, dict[int, SystemCall]] = {
    X86_64: {
        257: _OPENAT,
        2: _OPEN,
        437: _OPENAT2,
        85: _CREAT,
        82: _RENAME,
        264: _RENAMEAT,
        316: _RENAMEAT2,
        87: _UNLINK,
        263: _UNLINKAT,
        86: _LINK,
        265: _LINKAT,
        88: _LINK,
        266: _SYMLINKAT,
        133: _MKNOD,
        259: _MKNODAT,
        76: _CHANGE,
        90: _CHANGE,
        268: _CHANGEAT,
        452: _CHANGEAT2,
        91: _FCHMOD,
    },
    AARCH64: {
        56: _OPENAT,
        437: _OPENAT2,
        38: _RENAMEAT,
        276: _RENAMEAT2,
        35: _UNLINKAT,
        37: _LINKAT,
        36: _SYMLINKAT,
        33: _MKNODAT,
        45: _CHANGE,
        53: _CHANGEAT,
        452: _CHANGEAT2,
        52: _FCHMOD,
    },
    I386: {
        295: _OPENAT,
        5: _OPEN,
        437: _OPENAT2,
        8: _CREAT,
        38: _RENAME,
        302: _RENAMEAT,
        353: _RENAMEAT2,
        10: _UNLINK,
        301: _UNLINKAT,
        9: _LINK,
        303: _LINKAT,
        83: _LINK,
        304: _SYMLINKAT,
        14: _MKNOD,
        297: _MKNODAT,
        92: _CHANGE,
        193: _CHANGE,
        15: _CHANGE,
        306: _CHANGEAT,
        452: _CHANGEAT2,
        94: _FCHMOD,
    },
}
#: By machine: the architectures whose programs it runs, its own first.
MACHINES = {"x86_64": (X86_64, I386), "aarch64": (AARCH64,)}
