"""`brain trace`: a task as OpenTelemetry spans, written to a file or sent to a collector."""

import argparse
import json
import os
import sys
from pathlib import Path

from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_FAILED, EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir, task_id
from sidecar.commands.tasks import read_events
from sidecar.config.paths import write_private


def trace(args: argparse.Namespace) -> int:
    from sidecar.telemetry.traces import task_trace

    with reading(data_dir(args)) as client:
        task = client.get(f"/api/brain/tasks/{task_id(client, args.id, anywhere=True)}")
        document = task_trace(task, read_events(client, task["id"]), content=args.content)
    if args.send is not None:
        return _send(document, args.send)
    text = json.dumps(document, ensure_ascii=False) + "\n"
    if args.output is None:
        sys.stdout.write(text)
        return 0
    try:
        write_private(Path(args.output).absolute(), text)
    except OSError as error:
        raise CommandFailed(f"Can't write {args.output}: {error.strerror}.", EXIT_FAILED) from error
    print(f"Wrote {args.output}.", file=sys.stderr)
    return 0


def _send(document: dict[str, object], address: str) -> int:
    from sidecar.telemetry.otlp import ENDPOINT_VARIABLE, NotExported, export

    address = address or os.environ.get(ENDPOINT_VARIABLE, "")
    if not address:
        raise CommandFailed(f"Say where to: brain trace --send URL, or set {ENDPOINT_VARIABLE}.", EXIT_USAGE)
    try:
        export(document, address)
    except NotExported as error:
        raise CommandFailed(f"The trace was not sent: {error}", EXIT_FAILED) from error
    print("Sent the trace.", file=sys.stderr)
    return 0
