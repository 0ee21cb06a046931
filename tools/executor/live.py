"""Live output of a call, batched so that a chatty command can't flood its readers."""

import asyncio

from sidecar.telemetry.redaction import Redactor
from sidecar.wire.events import ToolOutputEvent
from tools.ledger import Ledger

_INTERVAL = 1 / 30
_SIZE = 8 * 1024


class LiveOutput:
    def __init__(self, ledger: Ledger, call_id: str, redact: Redactor | None = None) -> None:
        self._ledger = ledger
        self._call_id = call_id
        self._redact = redact or Redactor()
        self._texts: dict[str, list[str]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, stream: str, text: str) -> None:
        parts = self._texts.setdefault(stream, [])
        parts.append(text[-_SIZE:])
        if len(parts) > 64:
            parts[:] = ["".join(parts)[-_SIZE:]]
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._tick)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flush(last=True)

    def _tick(self) -> None:
        self._timer = None
        if self._texts:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._tick)

    def _flush(self, *, last: bool = False) -> None:
        texts, self._texts = self._texts, {}
        for stream, parts in texts.items():
            text = "".join(parts)[-_SIZE:]
            end = len(text) if last else self._redact.open_end(text)
            if end < len(text):
                self._texts[stream] = [text[end:]]  # it may be the start of a secret, so wait for the rest
            if end:
                shown = self._redact(text[:end])
                self._ledger.live(
                    ToolOutputEvent(
                        call_id=self._call_id, stream="stderr" if stream == "stderr" else "stdout", text=shown
                    )
                )
