"""The two parts of uvicorn that are used, without its command line.

`import uvicorn` also loads click and multiprocessing, for a command that is not run here: 10 ms of a start of 300.
"""

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING or "uvicorn" in sys.modules:
    from uvicorn.config import Config as Config
    from uvicorn.server import Server as Server
else:
    found = find_spec("uvicorn")
    package = sys.modules["uvicorn"] = ModuleType("uvicorn")
    package.__path__ = found.submodule_search_locations
    try:
        from uvicorn.config import Config as Config
        from uvicorn.server import Server as Server
    finally:
        # Whoever imports uvicorn itself later gets all of it.
        del sys.modules["uvicorn"]
