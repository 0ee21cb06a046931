import { useEffect, useState } from "react";
import { type Entry, type FoundSymbol, findFiles, findSymbols, listFolder, type Place } from "../../shared/search.ts";
import type { Suggestion } from "./slash.ts";

const MENTION = /(^|\s)@([\w./-]*)$/;
const PAUSE_MS = 80;

interface Found {
  readonly entries: readonly Entry[];
  readonly files: readonly string[];
  readonly symbols: readonly FoundSymbol[];
}

/** Suggests files and symbols for the @ before the cursor; after a slash, the entries of the folder. */
export function useMentions({ service, workspace }: Place, text: string, cursor: number): Suggestion[] {
  const typed = MENTION.exec(text.slice(0, cursor))?.[2];
  const [found, setFound] = useState<Found>({ entries: [], files: [], symbols: [] });
  useEffect(() => {
    if (typed === undefined) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const take = (more: Partial<Found>) => setFound((before) => ({ ...before, ...more }));
      const [folder, pattern] = searchFor(typed);
      const none = () => {};
      const place = { service, workspace };
      findFiles(place, pattern, stop.signal).then((files) => take({ files }), none);
      if (folder === "") take({ entries: [] });
      else listFolder(place, folder, stop.signal).then((entries) => take({ entries }), none);
      if (typed.length < 2) return take({ symbols: [] });
      findSymbols(place, typed, stop.signal).then((symbols) => take({ symbols }), none);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [service, workspace, typed]);
  return typed === undefined ? [] : offered(found, typed, text, cursor);
}

/** The folder to list, and the pattern of files to find. */
function searchFor(typed: string): readonly [string, string] {
  const end = typed.lastIndexOf("/") + 1;
  const [folder, name] = [typed.slice(0, end), typed.slice(end)];
  const like = name === "" ? "*" : `*${name}*`;
  if (folder === "") return ["", name === "" ? "*" : `**/${like}`];
  return [folder, `**/${folder.replace(/^[./]+/, "")}${like}`];
}

/** Byte code, object files and what tools keep for themselves. */
const HIDDEN =
  /(^|\/)(__pycache__|node_modules|\.git|\.venv|\.mypy_cache|\.ruff_cache|\.pytest_cache)(\/|$)|\.(py[cod]|class|o|so|dll|exe)$/;

export function offered(found: Found, typed: string, text: string, cursor: number): Suggestion[] {
  const has = (name: string) => name.toLowerCase().includes(typed.toLowerCase());
  const before = text.slice(0, cursor - typed.length);
  const put = (path: string) => `${before}${quote(path)} ${text.slice(cursor)}`;
  const inside = found.entries.filter(
    ({ path }) => !HIDDEN.test(path) && path.toLowerCase().startsWith(typed.toLowerCase()),
  );
  const whole = typed.endsWith("/") && inside.length > 0;
  const file = (path: string): Suggestion => ({ id: path, label: path, hint: "", text: put(path) });
  return [
    ...(whole ? [{ ...file(typed), hint: "the whole folder" }] : []),
    ...inside.slice(0, 8).map(({ path, folder }) => {
      if (!folder || quote(path) !== path) return file(path);
      // The folder's entries are suggested next, so the cursor stays after the slash.
      const caret = before.length + path.length + 1;
      return { id: path, label: `${path}/`, hint: "", text: `${before}${path}/${text.slice(cursor)}`, caret };
    }),
    ...found.files
      .filter((path) => has(path) && !HIDDEN.test(path) && !inside.some((entry) => entry.path === path))
      .slice(0, 6)
      .map(file),
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

/** Quotes a path with spaces or other special characters. */
const quote = (path: string): string => (/^[\w./:-]+$/.test(path) ? path : `"${path}"`);

/** The paths that a text mentions; they go with the task as open files. */
export const mentioned = (text: string): string[] => {
  const found = text.matchAll(/(?:^|\s)@(?:"([^"\n]+)"|([\w./-]+?)(?::\d+)?(?=\s|$))/g);
  return [...new Set([...found].map((match) => match[1] ?? match[2]!))];
};
