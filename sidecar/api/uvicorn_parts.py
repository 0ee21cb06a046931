"""The parts of uvicorn that are used, without its command line.

`import uvicorn` also loads click and multiprocessing, for a command that is not run here: 10 ms of a start of 300.
"""

import sys
from importlib import import_module
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

        # The server looks these up by name when it starts; found here, they do not bring the rest along.
        package.Config = Config
        for name in ("uvicorn.lifespan.off", "uvicorn.protocols.http.httptools_impl"):
            import_module(name)
    finally:
        # Whoever imports uvicorn itself later gets all of it.
        del sys.modules["uvicorn"]
