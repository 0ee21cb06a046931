import { useEffect, useState } from "react";
import type { BrainService } from "../../../client/index.ts";
import { type FoundSymbol, findFiles, findSymbols } from "../../shared/found.ts";
import type { Suggestion } from "./slash.ts";

const MENTION = /(^|\s)@([\w./-]*)$/;
const PAUSE_MS = 80;

interface Found {
  readonly files: readonly string[];
  readonly symbols: readonly FoundSymbol[];
}

/** Files and symbols whose name has what stands after the @ before the cursor. */
export function useMentions(service: BrainService, text: string, cursor: number): Suggestion[] {
  const typed = MENTION.exec(text.slice(0, cursor))?.[2];
  const [found, setFound] = useState<Found>({ files: [], symbols: [] });
  useEffect(() => {
    if (typed === undefined) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const pattern = typed === "" ? "*" : `**/*${typed.split("/").at(-1)}*`;
      const take = (more: Partial<Found>) => setFound((before) => ({ ...before, ...more }));
      findFiles(service, pattern, stop.signal).then(
        (files) => take({ files }),
        () => {},
      );
      if (typed.length < 2) return take({ symbols: [] });
      findSymbols(service, typed, stop.signal).then(
        (symbols) => take({ symbols }),
        () => {},
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [service, typed]);
  if (typed === undefined) return [];
  const has = (name: string) => name.toLowerCase().includes(typed.toLowerCase());
  const put = (path: string) => `${text.slice(0, cursor - typed.length)}${path} ${text.slice(cursor)}`;
  return [
    ...found.files
      .filter(has)
      .slice(0, 6)
      .map((path) => ({ id: path, label: path, hint: "", text: put(path) })),
    ...found.symbols
      .filter(({ name }) => has(name))
      .slice(0, 4)
      .map(({ path, name, kind, line }) => ({
        id: `${path}:${line}`,
        label: name,
        hint: `${kind} in ${path}:${line}`,
        text: put(`${path}:${line}`),
      })),
  ];
}

/** The paths that a text mentions, to be told to the agents as open files. */
export const mentioned = (text: string): string[] => {
  const paths = [...text.matchAll(/(?:^|\s)@([\w./-]+?)(?::\d+)?(?=\s|$)/g)].map((match) => match[1]!);
  return [...new Set(paths)];
};
