import { type RefObject, useEffect, useRef, useState } from "react";
import { Store, useStore } from "../../stores/store.ts";

/** The approvals whose whole action has been on the screen. */
const store = new Store<ReadonlySet<string>, string>(new Set(), (seen, id) =>
  seen.has(id) ? seen : new Set([...seen, id]),
);

export const useSeenApprovals = (): ReadonlySet<string> => useStore(store);

interface Ends {
  readonly start: RefObject<HTMLSpanElement | null>;
  readonly end: RefObject<HTMLSpanElement | null>;
  /** A part of the action is not on the screen. */
  readonly hidden: boolean;
}

/** A click or key within this time after the card appeared was meant for what was there before. */
const REACTION_MS = 400;

/** Marks an approval as seen once both ends of its action have been visible. A tall one has to be scrolled through. */
export function useWholeSeen(approvalId: string): Ends {
  const start = useRef<HTMLSpanElement>(null);
  const end = useRef<HTMLSpanElement>(null);
  const [hidden, setHidden] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const missing = new Set<Element>([start.current!, end.current!]);
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) missing.delete(target);
      setHidden(missing.size > 0);
      if (missing.size > 0) return;
      observer.disconnect();
      timer = setTimeout(() => store.dispatch(approvalId), REACTION_MS);
    });
    for (const element of missing) observer.observe(element);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [approvalId]);
  return { start, end, hidden };
}
