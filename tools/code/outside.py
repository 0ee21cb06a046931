"""Members of classes outside the workspace, as far as Python's own library has them."""

import builtins
import importlib
import sys
from functools import lru_cache

#: Modules that do something when they are imported.
_ACTING = frozenset({"antigravity", "this", "idlelib", "turtledemo", "test", "lib2to3"})


@lru_cache(maxsize=1_000)
def has_member(path: str, name: str) -> bool | None:
    """Whether a class such as `threading.Thread` has a member; None if the class is not Python's own."""
    module, _, word = path.rpartition(".")
    top = module.partition(".")[0]
    if not module:
        found: object = getattr(builtins, word, None)
    elif top in sys.stdlib_module_names and top not in _ACTING:
        try:
            found = getattr(importlib.import_module(module), word, None)
        except Exception:  # a part of the library that is not on this machine
            return None
    else:
        return None
    return hasattr(found, name) if isinstance(found, type) else None
