"""The sidecar with its settling switched off: what a crash left open is simply done again.

Run in place of `sidecar`. The test that kills sidecars must fail against it, else that test proves nothing.
"""

import sys

from sidecar.cli import main
from tools.backend import Backend
from tools.executor.context import CallContext
from tools.executor.runner import CallRunner
from tools.ledger import IntentRecord, Outcome
from tools.policy.policy import Decision


async def do_it_again(
    self: CallRunner, context: CallContext, backend: Backend, record: IntentRecord, *more: object
) -> Outcome:
    return await self._perform(context, backend, Decision("allow", ""))


if __name__ == "__main__":
    CallRunner._recover = do_it_again  # type: ignore[method-assign]
    sys.exit(main())
