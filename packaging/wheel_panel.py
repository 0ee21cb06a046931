"""Adds the built panel to the wheel. An editable install serves it from where it is built."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PanelHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        panel = Path(self.root) / "frontend" / "dist"
        if (panel / "index.html").is_file():
            build_data["force_include"][str(panel)] = "sidecar/api/dist"
        else:
            self.app.display_warning("This wheel has no panel: build it with `make panel` (frontend/dist is missing).")
