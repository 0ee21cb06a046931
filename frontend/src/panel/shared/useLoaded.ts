import { useEffect, useState } from "react";

/** A part of the panel that is fetched when it is first wanted; if that fails, it is fetched again the next time. */
export function useLoaded<T>(
  wanted: boolean,
  load: () => Promise<{ default: T }>,
  onFailure: (error: unknown) => void,
): T | undefined {
  const [loaded, setLoaded] = useState<{ readonly part: T }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what loads it does not change
  useEffect(() => {
    if (!wanted || loaded) return;
    load().then((module) => setLoaded({ part: module.default }), onFailure);
  }, [wanted, loaded]);
  return loaded?.part;
}
