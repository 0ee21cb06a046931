"""The sidecar with its settling switched off: what a crash left open is simply done again.

Run in place of `sidecar`. The test that kills sidecars must fail against it, else that test proves nothing.
"""

import sys

from sidecar.cli import main
from tools.course import Course, Passage
from tools.ledger import Intent, Outcome
from tools.site import Site


async def do_it_again(self: Course, passage: Passage, site: Site, intent: Intent) -> Outcome:
    return await self._performed(passage, site)


if __name__ == "__main__":
    Course._settled = do_it_again  # type: ignore[method-assign]
    sys.exit(main())
