import { useEffect, useState } from "react";
import type { BrainService } from "../../../client/index.ts";
import type { Suggestion } from "./slash.ts";

const MENTION = /(^|\s)@([\w./-]*)$/;

/** Files whose name has what stands after the @ before the cursor. */
export function useMentions(service: BrainService, text: string, cursor: number): Suggestion[] {
  const typed = MENTION.exec(text.slice(0, cursor))?.[2];
  const [found, setFound] = useState<{ typed: string; paths: string[] }>();
  useEffect(() => {
    if (typed === undefined) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const pattern = typed === "" ? "*" : `**/*${typed.split("/").at(-1)}*`;
      const calls = [{ tool: "find_files", args: { pattern } }];
      service
        .batch({ calls }, stop.signal)
        .then((answer) => setFound({ typed, paths: pathsIn(answer.results[0]?.content ?? "", typed) }))
        .catch(() => {});
    }, 80);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [service, typed]);
  if (typed === undefined || found === undefined) return [];
  const start = cursor - typed.length;
  return found.paths
    .filter((path) => path.toLowerCase().includes(typed.toLowerCase()))
    .slice(0, 8)
    .map((path) => ({ id: path, label: path, hint: "", text: `${text.slice(0, start)}${path} ${text.slice(cursor)}` }));
}

const pathsIn = (content: string, typed: string): string[] =>
  content
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/[\s…(]/.test(line) && line.toLowerCase().includes(typed.toLowerCase()));

/** The paths that a text mentions, to be told to the agents as open files. */
export const mentioned = (text: string): string[] =>
  [...text.matchAll(/(?:^|\s)@([\w./-]+)/g)]
    .map((match) => match[1]!)
    .filter((path, place, all) => all.indexOf(path) === place);
