import { useEffect, useState } from "react";
import type { McpReferenceList } from "../../../wire/types.ts";
import type { Place } from "../../shared/search.ts";
import type { Suggestion } from "./slash.ts";

const MENTION = /(^|\s)@([\w./:-]*)$/;
const COMMAND = /^\/([\w.:-]*)$/;
const NONE: McpReferenceList = { resources: [], prompts: [] };
const FRESH_MS = 30_000;
const MOST = 6;

let known = { at: 0, workspace: "", list: NONE };

/** Suggests resources of MCP servers for the @ before the cursor, and their prompts for a / at the start. */
export function useReferences({ service, workspace }: Place, text: string, cursor: number): Suggestion[] {
  const wanted = MENTION.test(text.slice(0, cursor)) || COMMAND.test(text);
  const [list, setList] = useState(NONE);
  useEffect(() => {
    if (!wanted) return;
    const place = workspace ?? "";
    if (known.workspace === place && Date.now() - known.at < FRESH_MS) return setList(known.list);
    const stop = new AbortController();
    service.mcpReferences(workspace, stop.signal).then(
      (found) => {
        known = { at: Date.now(), workspace: place, list: found };
        setList(found);
      },
      () => {},
    );
    return () => stop.abort();
  }, [service, workspace, wanted]);
  return wanted ? offeredReferences(list, text, cursor) : [];
}

export function offeredReferences(list: McpReferenceList, text: string, cursor: number): Suggestion[] {
  const has = (name: string, typed: string) => name.toLowerCase().includes(typed.toLowerCase());
  const command = COMMAND.exec(text)?.[1];
  if (command !== undefined)
    return list.prompts
      .filter((one) => has(one.command.slice(1), command))
      .slice(0, MOST)
      .map((one) => ({
        id: `prompt.${one.command}`,
        label: one.command,
        hint: one.description,
        text: `${one.command} `,
      }));
  const typed = MENTION.exec(text.slice(0, cursor))?.[2];
  if (typed === undefined) return [];
  const before = text.slice(0, cursor - typed.length - 1);
  return list.resources
    .filter((one) => has(one.mention.slice(1), typed) || has(`${one.server}:${one.name}`, typed))
    .slice(0, MOST)
    .map((one) => {
      // A template is completed by hand, from its first brace on.
      const fixed = one.template ? one.mention.slice(0, one.mention.indexOf("{")) : `${quote(one.mention)} `;
      const put = before + fixed + text.slice(cursor);
      const more = one.template ? { caret: before.length + fixed.length } : {};
      return {
        id: `resource.${one.mention}`,
        label: one.mention,
        hint: one.description || one.name,
        text: put,
        ...more,
      };
    });
}

const quote = (mention: string): string => (/^@[\w./:#%=&~+-]+$/.test(mention) ? mention : `@"${mention.slice(1)}"`);
