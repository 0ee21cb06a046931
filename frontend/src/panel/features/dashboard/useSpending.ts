import { useEffect, useState } from "react";
import { useBrain } from "../../shared/brain.tsx";
import { showError } from "../../stores/toasts.ts";
import { NO_SPENDING, reduceSpending, type Spending } from "./spending.ts";

/** Follows the events of all tasks from the first one while the dashboard is open. */
export function useSpending(): Spending {
  const service = useBrain();
  const [spending, setSpending] = useState(NO_SPENDING);
  useEffect(() => {
    const stop = new AbortController();
    const follow = async () => {
      let sum = NO_SPENDING;
      for await (const { events } of service.allEvents({ after: 0, signal: stop.signal })) {
        sum = events.reduce(reduceSpending, sum);
        setSpending(sum);
      }
    };
    follow().catch((error: unknown) => stop.signal.aborted || showError(error));
    return () => stop.abort();
  }, [service]);
  return spending;
}
