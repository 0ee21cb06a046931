"""Opening the panel: the code in the URL works once, for a minute, and is no token."""

import os
import sys
from collections.abc import Mapping

from sidecar.commands.client import Client


def panel_url(client: Client) -> str:
    code = client.post("/api/brain/session/code")["code"]
    return f"{client.url}/#code={code}"


def open_browser(url: str) -> bool:
    """Whether one was opened."""
    if not has_desktop():
        return False
    import webbrowser

    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False


def has_desktop(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Without a desktop, as over ssh, a browser would be a text one, and would take this terminal."""
    if platform in ("win32", "darwin"):
        return True
    return any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"))
