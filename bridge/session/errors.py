"""What a session refuses to its own side. What it refuses to the other side is an `error` frame.

BridgeError
├── DuplicateCall     a call with this id is open already
├── FrameTooLarge     it would not fit into a frame
├── TooManyCalls      the shell has as many open calls as it may have
└── TooManyShells     no further session can be kept
"""


class BridgeError(Exception):
    pass


class DuplicateCall(BridgeError):
    pass


class FrameTooLarge(BridgeError):
    pass


class TooManyCalls(BridgeError):
    pass


class TooManyShells(BridgeError):
    pass
