import { useEffect, useState } from "react";

/** Loads a part of the panel when it is first needed; after a failure, again the next time. */
export function useLazy<T>(
  wanted: boolean,
  load: () => Promise<{ default: T }>,
  onFailure: (error: unknown) => void,
): T | undefined {
  const [loaded, setLoaded] = useState<{ readonly part: T }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the loader never changes
  useEffect(() => {
    if (!wanted || loaded) return;
    load().then((module) => setLoaded({ part: module.default }), onFailure);
  }, [wanted, loaded]);
  return loaded?.part;
}
