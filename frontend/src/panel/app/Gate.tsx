import { type ReactNode, useEffect, useState } from "react";
import type { CodeSession } from "../../client/index.ts";
import { BrainError, Unreachable } from "../../client/index.ts";
import styles from "../shared/gate.module.css";

interface Props {
  readonly session: CodeSession;
  readonly code: string | undefined;
  readonly children: ReactNode;
}

/** Trades the code for the token, or explains how to sign in. */
export function Gate({ session, code, children }: Props) {
  const [open, setOpen] = useState(code === undefined && session.token() !== undefined);
  const [failure, setFailure] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once for each attempt
  useEffect(() => {
    if (code === undefined) void session.restore();
    if (code === undefined || open) return;
    let mounted = true;
    session.trade(code).then(
      () => mounted && setOpen(true),
      (error: unknown) => {
        if (!mounted) return;
        // The code is used already, for example after going back in the browser; the session may still be valid.
        if (!(error instanceof Unreachable) && session.token() !== undefined) return setOpen(true);
        setFailure(error);
        if (error instanceof Unreachable) setTimeout(() => setAttempt((before) => before + 1), 1_000);
      },
    );
    return () => {
      mounted = false;
    };
  }, [attempt]);
  if (open) return children;
  if (code !== undefined && failure === undefined) return <main className={styles.gate} aria-busy="true" />;
  return <SignInHelp reason={failure} />;
}

export const SignInHelp = ({ reason }: { reason?: unknown }) => (
  <main className={styles.gate}>
    <h1>You are not signed in</h1>
    {reason instanceof BrainError && <p>{reason.message.replaceAll("`", "")}</p>}
    <p>
      Run <code>brain open</code> in a terminal. It opens the panel with a code that works once, for one minute.
    </p>
  </main>
);
