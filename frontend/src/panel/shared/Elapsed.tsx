import { useEffect, useState } from "react";
import { clock } from "./format.ts";
import styles from "./ui.module.css";

/** A clock that ticks once a second while `since` is set. */
export function Elapsed({ since, before = 0 }: { since: string | undefined; before?: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (since === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [since]);
  const running = since === undefined ? 0 : Math.max(0, now - Date.parse(since));
  return <span className={styles.clock}>{clock(before + running)}</span>;
}
