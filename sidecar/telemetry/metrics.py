"""Metrics in the text format of Prometheus."""

from collections.abc import Mapping

HELP = {
    "brain_tasks": "Tasks by status.",
    "brain_streams_open": "Event streams open now.",
    "brain_journal_bytes": "Size of the journal.",
    "brain_journal_stalled": "1 while the journal cannot be written.",
    "brain_uptime_seconds": "Seconds since the start.",
}


def render(gauges: Mapping[str, Mapping[str, float]]) -> str:
    lines = []
    for name, values in gauges.items():
        lines += [f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge"]
        lines += [
            f"{name}{{{labels}}} {value:g}" if labels else f"{name} {value:g}" for labels, value in values.items()
        ]
    return "\n".join(lines) + "\n"
