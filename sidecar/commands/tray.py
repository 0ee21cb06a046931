"""The tray icon of `brain desktop`: what the tasks do, and a menu. Only Qt's, where Qt also draws the window.

Elsewhere there is none: another toolkit would need the main thread too, which the window has.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from sidecar.client.client import Client
from sidecar.client.errors import ClientError
from sidecar.wire.text import plural

_COLORS = {"idle": "#6b7280", "running": "#2563eb", "needs you": "#d97706"}
_SIZE = 64
#: How long to wait for the toolkit's thread.
_READY_SECONDS = 10.0
_RETRY_SECONDS = 2.0


class TrayState(NamedTuple):
    """`kind` is a key of the colors."""

    kind: str
    text: str

    @classmethod
    def of(cls, tasks: Mapping[str, int]) -> "TrayState":
        """From the number of tasks by status."""
        running, waiting = tasks.get("running", 0) + tasks.get("queued", 0), tasks.get("waiting", 0)
        if waiting:
            return cls("needs you", f"{plural(waiting, 'task')} {'needs' if waiting == 1 else 'need'} you")
        return cls("running", f"{plural(running, 'task')} running") if running else cls("idle", "No task is running")


class TrayMenu(NamedTuple):
    """What the entries do; each runs in a thread of its own."""

    open: Callable[[], object]
    new_task: Callable[[], object]
    quit: Callable[[], object]


class Tray(Protocol):
    def show(self, state: TrayState) -> None: ...


def open_tray(menu: TrayMenu, title: str) -> tuple[Tray | None, str]:
    """The tray, once the window's toolkit runs, and why there is none."""
    try:
        core, widgets = import_module("qtpy.QtCore"), import_module("qtpy.QtWidgets")
    except Exception as error:  # qtpy has errors of its own
        return None, f"the window doesn't use Qt ({error})"
    application = widgets.QApplication.instance()
    if application is None:
        return None, "the window doesn't use Qt"
    tray = _QtTray(core, widgets, application, menu, title)
    if not tray.made.wait(_READY_SECONDS):
        return None, "Qt didn't answer"
    return (tray, "") if tray.available else (None, "this desktop shows no tray")


class _QtTray:
    def __init__(self, core: Any, widgets: Any, application: Any, menu: TrayMenu, title: str) -> None:
        self.made = threading.Event()
        self.available = False
        self._widgets = widgets
        self._title = title
        self._menu = menu

        class Calls(core.QObject):  # type: ignore[misc]
            """Runs functions in the thread of the toolkit."""

            call = core.Signal(object)

            @core.Slot(object)  # type: ignore[untyped-decorator]
            def run(self, function: Callable[[], None]) -> None:
                function()

        self._calls = Calls()
        self._calls.moveToThread(application.thread())
        self._calls.call.connect(self._calls.run, core.Qt.ConnectionType.QueuedConnection)
        self._calls.call.emit(self._make)

    def show(self, state: TrayState) -> None:
        def change() -> None:
            self._icon.setIcon(self._draw(state.kind))
            self._icon.setToolTip(f"{self._title}: {state.text}")
            self._state.setText(state.text)

        self._calls.call.emit(change)

    def _make(self) -> None:
        self.available = bool(self._widgets.QSystemTrayIcon.isSystemTrayAvailable())
        if self.available:
            self._build()
        self.made.set()

    def _build(self) -> None:
        self._icon = self._widgets.QSystemTrayIcon(self._draw("idle"))
        self._entries = self._widgets.QMenu()
        self._state = self._entries.addAction("")
        self._state.setEnabled(False)
        self._entries.addSeparator()
        for name, act in (("Open", self._menu.open), ("New task", self._menu.new_task), ("Quit", self._menu.quit)):
            self._entries.addAction(name).triggered.connect(lambda *_, act=act: _start(act))
        self._icon.setContextMenu(self._entries)
        self._icon.activated.connect(self._activated)
        self._icon.show()

    def _activated(self, reason: Any) -> None:
        if reason == self._widgets.QSystemTrayIcon.ActivationReason.Trigger:
            _start(self._menu.open)

    def _draw(self, kind: str) -> Any:
        gui = import_module("qtpy.QtGui")
        picture = gui.QPixmap(_SIZE, _SIZE)
        picture.fill(gui.QColor(0, 0, 0, 0))
        painter = gui.QPainter(picture)
        painter.setRenderHint(gui.QPainter.RenderHint.Antialiasing)
        painter.setBrush(gui.QColor(_COLORS[kind]))
        painter.setPen(gui.QColor("#ffffff"))
        painter.drawEllipse(4, 4, _SIZE - 8, _SIZE - 8)
        painter.end()
        return gui.QIcon(picture)


def _start(act: Callable[[], object]) -> None:
    """The window answers from the toolkit's thread, so that one must not wait for it."""
    threading.Thread(target=act, name="tray", daemon=True).start()


def follow_states(find: Callable[[], Client | None], stop: threading.Event) -> Iterator[TrayState]:
    """The state now and after each change of a task's status, across restarts of the sidecar."""
    while not stop.is_set():
        client = find()
        if client is not None:
            with suppress(ClientError):
                yield TrayState.of(client.get("/api/brain/status")["tasks"])
                for message in client.stream_all("now"):
                    if stop.is_set():
                        return
                    if json.loads(message.data).get("type") == "status":
                        yield TrayState.of(client.get("/api/brain/status")["tasks"])
        stop.wait(_RETRY_SECONDS)
