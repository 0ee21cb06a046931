"""Opening the panel: the code in the URL works once, for a minute, and is no token."""

from sidecar.commands.client import Client


def panel_url(client: Client) -> str:
    code = client.post("/api/brain/session/code")["code"]
    return f"{client.url}/#code={code}"


def open_browser(url: str) -> bool:
    """Whether a browser was found. Its own chatter must not reach our output."""
    import webbrowser

    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
