import { type ReactNode, useEffect, useState } from "react";
import type { CodeSession } from "../../client/index.ts";
import { BrainError, Unreachable } from "../../client/index.ts";

interface Props {
  readonly session: CodeSession;
  readonly code: string | undefined;
  readonly children: ReactNode;
}

/** Trades the code for the token, or says how to come in. */
export function Gate({ session, code, children }: Props) {
  const [open, setOpen] = useState(code === undefined && session.token() !== undefined);
  const [failure, setFailure] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a try of its own for each attempt
  useEffect(() => {
    if (code === undefined || open) return;
    let wanted = true;
    session.trade(code).then(
      () => wanted && setOpen(true),
      (error: unknown) => {
        if (!wanted) return;
        // A code that was used already, as after going back in the browser; the session may still be good.
        if (!(error instanceof Unreachable) && session.token() !== undefined) return setOpen(true);
        setFailure(error);
        if (error instanceof Unreachable) setTimeout(() => setAttempt((before) => before + 1), 1_000);
      },
    );
    return () => {
      wanted = false;
    };
  }, [attempt]);
  if (open) return children;
  if (code !== undefined && failure === undefined) return <main className="gate" aria-busy="true" />;
  return <NoWayIn reason={failure} />;
}

export const NoWayIn = ({ reason }: { reason?: unknown }) => (
  <main className="gate">
    <h1>This page needs a way in</h1>
    {reason instanceof BrainError && <p>{reason.message}</p>}
    <p>
      Run <code>brain open</code> in a terminal: it opens the panel with a code that is good once, for a minute.
    </p>
  </main>
);
