"""`brain pr review`: review a pull request on GitHub."""

import argparse
import asyncio
import json
import os
from pathlib import Path

from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir
from sidecar.commands.text import safe, safe_line, style_for
from sidecar.config.keys import Keys
from sidecar.config.paths import config_file


def review(args: argparse.Namespace) -> int:
    from sidecar.doors.pr_review import find_repository, review_pull
    from sidecar.doors.settings import DoorsError, load_doors

    place, configuration = data_dir(args), config_file().parent
    try:
        workspace = str(Path(args.workspace or Path.cwd()).resolve())
        repository = args.repository or find_repository(load_doors(configuration), workspace)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        environ = Keys(os.environ, place).environment()
        work = review_pull(place, configuration, environ, repository, args.number, post=not args.no_post)
        done = asyncio.run(work)
    except DoorsError as error:
        raise CommandFailed(str(error), EXIT_USAGE) from error
    if args.json:
        print(json.dumps({"taskId": done.task_id, **done._asdict()}, ensure_ascii=False))
        return 0
    style = style_for()
    print(safe(done.body))
    for comment in done.comments:
        print(f"{style.bold(safe_line(comment['path']))}  {safe_line(comment['body'])}")
    print(style.dim(f"Posted: {safe_line(done.url)}" if done.url else "Not posted."))
    return 0
